//! The words in a list of tools, and the scores of a query.
//!
//! The score of a tool is the share of query words that it has, weighted by their rarity and by the fields where
//! they stand (BM25F). A score of 1 stands for a tool with all words in its name.

use std::collections::{BTreeMap, HashMap};
use std::iter;

use foldhash::fast::RandomState;
use mcp_types::Tool;
use serde_json::Value;

use super::synonyms::synonyms;
use super::words::{Word, read, stems};

// Weights of a word by its field.
const NAME: f32 = 2.75;
const TITLE: f32 = 1.5;
const FIRST_SENTENCE: f32 = 1.0;
const SERVER: f32 = 0.8;
const ARGUMENT: f32 = 0.5;
const FURTHER_SENTENCES: f32 = 0.45;
const ARGUMENT_TEXT: f32 = 0.08;

/// The weight at which a word has half of its effect.
const SATURATION: f32 = 0.9;
/// The effect of the tool length: 0 has none, 1 divides by the length.
const LENGTH_EFFECT: f32 = 0.4;
/// Maximum number of words that count after the first sentence of a description.
const MAX_FURTHER_WORDS: usize = 120;
/// Maximum number of words that count in the description of an argument.
const MAX_ARGUMENT_WORDS: usize = 20;

/// Weight of a synonym.
const SYNONYM: f32 = 0.75;
/// The effect of a word with a mistake.
const SIMILAR: f32 = 0.9;
/// Share of common letter pairs from which two words are similar.
const MIN_SIMILARITY: f32 = 0.6;
/// Similarity of two words with the same letters in another order.
const SAME_LETTERS: f32 = 0.85;
/// Similar words that a word stands for.
const MAX_SIMILAR: usize = 3;
/// The effect of a query that has all words of a tool name.
const WHOLE_NAME: f32 = 0.2;
/// Rarity of a word that no tool has, as a share of the rarest word.
const UNKNOWN_RARITY: f32 = 0.85;
/// Rarity that a query has at least, in rarest words: one word alone says little.
const MIN_RARITY: f32 = 1.3;

/// Weight of a clause, such as one of two joined with "and".
const CLAUSE: f32 = 0.8;
/// Further score for the best tools of a clause, so that each task in a query has its tool.
const CLAUSE_LEADERS: [f32; 2] = [0.15, 0.05];
/// Share of the best phrasing in the score. The rest is the mean of all phrasings.
const BEST_PHRASING: f32 = 0.35;
/// Score below which no tool serves the task.
const MIN_SCORE: f32 = 0.24;
/// Score of a tool that is listed, as a share of the best one.
const MIN_SHARE: f32 = 0.2;

type Map<K, V> = HashMap<K, V, RandomState>;

/// The words in a list of tools.
pub(super) struct Index {
    pub(super) tools: Vec<Tool>,
    words: Map<String, usize>,
    entries: Vec<Entry>,
    forms: Vec<Form>,
    /// The words of the tool names.
    names: Vec<Vec<usize>>,
    max_rarity: f32,
}

/// A word of the index.
#[derive(Default)]
struct Entry {
    rarity: f32,
    /// The tools that have the word, with its effect in them.
    tools: Vec<(usize, f32)>,
}

/// A form of a word, as a tool spells it.
struct Form {
    entry: usize,
    pairs: Vec<[char; 2]>,
    /// The letters in alphabetical order.
    letters: Vec<char>,
}

/// The words of a tool, in the same order in each process.
#[derive(Default)]
struct ToolWords {
    /// Weights by stem.
    weights: BTreeMap<String, f32>,
    /// Stems by form.
    forms: BTreeMap<String, String>,
}

/// Scores by tool.
type Scores = Map<usize, f32>;

