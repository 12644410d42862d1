//! Limits for the regular expressions in a schema: their size when they are compiled, and the work of
//! matching them.

use jsonschema::PatternOptions;
use jsonschema::Regex as LinearEngine;
use mcp_schema::{Node, Schema};
use mcp_types::JsonObject;
use serde_json::{Value, json};

use super::SchemaError;

/// The maximum size of one compiled pattern in bytes: 1 MiB.
const MAX_SIZE: usize = 1 << 20;
/// The maximum size of all compiled patterns in bytes: 4 MiB.
const MAX_TOTAL_SIZE: usize = 4 << 20;
/// The size of a compiled pattern below which it is not measured more precisely, in bytes.
const MIN_SIZE: usize = 4 << 10;
/// The maximum number of groups and repetitions inside of each other: for each the engine needs 12 KiB of stack in a debug build.
const MAX_NESTED: usize = 64;
/// The memory for the lazy automata of all patterns in bytes: 16 MiB.
const MAX_CACHE: usize = 16 << 20;
/// The memory for the lazy automaton of one pattern in bytes.
const CACHE_RANGE: (usize, usize) = (32 << 10, 1 << 20);

/// Bytes of a compiled pattern that one step passes. At worst, the engine visits all states of a
/// pattern for each byte of a string.
const BYTES_PER_STEP: u64 = 100;
/// The maximum number of steps in one validation: at worst some seconds.
const MAX_STEPS: u64 = 50_000_000;

/// The regular expressions of one schema, which are within the limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Patterns {
    count: usize,
    /// Upper bound for the largest compiled pattern.
    largest: usize,
}

impl Patterns {
    /// Measures the patterns of a schema.
    ///
    /// # Errors
    ///
    /// Returns [`SchemaError`] when a pattern is invalid, when it needs backtracking, and when the
    /// patterns are too large.
    pub(super) fn new(schema: &Schema<'_>) -> Result<Self, SchemaError> {
        let (mut patterns, mut total) = (Self::default(), 0);
        for source in schema.nodes().filter_map(Node::object).flat_map(sources) {
            if nested(source) > MAX_NESTED {
                let short: String = source.chars().take(100).collect();
                return Err(SchemaError::TooLarge(format!(
                    "the pattern {short:?} has more than {MAX_NESTED} groups and repetitions inside of each other"
                )));
            }
            let size = size(source, MAX_TOTAL_SIZE - total)?;
            total += size;
            patterns.count += 1;
            patterns.largest = patterns.largest.max(size);
        }
        Ok(patterns)
    }

    /// Returns the options of the engine, which matches in linear time.
    pub(super) fn options(self) -> PatternOptions<LinearEngine> {
        let (min, max) = CACHE_RANGE;
        let cache = (MAX_CACHE / self.count.max(1)).clamp(min, max);
        PatternOptions::regex()
            .size_limit(MAX_SIZE)
            .dfa_size_limit(cache)
    }

    /// Returns true if matching stays within the limit when patterns read at most `bytes` bytes together.
    pub(super) fn allow(self, bytes: u64) -> bool {
        let steps_per_byte = 1 + self.largest as u64 / BYTES_PER_STEP;
        bytes.saturating_mul(steps_per_byte) <= MAX_STEPS
    }
}

/// Returns the patterns of one schema, without those of its subschemas.
fn sources(schema: &JsonObject) -> impl Iterator<Item = &str> {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let keys = schema.get("patternProperties").and_then(Value::as_object);
    let keys = keys.into_iter().flat_map(|members| members.keys());
    pattern.into_iter().chain(keys.map(String::as_str))
}

