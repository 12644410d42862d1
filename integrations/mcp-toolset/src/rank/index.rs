//! The words in a list of tools.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mcp_types::Tool;

use super::similar::Forms;
use super::tool_words::{Key, ToolWords, digest};

/// The weight at which a word has half of its effect.
const SATURATION: f32 = 0.9;
/// The effect of the tool length: 0 has none, 1 divides by the length.
const LENGTH_EFFECT: f32 = 0.4;

/// The words in a list of tools.
pub(super) struct Index {
    pub(super) tools: Vec<Arc<ToolWords>>,
    /// The keys of the tools, by which a list is known.
    pub(super) keys: Vec<Key>,
    pub(super) words: HashMap<Arc<str>, usize, RandomState>,
    pub(super) entries: Vec<Entry>,
    pub(super) forms: Forms,
    pub(super) max_rarity: f32,
}

/// A word of the index.
pub(super) struct Entry {
    pub(super) word: Arc<str>,
    pub(super) rarity: f32,
    /// The tools that have the word, with its effect in them.
    pub(super) tools: Vec<(u32, f32)>,
    /// The tools that have the word in their name, once for each time.
    pub(super) named: Vec<u32>,
}

/// An [`Index`] while its tools are added.
#[derive(Default)]
pub(super) struct IndexBuilder {
    /// Words that other lists have, by digest.
    known: HashMap<u64, Arc<ToolWords>, RandomState>,
    /// Number of tools whose words were read: they are not known.
    pub(super) read: usize,
    tools: Vec<Arc<ToolWords>>,
    words: HashMap<Arc<str>, usize, RandomState>,
    entries: Vec<Entry>,
    forms: HashMap<Arc<str>, (usize, f32), RandomState>,
}

impl IndexBuilder {
    /// A builder that takes the words of unchanged tools from other lists.
    pub(super) fn new<'a>(others: impl IntoIterator<Item = &'a Arc<Index>>) -> Self {
        let tools = others.into_iter().flat_map(|index| &index.tools);
        Self {
            known: tools.map(|tool| (tool.digest, tool.clone())).collect(),
            ..Self::default()
        }
    }

    /// Adds the next tool. The work is bounded: a tool has at most 500 words.
    pub(super) fn add(&mut self, tool: &Tool) {
        let number = self.tools.len() as u32;
        let digest = digest(tool);
        let words = self.known.get(&digest).cloned();
        let tool = words.unwrap_or_else(|| {
            self.read += 1;
            Arc::new(ToolWords::of(tool, digest))
        });
        for (word, weight) in &tool.weights {
            let entry = self.words.get(word).copied().unwrap_or_else(|| {
                self.words.insert(word.clone(), self.entries.len());
                self.entries.push(Entry {
                    word: word.clone(),
                    rarity: 0.0,
                    tools: Vec::new(),
                    named: Vec::new(),
                });
                self.entries.len() - 1
            });
            self.entries[entry].tools.push((number, *weight));
        }
        for word in tool.own_name.iter().filter_map(|word| self.words.get(word)) {
            self.entries[*word].named.push(number);
        }
        for (form, stem, weight) in &tool.forms {
            let Some(&entry) = self.words.get(stem) else {
                continue;
            };
            match self.forms.get_mut(form) {
                Some(known) => known.1 = known.1.max(*weight),
                None => {
                    self.forms.insert(form.clone(), (entry, *weight));
                }
            }
        }
        self.tools.push(tool);
    }

    /// Returns the index of the tools that were added, which have these keys.
    pub(super) fn finish(mut self, keys: Vec<Key>) -> Index {
        let count = self.tools.len() as f32;
        let lengths = self.tools.iter().map(|tool| tool.length);
        let mean = lengths.sum::<f32>() / count.max(1.0);
        for entry in &mut self.entries {
            entry.rarity = rarity(count, entry.tools.len() as f32);
            for (tool, weight) in &mut entry.tools {
                let length = self.tools[*tool as usize].length / mean;
                let length = 1.0 - LENGTH_EFFECT + LENGTH_EFFECT * length;
                let relative = *weight / length;
                *weight = relative / (SATURATION + relative);
            }
        }
        Index {
            tools: self.tools,
            keys,
            words: self.words,
            entries: self.entries,
            forms: Forms::new(self.forms),
            max_rarity: rarity(count, 1.0),
        }
    }
}

impl Index {
    /// Returns the bytes of memory that the index takes besides the words of its tools, about.
    pub(super) fn bytes(&self) -> usize {
        let tools: usize = self.entries.iter().map(|entry| entry.tools.len()).sum();
        300 * self.entries.len() + 8 * tools
    }
}

/// Returns how much a word says that so many of the tools have.
fn rarity(tools: f32, with_word: f32) -> f32 {
    ((tools - with_word + 0.5) / (with_word + 0.5)).ln_1p()
}
