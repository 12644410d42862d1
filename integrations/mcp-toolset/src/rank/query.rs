//! The scores of a task in several phrasings.
//!
//! The score of a tool is the share of query words that it has, weighted by their rarity and by the fields where
//! they stand (BM25F). A score of 1 stands for a tool with all words in its name.

use std::collections::HashMap;
use std::iter;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::index::{Entry, Index};
use super::ranking::Ranking;
use super::synonyms::synonyms;
use super::words::{Word, read};

/// Weight of a synonym.
const SYNONYM: f32 = 0.75;
/// The effect of a word with a mistake.
const SIMILAR: f32 = 0.9;
/// Similar words that a word stands for.
const MAX_SIMILAR: usize = 3;
/// The effect of a query that has all words of a tool name.
const WHOLE_NAME: f32 = 0.2;
/// Rarity that a query has at least, in rarest words: one word alone says little.
const MIN_RARITY: f32 = 1.3;

/// Weight of a clause, such as one of two joined with "and".
const CLAUSE: f32 = 0.8;
/// Further score for the best tools of a clause, so that each task in a query has its tool.
const CLAUSE_LEADERS: [f32; 2] = [0.15, 0.05];
/// Share of the best phrasing in the score. The rest is the mean of all phrasings.
const BEST_PHRASING: f32 = 0.35;
/// Score below which it is doubtful that a tool serves the task.
const MIN_SCORE: f32 = 0.24;
/// Score of a tool that is listed, as a share of the best one.
const MIN_SHARE: f32 = 0.2;
/// Number of weak matches.
const MAX_WEAK: usize = 3;

/// Phrasings that count.
const MAX_QUERIES: usize = 4;
/// Words of a phrasing that count.
const MAX_WORDS: usize = 24;
/// Clauses of a phrasing that count.
const MAX_CLAUSES: usize = 6;
/// Entries that a search reads: words of tools, and forms of words. The words of the query that follow are ignored. A
/// step takes about 2 ns.
pub(super) const MAX_STEPS: usize = 3_000_000;

type Map<K, V> = HashMap<K, V, RandomState>;

/// Scores by tool. 0: the tool has no word of the query.
type Scores = Vec<f32>;

/// One search in an index.
pub(super) struct Search<'a> {
    index: &'a Index,
    /// The meanings of words by their forms.
    known: Map<String, Rc<Meanings>>,
    pub(super) steps: usize,
}

/// The words of tools that a word of a query stands for.
#[derive(Default)]
struct Meanings {
    /// Entries with their effects.
    entries: Map<usize, f32>,
    rarity: f32,
    /// The tools that have one of them, with the best score.
    tools: Vec<(u32, f32)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(index: &'a Index) -> Self {
        Self {
            index,
            known: Map::default(),
            steps: 0,
        }
    }

    /// Returns the tools for a task in several phrasings, the best first.
    pub(super) fn rank(&mut self, queries: &[String]) -> Ranking {
        let queries = &queries[..queries.len().min(MAX_QUERIES)];
        let empty = || vec![0.0_f32; self.index.tools.len()];
        let (mut best, mut sums, mut leads) = (empty(), empty(), empty());
        for query in queries {
            let scores = self.phrasing(query, &mut leads);
            for (tool, score) in scores.into_iter().enumerate() {
                best[tool] = best[tool].max(score);
                sums[tool] += score;
            }
        }
        let count = queries.len() as f32;
        let found = (0..best.len()).filter(|&tool| best[tool] > 0.0);
        let total = found.map(|tool| {
            let phrasings = BEST_PHRASING * best[tool] + (1.0 - BEST_PHRASING) * sums[tool] / count;
            (tool, phrasings + leads[tool])
        });
        let mut ranked: Vec<_> = total.collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let first = ranked.first().map_or(0.0, |(_, score)| *score);
        let is_weak = first < MIN_SCORE;
        if is_weak {
            ranked.truncate(MAX_WEAK);
        }
        let listed = ranked.into_iter();
        let listed = listed.take_while(|(_, score)| *score >= first * MIN_SHARE);
        Ranking {
            tools: listed.map(|(tool, _)| tool).collect(),
            is_weak,
        }
    }

