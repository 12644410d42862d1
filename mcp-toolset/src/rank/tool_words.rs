//! The words of a tool, and how much each of them counts.

use std::collections::BTreeMap;

use mcp_types::Tool;
use serde_json::Value;

use super::words::{Word, cut, read, stems};

/// A part of a tool's definition: how much its words count, and how many of them do.
struct Field {
    weight: f32,
    max_words: usize,
}

const NAME: Field = Field {
    weight: 2.75,
    max_words: 16,
};
const SERVER: Field = Field {
    weight: 0.8,
    max_words: 8,
};
const TITLE: Field = Field {
    weight: 1.5,
    max_words: 16,
};
const FIRST_SENTENCE: Field = Field {
    weight: 1.0,
    max_words: 40,
};
const FURTHER_SENTENCES: Field = Field {
    weight: 0.45,
    max_words: 120,
};
const ARGUMENTS: Field = Field {
    weight: 0.5,
    max_words: 100,
};
const ARGUMENT_TEXTS: Field = Field {
    weight: 0.08,
    max_words: 200,
};

/// Times that a word counts in a field.
const MAX_REPETITIONS: usize = 2;
/// Words that count in the description of one argument.
const MAX_ARGUMENT_WORDS: usize = 20;
/// Arguments that are read.
const MAX_ARGUMENTS: usize = 100;
/// Characters of a text that are read.
const MAX_TEXT_CHARS: usize = 8_000;

/// The words of a tool, in the same order in each process.
#[derive(Default)]
pub(super) struct ToolWords {
    /// Weights by stem.
    pub(super) weights: BTreeMap<String, f32>,
    /// Stems by form, with the weight of the field.
    pub(super) forms: BTreeMap<String, (String, f32)>,
}

impl ToolWords {
    pub(super) fn of(tool: &Tool) -> Self {
        let mut words = Self::default();
        let (server, own) = split_name(tool);
        let servers = stems(start(server));
        let (of_server, of_tool): (Vec<_>, Vec<_>) = read(start(own))
            .take(NAME.max_words)
            // `github__github_search`: the second word does not say more than the first.
            .partition(|word| servers.contains(&word.stem));
        words.add(&NAME, of_tool.into_iter());
        words.add(&SERVER, read(start(server)).chain(of_server));
        let annotated = || tool.annotations.as_ref()?.title.as_deref();
        let title = tool.title.as_deref().or_else(annotated);
        words.add(&TITLE, read(start(title.unwrap_or_default())));
        let description = start(tool.description.as_deref().unwrap_or_default().trim());
        let end = [". ", ".\n", "\n\n"]
            .iter()
            .filter_map(|end| description.find(end))
            .min();
        let (first, rest) = description.split_at(end.unwrap_or(description.len()));
        words.add(&FIRST_SENTENCE, read(first));
        words.add(&FURTHER_SENTENCES, read(rest));
        let arguments = tool.input_schema.get("properties");
        let arguments = arguments.and_then(|arguments| arguments.as_object());
        let arguments = arguments.into_iter().flatten().take(MAX_ARGUMENTS);
        let names = arguments.clone().flat_map(|(name, _)| read(start(name)));
        words.add(&ARGUMENTS, names);
        let texts = arguments.flat_map(|(_, schema)| {
            let text = schema.get("description").and_then(Value::as_str);
            read(start(text.unwrap_or_default())).take(MAX_ARGUMENT_WORDS)
        });
        words.add(&ARGUMENT_TEXTS, texts);
        words
    }

    fn add(&mut self, field: &Field, words: impl Iterator<Item = Word>) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for Word { form, stem } in words.take(field.max_words) {
            let count = counts.entry(stem.clone()).or_default();
            *count += 1;
            if *count <= MAX_REPETITIONS {
                *self.weights.entry(stem.clone()).or_default() += field.weight;
            }
            let known = self.forms.entry(form).or_insert((stem, field.weight));
            known.1 = known.1.max(field.weight);
        }
    }
}

/// Returns the server in a tool name, and the rest of it.
pub(super) fn split_name(tool: &Tool) -> (&str, &str) {
    tool.name.split_once("__").unwrap_or(("", &tool.name))
}

/// Returns the stems of a tool's own name that count.
pub(super) fn name_stems(tool: &Tool) -> Vec<String> {
    let (_, own) = split_name(tool);
    let words = read(start(own)).take(NAME.max_words);
    words.map(|word| word.stem).collect()
}

fn start(text: &str) -> &str {
    cut(text, MAX_TEXT_CHARS)
}