impl Index {
    pub(super) fn new(tools: Vec<Tool>) -> Self {
        let mut words: Map<String, usize> = Map::default();
        let mut entries: Vec<Entry> = Vec::new();
        let mut lengths = Vec::with_capacity(tools.len());
        let mut forms = BTreeMap::new();
        for (at, tool) in tools.iter().enumerate() {
            let tool = ToolWords::of(tool);
            forms.extend(tool.forms);
            lengths.push(tool.weights.values().sum::<f32>());
            for (word, weight) in tool.weights {
                let entry = *words.entry(word).or_insert_with(|| {
                    entries.push(Entry::default());
                    entries.len() - 1
                });
                entries[entry].tools.push((at, weight));
            }
        }
        let forms = forms.iter().filter_map(|(form, stem)| {
            Some(Form {
                entry: *words.get(stem)?,
                pairs: letter_pairs(form),
                letters: letters(form),
            })
        });
        let forms = forms.collect();
        let count = tools.len() as f32;
        let mean = lengths.iter().sum::<f32>() / count.max(1.0);
        for entry in &mut entries {
            entry.rarity = rarity(count, entry.tools.len() as f32);
            for (tool, weight) in &mut entry.tools {
                let length = 1.0 - LENGTH_EFFECT + LENGTH_EFFECT * lengths[*tool] / mean;
                let relative = *weight / length;
                *weight = relative / (SATURATION + relative);
            }
        }
        let names = tools.iter().map(|tool| {
            let (_, own) = split_name(tool);
            let name = stems(own).into_iter();
            name.filter_map(|word| words.get(&word).copied()).collect()
        });
        Self {
            names: names.collect(),
            tools,
            words,
            entries,
            forms,
            max_rarity: rarity(count, 1.0),
        }
    }

    /// Returns the tools for a task in several phrasings, the best first.
    pub(super) fn rank(&self, queries: &[String]) -> Vec<usize> {
        let mut best = Scores::default();
        let mut sums = Scores::default();
        let mut leads = Scores::default();
        for query in queries {
            for (tool, score) in self.phrasing(query, &mut leads) {
                raise(&mut best, tool, score);
                *sums.entry(tool).or_default() += score;
            }
        }
        let count = queries.len() as f32;
        let total = |(tool, best): (usize, f32)| {
            let mean = sums.get(&tool).copied().unwrap_or_default() / count;
            let lead = leads.get(&tool).copied().unwrap_or_default();
            (
                tool,
                BEST_PHRASING * best + (1.0 - BEST_PHRASING) * mean + lead,
            )
        };
        let ranked = sorted(best.into_iter().map(total));
        let Some(&(_, first)) = ranked.first().filter(|(_, score)| *score >= MIN_SCORE) else {
            return Vec::new();
        };
        let listed = ranked.into_iter();
        let listed = listed.take_while(|(_, score)| *score >= first * MIN_SHARE);
        listed.map(|(tool, _)| tool).collect()
    }

    /// Returns the scores of one phrasing, whole and by its clauses.
    fn phrasing(&self, query: &str, leads: &mut Scores) -> Scores {
        let mut scores = self.scores(&read(query).collect::<Vec<_>>());
        let clauses: Vec<_> = clauses(query);
        if clauses.len() < 2 {
            return scores;
        }
        for clause in clauses {
            let clause = sorted(self.scores(&clause));
            for (&(tool, score), lead) in iter::zip(&clause, CLAUSE_LEADERS) {
                raise(leads, tool, score * lead);
            }
            for (tool, score) in clause {
                raise(&mut scores, tool, score * CLAUSE);
            }
        }
        scores
    }

