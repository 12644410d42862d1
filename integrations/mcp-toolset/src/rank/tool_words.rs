//! The words of a tool, and how much each of them counts.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::sync::{Arc, LazyLock, Weak};

use foldhash::fast::RandomState;
use mcp_types::{JsonObject, Tool};
use serde_json::Value;

use super::words::{Word, cut, read, stems};

/// A part of a tool's definition: how much its words count, and how many of them do.
type Field = (f32, usize);

const NAME: Field = (2.75, 16);
const SERVER: Field = (0.8, 8);
const TITLE: Field = (1.5, 16);
const FIRST_SENTENCE: Field = (1.0, 40);
const FURTHER_SENTENCES: Field = (0.45, 120);
const ARGUMENTS: Field = (0.5, 100);
const ARGUMENT_TEXTS: Field = (0.08, 200);

/// Times that a word counts in a field.
const MAX_REPETITIONS: usize = 2;
/// Words that count in the description of one argument.
const MAX_ARGUMENT_WORDS: usize = 20;
/// Arguments that are read.
const MAX_ARGUMENTS: usize = 100;
/// Characters of a text that are read.
const MAX_TEXT_CHARS: usize = 8_000;

static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// The facts by which a tool in a list is known, without a look into its schema. The schema's memory is free when the tool is gone, but
/// no other schema gets its address.
pub(super) struct Key {
    texts: u64,
    schema: Weak<JsonObject>,
}

impl Key {
    pub(super) fn of(tool: &Tool) -> Self {
        let texts = (&tool.name, title(tool), &tool.description);
        Self {
            texts: HASHER.hash_one(texts),
            schema: Arc::downgrade(&tool.input_schema),
        }
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts && self.schema.ptr_eq(&other.schema)
    }
}

/// Returns the digest of the texts whose words are read.
pub(super) fn digest(tool: &Tool) -> u64 {
    let mut hasher = HASHER.build_hasher();
    (&tool.name, title(tool), &tool.description).hash(&mut hasher);
    arguments(tool).for_each(|argument| argument.hash(&mut hasher));
    hasher.finish()
}

/// The words of a tool, in the same order in each process.
#[derive(Default)]
pub(super) struct ToolWords {
    pub(super) name: String,
    pub(super) digest: u64,
    /// The stems of its own name that count.
    pub(super) own_name: Vec<Arc<str>>,
    /// Weights by stem.
    pub(super) weights: Vec<(Arc<str>, f32)>,
    /// The sum of the weights.
    pub(super) length: f32,
    /// Forms of words, with their stem and the weight of the field.
    pub(super) forms: Vec<(Arc<str>, Arc<str>, f32)>,
}

impl ToolWords {
    /// Reads a tool with this [`digest`].
    pub(super) fn of(tool: &Tool, digest: u64) -> Self {
        let words = Words::of(tool);
        let forms = words.forms.into_iter();
        Self {
            name: tool.name.clone(),
            digest,
            own_name: name_stems(tool).into_iter().map(Into::into).collect(),
            length: words.weights.values().sum(),
            weights: words.weights.into_iter().collect(),
            forms: forms
                .map(|(form, (stem, weight))| (form.into(), stem, weight))
                .collect(),
        }
    }

    /// Returns the bytes of memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        200 + self.name.len() + 60 * self.weights.len() + 80 * self.forms.len()
    }
}

/// The words of a tool while they are read.
#[derive(Default)]
struct Words {
    weights: BTreeMap<Arc<str>, f32>,
    /// Stems by form, with the weight of the field.
    forms: BTreeMap<String, (Arc<str>, f32)>,
}

impl Words {
    fn of(tool: &Tool) -> Self {
        let mut words = Self::default();
        let (server, own) = split_name(tool);
        let servers = stems(start(server));
        let (of_server, of_tool): (Vec<_>, Vec<_>) = read(start(own))
            .take(NAME.1)
            // `github__github_search`: the second word does not say more than the first.
            .partition(|word| servers.contains(&word.stem));
        words.add(NAME, of_tool.into_iter());
        words.add(SERVER, read(start(server)).chain(of_server));
        words.add(TITLE, read(start(title(tool).unwrap_or_default())));
        let description = start(tool.description.as_deref().unwrap_or_default().trim());
        let end = [". ", ".\n", "\n\n"]
            .iter()
            .filter_map(|end| description.find(end))
            .min();
        let (first, rest) = description.split_at(end.unwrap_or(description.len()));
        words.add(FIRST_SENTENCE, read(first));
        words.add(FURTHER_SENTENCES, read(rest));
        let names = arguments(tool).flat_map(|(name, _)| read(start(name)));
        words.add(ARGUMENTS, names);
        let texts = arguments(tool)
            .flat_map(|(_, text)| read(start(text.unwrap_or_default())).take(MAX_ARGUMENT_WORDS));
        words.add(ARGUMENT_TEXTS, texts);
        words
    }

    fn add(&mut self, (weight, max_words): Field, words: impl Iterator<Item = Word>) {
        let mut counts: BTreeMap<Arc<str>, usize> = BTreeMap::new();
        for Word { form, stem } in words.take(max_words) {
            let known = self.weights.get_key_value(&*stem);
            let stem = known.map_or_else(|| stem.into(), |(stem, _)| stem.clone());
            let count = counts.entry(stem.clone()).or_default();
            *count += 1;
            if *count <= MAX_REPETITIONS {
                *self.weights.entry(stem.clone()).or_default() += weight;
            }
            let known = self.forms.entry(form).or_insert((stem, weight));
            known.1 = known.1.max(weight);
        }
    }
}

fn title(tool: &Tool) -> Option<&str> {
    let annotated = || tool.annotations.as_ref()?.title.as_deref();
    tool.title.as_deref().or_else(annotated)
}

/// Returns the arguments of a tool that are read, with their descriptions.
fn arguments(tool: &Tool) -> impl Iterator<Item = (&str, Option<&str>)> {
    let arguments = tool.input_schema.get("properties");
    let arguments = arguments.and_then(|arguments| arguments.as_object());
    let arguments = arguments.into_iter().flatten().take(MAX_ARGUMENTS);
    arguments.map(|(name, schema)| {
        let text = schema.get("description").and_then(Value::as_str);
        (&**name, text)
    })
}

/// Returns the server in a tool name, and the rest of it.
fn split_name(tool: &Tool) -> (&str, &str) {
    tool.name.split_once("__").unwrap_or(("", &tool.name))
}

/// Returns the stems of a tool's own name that count.
fn name_stems(tool: &Tool) -> Vec<String> {
    let (_, own) = split_name(tool);
    let words = read(start(own)).take(NAME.1);
    words.map(|word| word.stem).collect()
}

fn start(text: &str) -> &str {
    cut(text, MAX_TEXT_CHARS)
}
