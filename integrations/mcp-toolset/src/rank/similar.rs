//! Words with mistakes: [`Forms`] finds the known words that have most letter pairs of a word.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

use foldhash::fast::RandomState;

/// Share of common letter pairs from which two words are similar.
const MIN_SIMILARITY: f32 = 0.6;
/// Similarity of two words with the same letters in another order.
const SAME_LETTERS: f32 = 0.85;
/// Fewest letter pairs of a word that is compared: each pair of a short word is a large share of it.
const MIN_PAIRS: usize = 5;
/// Forms of words that are known. Those in names and titles come first.
const MAX_FORMS: usize = 20_000;

type Map<K, V> = HashMap<K, V, RandomState>;

/// The forms of words, as tools spell them.
#[derive(Default)]
pub(super) struct Forms {
    forms: Vec<Form>,
    /// The forms that have a letter pair.
    by_pair: Map<[char; 2], Vec<u32>>,
    /// The forms with these letters, in alphabetical order.
    by_letters: Map<Vec<char>, Vec<u32>>,
}

struct Form {
    /// The entry of its stem.
    entry: usize,
    pairs: usize,
}

impl Forms {
    /// Returns an index of forms. Each has its entry, and the weight of the field where it stands.
    pub(super) fn new(forms: Map<Arc<str>, (usize, f32)>) -> Self {
        let mut forms: Vec<_> = forms.into_iter().collect();
        // Forms of one weight are in alphabetical order.
        let order = |a: &(Arc<str>, (usize, f32)), b: &(Arc<str>, (usize, f32))| {
            let by_weight = b.1.1.total_cmp(&a.1.1);
            by_weight.then_with(|| a.0.cmp(&b.0))
        };
        if forms.len() > MAX_FORMS {
            forms.select_nth_unstable_by(MAX_FORMS, order);
            forms.truncate(MAX_FORMS);
        }
        forms.sort_unstable_by(order);
        let mut index = Self::default();
        for (number, (form, (entry, _))) in (0..).zip(forms) {
            let pairs = letter_pairs(&form);
            index.forms.push(Form {
                entry,
                pairs: pairs.len(),
            });
            for pair in pairs {
                index.by_pair.entry(pair).or_default().push(number);
            }
            let letters = index.by_letters.entry(letters(&form)).or_default();
            letters.push(number);
        }
        index
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.forms.len()
    }

    /// Returns the entries of words that are similar to a word, with their similarity. `steps` counts the comparisons.
    pub(super) fn similar(&self, word: &str, steps: &mut usize) -> Map<usize, f32> {
        let mut found = Map::default();
        let pairs = letter_pairs(word);
        if pairs.len() < MIN_PAIRS {
            return found;
        }
        let mut common = vec![0_u16; self.forms.len()];
        for number in pairs.iter().filter_map(|pair| self.by_pair.get(pair)) {
            *steps += number.len();
            number.iter().for_each(|&form| common[form as usize] += 1);
        }
        *steps += self.forms.len();
        let similar = iter::zip(&self.forms, common)
            .map(|(form, common)| (form, similarity(common, form.pairs, pairs.len())));
        let same = self.by_letters.get(&letters(word)).into_iter().flatten();
        let same = same.filter_map(|&form| Some((self.forms.get(form as usize)?, SAME_LETTERS)));
        for (form, similarity) in similar.chain(same) {
            if similarity >= MIN_SIMILARITY {
                let best: &mut f32 = found.entry(form.entry).or_default();
                *best = best.max(similarity);
            }
        }
        found
    }
}

/// Returns the share of common pairs.
fn similarity(common: u16, a: usize, b: usize) -> f32 {
    2.0 * f32::from(common) / (a + b) as f32
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