    fn scores(&self, query: &[Word]) -> Scores {
        let mut scores = Scores::default();
        let mut total = 0.0;
        let mut found: Map<usize, f32> = Map::default();
        for (at, word) in query.iter().enumerate() {
            if query[..at].iter().any(|other| other.stem == word.stem) {
                continue;
            }
            let meanings = self.meanings(word, query.get(at + 1));
            let rarities = meanings.keys().map(|&entry| self.entries[entry].rarity);
            total += match self.words.get(&word.stem) {
                Some(&entry) => self.entries[entry].rarity,
                None => rarities
                    .reduce(f32::max)
                    .unwrap_or(UNKNOWN_RARITY * self.max_rarity),
            };
            let mut best = Scores::default();
            for (entry, effect) in meanings {
                raise(&mut found, entry, effect);
                let Entry { rarity, tools, .. } = &self.entries[entry];
                for &(tool, weight) in tools {
                    raise(&mut best, tool, effect * rarity * weight);
                }
            }
            for (tool, score) in best {
                *scores.entry(tool).or_default() += score;
            }
        }
        let total = total.max(MIN_RARITY * self.max_rarity);
        for (&tool, score) in &mut scores {
            let name = &self.names[tool];
            let in_name = name.iter().filter_map(|word| found.get(word)).sum::<f32>();
            *score *= (1.0 + WHOLE_NAME * in_name / name.len().max(1) as f32) / total;
        }
        scores
    }

    /// Returns the words of tools that a word of a query stands for, with their effects: itself and its synonyms, or
    /// similar words and theirs.
    fn meanings(&self, word: &Word, next: Option<&Word>) -> Map<usize, f32> {
        let mut meanings = Map::default();
        let own = std::slice::from_ref(&word.stem);
        let known = self.words.get(&word.stem);
        if let Some(&entry) = known {
            raise(&mut meanings, entry, 1.0);
        }
        self.add_synonyms(&mut meanings, own, SYNONYM);
        if let Some(next) = next {
            let phrase = [word.stem.clone(), next.stem.clone()];
            self.add_synonyms(&mut meanings, &phrase, SYNONYM);
        }
        if known.is_none() && synonyms(own).is_empty() {
            for (similar, entry, similarity) in self.similar(&word.form) {
                let effect = similarity * SIMILAR;
                raise(&mut meanings, entry, effect);
                let similar = std::slice::from_ref(similar);
                self.add_synonyms(&mut meanings, similar, effect * SYNONYM);
            }
        }
        meanings
    }

    fn add_synonyms(&self, meanings: &mut Map<usize, f32>, phrase: &[String], effect: f32) {
        for synonym in synonyms(phrase) {
            // The words of a phrase share its effect.
            let effect = match phrase.len() {
                1 => effect / (synonym.len() as f32).sqrt(),
                _ => effect,
            };
            for word in synonym {
                if let Some(&entry) = self.words.get(word) {
                    raise(meanings, entry, effect);
                }
            }
        }
    }

    /// Returns the words of tools that have most letter pairs of a word.
    fn similar(&self, word: &str) -> Vec<(&String, usize, f32)> {
        let pairs = letter_pairs(word);
        // Each pair of a short word is a large share of it.
        if pairs.len() < 5 {
            return Vec::new();
        }
        let letters = letters(word);
        let mut found: Map<usize, f32> = Map::default();
        for form in &self.forms {
            if form.pairs.len().abs_diff(pairs.len()) > 3 {
                continue;
            }
            let mut similarity = similarity(&pairs, &form.pairs);
            if form.letters == letters {
                similarity = similarity.max(SAME_LETTERS);
            }
            if similarity >= MIN_SIMILARITY {
                raise(&mut found, form.entry, similarity);
            }
        }
        let words = self.words.iter();
        let similar = words.filter_map(|(word, entry)| Some((word, *entry, *found.get(entry)?)));
        let mut similar: Vec<_> = similar.collect();
        similar.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| a.0.cmp(b.0)));
        similar.truncate(MAX_SIMILAR);
        similar
    }
}