    /// Returns the scores of one phrasing, whole and by its clauses.
    fn phrasing(&mut self, query: &str, leads: &mut Scores) -> Scores {
        let words: Vec<_> = read(query).take(MAX_WORDS).collect();
        let mut scores = self.scores(&words);
        let clauses = clauses(query);
        if clauses.len() < 2 {
            return scores;
        }
        for clause in clauses {
            let clause = self.scores(&clause);
            for ((tool, score), lead) in iter::zip(leaders(&clause), CLAUSE_LEADERS) {
                leads[tool] = leads[tool].max(score * lead);
            }
            for (best, score) in iter::zip(&mut scores, clause) {
                *best = best.max(score * CLAUSE);
            }
        }
        scores
    }

    fn scores(&mut self, query: &[Word]) -> Scores {
        let mut scores = vec![0.0; self.index.tools.len()];
        let mut total = 0.0;
        let mut found: Map<usize, f32> = Map::default();
        for (at, word) in query.iter().enumerate() {
            if query[..at].iter().any(|other| other.stem == word.stem) {
                continue;
            }
            let meanings = self.meanings(word);
            total += meanings.rarity;
            for (&entry, &effect) in &meanings.entries {
                raise(&mut found, entry, effect);
            }
            for &(tool, score) in &meanings.tools {
                scores[tool as usize] += score;
            }
        }
        let total = total.max(MIN_RARITY * self.index.max_rarity);
        let mut in_names = vec![0.0_f32; scores.len()];
        for (&entry, effect) in &found {
            for &tool in &self.index.entries[entry].named {
                in_names[tool as usize] += effect;
            }
        }
        for (tool, score) in scores.iter_mut().enumerate() {
            let length = self.index.tools[tool].own_name.len().max(1);
            *score *= (1.0 + WHOLE_NAME * in_names[tool] / length as f32) / total;
        }
        scores
    }

    /// Returns the words of tools that a word of a query stands for: itself and its synonyms, or similar words and
    /// theirs.
    fn meanings(&mut self, word: &Word) -> Rc<Meanings> {
        if let Some(known) = self.known.get(&word.form) {
            return known.clone();
        }
        let meanings = if self.steps < MAX_STEPS {
            self.find_meanings(word)
        } else {
            Meanings::default()
        };
        let meanings = Rc::new(meanings);
        self.known.insert(word.form.clone(), meanings.clone());
        meanings
    }

    fn find_meanings(&mut self, word: &Word) -> Meanings {
        let mut entries = Map::default();
        let known = self.index.words.get(&*word.stem);
        if let Some(&entry) = known {
            raise(&mut entries, entry, 1.0);
        }
        self.add_synonyms(&mut entries, &word.stem, SYNONYM);
        if known.is_none() && synonyms(&word.stem).is_empty() {
            for (entry, similarity) in self.similar(&word.form) {
                let effect = similarity * SIMILAR;
                raise(&mut entries, entry, effect);
                let similar = &self.index.entries[entry].word;
                self.add_synonyms(&mut entries, similar, effect * SYNONYM);
            }
        }
        let rarities = entries
            .keys()
            .map(|&entry| self.index.entries[entry].rarity);
        let rarity = match known {
            Some(&entry) => self.index.entries[entry].rarity,
            // A word that no tool has counts as the rarest.
            None => rarities.reduce(f32::max).unwrap_or(self.index.max_rarity),
        };
        let tools = self.best(&entries);
        Meanings {
            entries,
            rarity,
            tools,
        }
    }

    /// Returns the tools that have one of these words, with the best score.
    fn best(&mut self, entries: &Map<usize, f32>) -> Vec<(u32, f32)> {
        let mut best = vec![0.0_f32; self.index.tools.len()];
        self.steps += best.len();
        for (&entry, effect) in entries {
            let Entry { rarity, tools, .. } = &self.index.entries[entry];
            self.steps += tools.len();
            for &(tool, weight) in tools {
                let best = &mut best[tool as usize];
                *best = best.max(effect * rarity * weight);
            }
        }
        let best = (0..).zip(best);
        best.filter(|(_, score)| *score > 0.0).collect()
    }

