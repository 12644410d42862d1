//! Limits on single values: numbers, counts, strings.

use std::cmp::Ordering;
use std::ops::Bound;

use mcp_core::schema::summarize;
use mcp_schema::compare;
use regex_lite::{Regex, RegexBuilder};
use serde_json::Number;

/// The limits of a number: `minimum`, `maximum`, their exclusive forms, `multipleOf`.
#[derive(Debug)]
pub(super) struct NumberLimits {
    pub(super) min: Bound<Number>,
    pub(super) max: Bound<Number>,
    pub(super) step: Option<Number>,
}

impl NumberLimits {
    pub(super) fn check(&self, number: &Number) -> Result<(), String> {
        let Self { min, max, step } = self;
        if !admits(min, number, Ordering::Greater) || !admits(max, number, Ordering::Less) {
            let expected = self.range();
            return Err(format!("{number} is out of range, expected {expected}"));
        }
        match step {
            Some(step) if !is_multiple(number, step) => {
                Err(format!("{number} is not a multiple of {step}"))
            }
            _ => Ok(()),
        }
    }

    fn range(&self) -> String {
        let bound = |bound: &Bound<Number>, included: &str, excluded: &str| match bound {
            Bound::Included(limit) => Some(format!("{included} {limit}")),
            Bound::Excluded(limit) => Some(format!("{excluded} {limit}")),
            Bound::Unbounded => None,
        };
        if let (Bound::Included(min), Bound::Included(max)) = (&self.min, &self.max) {
            return format!("{min} to {max}");
        }
        let bounds = [
            bound(&self.min, "at least", "above"),
            bound(&self.max, "at most", "below"),
        ];
        bounds
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" and ")
    }
}

/// Returns whether a number keeps to a bound. Numbers on the side `inside` do.
fn admits(bound: &Bound<Number>, number: &Number, inside: Ordering) -> bool {
    match bound {
        Bound::Included(limit) => compare(number, limit) != Some(inside.reverse()),
        Bound::Excluded(limit) => compare(number, limit) == Some(inside),
        Bound::Unbounded => true,
    }
}

/// Returns whether a number is a multiple of `step`, within the precision of floats.
fn is_multiple(number: &Number, step: &Number) -> bool {
    if let (Some(number), Some(step)) = (number.as_i128(), step.as_i128()) {
        return number.checked_rem(step).is_none_or(|rest| rest == 0);
    }
    let (number, step) = (number.as_f64(), step.as_f64());
    number.zip(step).is_none_or(|(number, step)| {
        let times = number / step;
        !times.is_finite() || (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
    })
}

/// Limits for a number of characters, elements or members.
#[derive(Debug, Clone, Copy)]
pub(super) struct CountLimits {
    pub(super) min: u64,
    pub(super) max: u64,
}

impl CountLimits {
    /// Checks a count of things that `noun` names in the singular.
    pub(super) fn check(self, count: usize, noun: &str) -> Result<(), String> {
        let Self { min, max } = self;
        let actual = count as u64;
        if (min..=max).contains(&actual) {
            return Ok(());
        }
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let expected = match (min, max) {
            (_, u64::MAX) => format!("at least {min} {noun}{}", plural(min)),
            (0, _) => format!("at most {max} {noun}{}", plural(max)),
            _ if min == max => format!("{min} {noun}{}", plural(min)),
            _ => format!("{min} to {max} {noun}s"),
        };
        Err(format!(
            "has {actual} {noun}{}, expected {expected}",
            plural(actual)
        ))
    }
}

/// A regular expression that a string has to match.
#[derive(Debug)]
pub(super) struct Pattern {
    source: Box<str>,
    regex: Regex,
    /// Maximum size of the compiled pattern, in bytes.
    size: usize,
}

/// Limit on the size of a compiled pattern, in bytes.
const MAX_PATTERN_SIZE: usize = 1 << 16;

/// Size of compiled patterns below which the size is not determined more precisely, in bytes.
const MIN_PATTERN_SIZE: usize = 1 << 8;

/// Bytes of a compiled pattern that one step passes. The engine visits all states of a pattern for
/// each byte of the string: 0.1 µs for a pattern of 256 bytes, 37 µs for one of 64 KiB.
const PATTERN_BYTES_PER_STEP: usize = 100;

/// Limit on the group nesting in a pattern.
const MAX_PATTERN_DEPTH: u32 = 32;

/// Limit on the length of a string that a pattern is matched with, in bytes. Longer strings are
/// rejected without a search.
const MAX_STRING_LENGTH: usize = 1 << 16;

impl Pattern {
    /// Compiles a pattern. Returns `None` for one that the regex engine does not support
    /// (look-around, back-references) and for one that is too large.
    pub(super) fn new(source: &str) -> Option<Self> {
        let compile = |size| {
            let regex = RegexBuilder::new(source)
                .size_limit(size)
                .nest_limit(MAX_PATTERN_DEPTH)
                .build()
                .ok()?;
            let source = source.into();
            Some(Self {
                source,
                regex,
                size,
            })
        };
        let sizes = std::iter::successors(Some(MIN_PATTERN_SIZE), |size| Some(size * 2));
        sizes
            .take_while(|size| *size <= MAX_PATTERN_SIZE)
            .find_map(compile)
    }

    /// Returns the number of steps that [`check`](Self::check) takes.
    pub(super) fn steps(&self, string: &str) -> usize {
        match string.len() {
            // Rejected without a search.
            len if len > MAX_STRING_LENGTH => 1,
            len => len * (1 + self.size / PATTERN_BYTES_PER_STEP),
        }
    }

    pub(super) fn check(&self, string: &str) -> Result<(), String> {
        if string.len() > MAX_STRING_LENGTH {
            let length = string.len();
            return Err(format!(
                "has {length} bytes, expected at most {MAX_STRING_LENGTH} where a pattern is given"
            ));
        }
        if self.regex.is_match(string) {
            return Ok(());
        }
        let actual = summarize(&string.into());
        Err(format!(
            "expected text that matches `{}`, got {actual}",
            self.source
        ))
    }
}
