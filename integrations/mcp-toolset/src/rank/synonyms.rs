//! Words with the same meaning, from the table `synonyms.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::words::stem;

/// The phrases with the meaning of a word, as stems. Most phrases are one word.
static SYNONYMS: LazyLock<HashMap<String, Vec<Vec<String>>>> = LazyLock::new(|| {
    let mut synonyms: HashMap<String, Vec<Vec<String>>> = HashMap::new();
    let lines = include_str!("synonyms.txt").lines();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let phrases = line.split_whitespace();
        let group: Vec<Vec<String>> = phrases
            .map(|phrase| phrase.split('_').map(stem).collect())
            .collect();
        for phrase in &group {
            let [word] = &phrase[..] else { continue };
            let known = synonyms.entry(word.clone()).or_default();
            let others = group.iter().filter(|other| *other != phrase);
            for other in others {
                if !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    synonyms
});

/// Returns the phrases with the meaning of a word.
pub(super) fn synonyms(word: &str) -> &'static [Vec<String>] {
    SYNONYMS.get(word).map_or(&[], Vec::as_slice)
}