impl ToolWords {
    fn of(tool: &Tool) -> Self {
        let mut words = Self::default();
        let (server, own) = split_name(tool);
        let servers = stems(server);
        for word in read(own) {
            // `github__github_search`: the second word does not say more than the first.
            let weight = if servers.contains(&word.stem) {
                SERVER
            } else {
                NAME
            };
            words.add(word, weight);
        }
        words.add_text(server, SERVER, usize::MAX);
        let annotated = || tool.annotations.as_ref()?.title.as_deref();
        let title = tool.title.as_deref().or_else(annotated);
        words.add_text(title.unwrap_or_default(), TITLE, usize::MAX);
        let description = tool.description.as_deref().unwrap_or_default().trim();
        let end = [". ", ".\n", "\n\n"]
            .iter()
            .filter_map(|end| description.find(end))
            .min();
        let (first, rest) = description.split_at(end.unwrap_or(description.len()));
        words.add_text(first, FIRST_SENTENCE, usize::MAX);
        words.add_text(rest, FURTHER_SENTENCES, MAX_FURTHER_WORDS);
        let arguments = tool.input_schema.get("properties");
        let arguments = arguments.and_then(|arguments| arguments.as_object());
        for (argument, schema) in arguments.into_iter().flatten() {
            words.add_text(argument, ARGUMENT, usize::MAX);
            let text = schema.get("description").and_then(Value::as_str);
            words.add_text(text.unwrap_or_default(), ARGUMENT_TEXT, MAX_ARGUMENT_WORDS);
        }
        words
    }

    fn add_text(&mut self, text: &str, weight: f32, max_words: usize) {
        let words = read(text).take(max_words);
        words.for_each(|word| self.add(word, weight));
    }

    fn add(&mut self, word: Word, weight: f32) {
        *self.weights.entry(word.stem.clone()).or_default() += weight;
        self.forms.insert(word.form, word.stem);
    }
}

/// Returns the server in a tool name, and the rest of it.
fn split_name(tool: &Tool) -> (&str, &str) {
    tool.name.split_once("__").unwrap_or(("", &tool.name))
}

/// Returns how much a word says that so many of the tools have.
fn rarity(tools: f32, with_word: f32) -> f32 {
    ((tools - with_word + 0.5) / (with_word + 0.5)).ln_1p()
}

/// Returns the words of the clauses in a query: those between commas, "and" and "then".
fn clauses(query: &str) -> Vec<Vec<Word>> {
    let mut clauses = vec![String::new()];
    for part in query.split_inclusive([',', ';', ':']) {
        for word in part.split_whitespace() {
            if matches!(word, "and" | "then") {
                clauses.push(String::new());
            } else if let Some(clause) = clauses.last_mut() {
                clause.push(' ');
                clause.push_str(word);
            }
        }
        clauses.push(String::new());
    }
    let clauses = clauses
        .iter()
        .map(|clause| read(clause).collect::<Vec<_>>());
    clauses.filter(|clause| !clause.is_empty()).collect()
}

/// Returns the pairs of neighboring letters, also with the start and the end of the word.
fn letter_pairs(word: &str) -> Vec<[char; 2]> {
    let letters = iter::once('^').chain(word.chars()).chain(iter::once('$'));
    let next = letters.clone().skip(1);
    let mut pairs: Vec<_> = iter::zip(letters, next).map(|(a, b)| [a, b]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Returns the letters of a word in alphabetical order.
fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Returns the share of common pairs.
fn similarity(a: &[[char; 2]], b: &[[char; 2]]) -> f32 {
    let common = a
        .iter()
        .filter(|pair| b.binary_search(pair).is_ok())
        .count();
    2.0 * common as f32 / (a.len() + b.len()) as f32
}

/// Sets a value unless the current one is higher.
fn raise(values: &mut Map<usize, f32>, key: usize, value: f32) {
    let current = values.entry(key).or_default();
    *current = current.max(value);
}

/// Returns the tools by score, the best first; of two equal ones, the first in the list.
fn sorted(scores: impl IntoIterator<Item = (usize, f32)>) -> Vec<(usize, f32)> {
    let mut scores: Vec<_> = scores.into_iter().collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scores
}