    fn add_synonyms(&self, entries: &mut Map<usize, f32>, word: &str, effect: f32) {
        for synonym in synonyms(word).iter().flatten() {
            if let Some(&entry) = self.index.words.get(&**synonym) {
                raise(entries, entry, effect);
            }
        }
    }

    /// Returns the words of tools that have most letter pairs of a word.
    fn similar(&mut self, word: &str) -> Vec<(usize, f32)> {
        let similar = self.index.forms.similar(word, &mut self.steps);
        let mut similar: Vec<_> = similar.into_iter().collect();
        let word = |entry: usize| &self.index.entries[entry].word;
        similar.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| word(a.0).cmp(word(b.0))));
        similar.truncate(MAX_SIMILAR);
        similar
    }
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
        .map(|clause| read(clause).take(MAX_WORDS).collect::<Vec<_>>());
    let clauses = clauses.filter(|clause| !clause.is_empty());
    clauses.take(MAX_CLAUSES).collect()
}

/// Returns the two best tools; of two equal ones, the first in the list.
fn leaders(scores: &[f32]) -> Vec<(usize, f32)> {
    let mut leaders: Vec<(usize, f32)> = Vec::new();
    for (tool, &score) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        let at = leaders.iter().position(|(_, other)| *other < score);
        leaders.insert(at.unwrap_or(leaders.len()), (tool, score));
        leaders.truncate(CLAUSE_LEADERS.len());
    }
    leaders
}

/// Sets a value unless the current one is higher.
fn raise(values: &mut Map<usize, f32>, key: usize, value: f32) {
    let current = values.entry(key).or_default();
    *current = current.max(value);
}

#[cfg(test)]
mod tests {
    use mcp_types::Tool;
    use proptest::prelude::*;

    use super::super::index::{Index, IndexBuilder};
    use super::{MAX_STEPS, Search};

    fn index(tools: &[Tool]) -> Index {
        let mut builder = IndexBuilder::default();
        tools.iter().for_each(|tool| builder.add(tool));
        builder.finish(Vec::new())
    }

    /// Returns texts with words that tools and queries share, their synonyms, and unknown words.
    fn text(words: usize) -> impl Strategy<Value = String> {
        let word = prop_oneof![
            Just("delete".to_owned()),
            Just("file,".to_owned()),
            Just("and".to_owned()),
            "[a-c]{1,60}",
            "\\PC{1,20}",
        ];
        prop::collection::vec(word, 0..words).prop_map(|words| words.join(" "))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn work_in_a_search_is_bounded(
            tools in prop::collection::vec((text(10), text(700)), 0..8),
            queries in prop::collection::vec(text(200), 0..6),
        ) {
            let tools = tools.into_iter();
            let tools = tools.map(|(name, text)| Tool::new(name).description(text));
            let tools: Vec<Tool> = tools.collect();
            let index = index(&tools);
            for entry in &index.entries {
                prop_assert!(entry.word.len() <= 52);
            }
            let words: usize = index.entries.iter().map(|entry| entry.tools.len()).sum();
            prop_assert!(words <= 500 * index.tools.len(), "{words}");
            let mut search = Search::new(&index);
            let ranking = search.rank(&queries);
            prop_assert!(ranking.tools.iter().all(|&tool| tool < index.tools.len()));
            // A word reads each tool and each form once, and stands for at most 50 words of tools.
            let per_word = 50 * (index.tools.len() + index.forms.len());
            prop_assert!(search.steps <= 4 * 2 * 24 * per_word, "{}", search.steps);
        }
    }

    #[test]
    fn search_ends_at_its_step_limit() {
        let tool = |number: usize| Tool::new(format!("delete_file_{number}"));
        let tools: Vec<Tool> = (0..20_000).map(tool).collect();
        let index = index(&tools);
        let words: Vec<String> = (0..24)
            .map(|word| format!("deleet{word} filf{word}"))
            .collect();
        let mut search = Search::new(&index);
        search.rank(&vec![words.join(", "); 4]);
        let per_word = 50 * (index.tools.len() + index.forms.len());
        assert!(search.steps < MAX_STEPS + per_word, "{}", search.steps);
    }
}
