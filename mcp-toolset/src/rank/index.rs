//! The words in a list of tools.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;
use mcp_types::Tool;

use super::similar::Forms;
use super::tool_words::{ToolWords, name_stems};

/// The weight at which a word has half of its effect.
const SATURATION: f32 = 0.9;
/// The effect of the tool length: 0 has none, 1 divides by the length.
const LENGTH_EFFECT: f32 = 0.4;

/// The words in a list of tools.
pub(super) struct Index {
    pub(super) tools: Vec<Tool>,
    pub(super) words: HashMap<String, usize, RandomState>,
    pub(super) entries: Vec<Entry>,
    pub(super) forms: Forms,
    /// Numbers of words in the tool names.
    pub(super) name_lengths: Vec<usize>,
    pub(super) max_rarity: f32,
}

/// A word of the index.
pub(super) struct Entry {
    pub(super) word: String,
    pub(super) rarity: f32,
    /// The tools that have the word, with its effect in them.
    pub(super) tools: Vec<(u32, f32)>,
    /// The tools that have the word in their name, once for each time.
    pub(super) named: Vec<u32>,
}

/// An [`Index`] while its tools are added.
#[derive(Default)]
pub(super) struct IndexBuilder {
    words: HashMap<String, usize, RandomState>,
    entries: Vec<Entry>,
    forms: BTreeMap<String, (usize, f32)>,
    lengths: Vec<f32>,
    name_lengths: Vec<usize>,
}

impl IndexBuilder {
    /// Adds the next tool. The work is bounded: a tool has at most 500 words.
    pub(super) fn add(&mut self, tool: &Tool) {
        let number = self.lengths.len() as u32;
        let name = name_stems(tool);
        let tool = ToolWords::of(tool);
        self.lengths.push(tool.weights.values().sum::<f32>());
        for (word, weight) in tool.weights {
            let entries = &mut self.entries;
            let entry = *self.words.entry(word).or_insert_with_key(|word| {
                entries.push(Entry {
                    word: word.clone(),
                    rarity: 0.0,
                    tools: Vec::new(),
                    named: Vec::new(),
                });
                entries.len() - 1
            });
            self.entries[entry].tools.push((number, weight));
        }
        self.name_lengths.push(name.len());
        for word in name.iter().filter_map(|word| self.words.get(word)) {
            self.entries[*word].named.push(number);
        }
        for (form, (stem, weight)) in tool.forms {
            let Some(&entry) = self.words.get(&stem) else {
                continue;
            };
            let known = self.forms.entry(form).or_insert((entry, weight));
            known.1 = known.1.max(weight);
        }
    }

    /// Returns the index of the tools that were added, all of `tools`.
    pub(super) fn finish(mut self, tools: Vec<Tool>) -> Index {
        let count = self.lengths.len() as f32;
        let mean = self.lengths.iter().sum::<f32>() / count.max(1.0);
        for entry in &mut self.entries {
            entry.rarity = rarity(count, entry.tools.len() as f32);
            for (tool, weight) in &mut entry.tools {
                let length = self.lengths[*tool as usize] / mean;
                let length = 1.0 - LENGTH_EFFECT + LENGTH_EFFECT * length;
                let relative = *weight / length;
                *weight = relative / (SATURATION + relative);
            }
        }
        Index {
            name_lengths: self.name_lengths,
            tools,
            words: self.words,
            entries: self.entries,
            forms: Forms::new(self.forms),
            max_rarity: rarity(count, 1.0),
        }
    }
}

/// Returns how much a word says that so many of the tools have.
fn rarity(tools: f32, with_word: f32) -> f32 {
    ((tools - with_word + 0.5) / (with_word + 0.5)).ln_1p()
}