/// Returns an upper bound for the number of groups and repetitions inside of each other.
fn nested(source: &str) -> usize {
    let makes_level = |letter: char| matches!(letter, '(' | '*' | '+' | '?' | '{');
    let all = source.chars().filter(|letter| makes_level(*letter)).count();
    // Comments, and classes that end at different places for different engines.
    let has_flag = |group: &str| {
        let is_flag = |letter: &char| letter.is_ascii_alphabetic() || *letter == '-';
        group.chars().take_while(is_flag).any(|flag| flag == 'x')
    };
    let is_unclear = source.contains("[]") || source.contains("[^]");
    if all <= MAX_NESTED || is_unclear || source.split("(?").skip(1).any(has_flag) {
        return all;
    }
    // The levels inside of each open group, and those of the last element.
    let (mut open, mut last) = (vec![0], 0);
    let mut letters = source.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '(' => open.push(0),
            ')' => last = 1 + open.pop().unwrap_or(0),
            '*' | '+' | '?' => last += 1,
            '{' => {
                letters.find(|letter| *letter == '}');
                last += 1;
            }
            _ => {
                if letter == '\\' {
                    letters.next();
                }
                if letter == '[' {
                    while let Some(letter) = letters.next().filter(|letter| *letter != ']') {
                        if letter == '\\' {
                            letters.next();
                        }
                    }
                }
                last = 0;
            }
        }
        if letter == '(' {
            last = 0;
        } else if let Some(levels) = open.last_mut() {
            *levels = last.max(*levels);
        }
    }
    open.into_iter().max().unwrap_or(all)
}

/// Returns an upper bound for the size of a compiled pattern.
///
/// # Errors
///
/// Returns [`SchemaError`] when the pattern is invalid, or larger than `available` bytes.
fn size(source: &str, available: usize) -> Result<usize, SchemaError> {
    let schema = json!({ "pattern": source });
    let compiles = |size| {
        let options = PatternOptions::regex().size_limit(size);
        let options = jsonschema::options().with_pattern_options(options);
        options.offline().build(&schema).is_ok()
    };
    let sizes = std::iter::successors(Some(MIN_SIZE), |size| Some(size * 2));
    let mut sizes = sizes.take_while(|size| *size <= available.min(MAX_SIZE));
    sizes.find(|size| compiles(*size)).ok_or_else(|| {
        if compiles(4 * MAX_SIZE) {
            return SchemaError::PatternsTooLarge {
                pattern: source.chars().take(100).collect(),
                limit: MAX_SIZE,
                total: MAX_TOTAL_SIZE,
            };
        }
        SchemaError::Invalid(format!(
            "the pattern {source:?} is not a regular expression, needs look-around or \
             back-references, or is far too large"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::{MAX_NESTED, nested};

    #[test]
    fn levels_of_patterns_are_those_of_their_groups_and_repetitions() {
        // More than the limit beside each other.
        let many = "(a)".repeat(MAX_NESTED + 1);
        for (pattern, levels) in [
            ("(a)", 1),
            ("(a)*", 2),
            ("(a){2,3}{4}?", 4),
            ("a*+?", 3),
            ("((a)|(b(c)*))?", 5),
            ("([(](]*))", 3),
            (r"(\(\[(a)[\](])", 2),
        ] {
            assert_eq!(nested(&format!("{many}{pattern}")), levels, "{pattern}");
            assert_eq!(nested(&format!("{pattern}{many}")), levels, "{pattern}");
        }
        // Where groups cannot be told from other text, all count.
        for unclear in ["[](]", "[^](]", "(?x)#(\n", "(?ix:a)"] {
            assert!(
                nested(&format!("{many}{unclear}")) > MAX_NESTED,
                "{unclear}"
            );
        }
        let deep = MAX_NESTED + 1;
        assert_eq!(nested(&"*".repeat(deep)), deep);
        assert_eq!(
            nested(&format!("{}a{}", "(".repeat(deep), ")".repeat(deep))),
            deep
        );
        // A URL's.
        let url = r"^(https?|wss?)://([a-z0-9]+(-[a-z0-9]+)*\.)+[a-z]{2,}(:[0-9]+)?(/.*)?$";
        assert_eq!(nested(&format!("{many}{url}")), 5);
    }
}
