//! What single values have to keep to.

use regex_lite::{Regex, RegexBuilder};
use serde_json::Number;

use super::range::{Limit, Range};

/// From where to where a number goes, and in which steps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) range: Range,
    pub(super) step: Option<Limit>,
}

impl Numbers {
    pub(super) fn check(&self, number: &Number) -> Result<(), String> {
        let Some(number) = Limit::from_json(number) else {
            return Ok(());
        };
        self.range.check(number)?;
        match self.step {
            Some(step) if !number.is_multiple_of(step) => {
                Err(format!("{number} is no multiple of {step}"))
            }
            _ => Ok(()),
        }
    }
}

/// How many of something there may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Count {
    pub(super) least: u64,
    pub(super) most: u64,
}

impl Count {
    pub(super) fn check(self, count: usize, what: &str) -> Result<(), String> {
        let Self { least, most } = self;
        let given = count as u64;
        if (least..=most).contains(&given) {
            return Ok(());
        }
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let expected = match (least, most) {
            (_, u64::MAX) => format!("at least {least} {what}{}", plural(least)),
            (0, _) => format!("at most {most} {what}{}", plural(most)),
            _ if least == most => format!("{least} {what}{}", plural(least)),
            _ => format!("{least} to {most} {what}s"),
        };
        Err(format!(
            "has {given} {what}{}, expected {expected}",
            plural(given)
        ))
    }
}

/// What a text has to look like.
#[derive(Debug)]
pub(super) struct Pattern {
    source: Box<str>,
    regex: Regex,
}

/// The largest compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 16;
/// So deep may groups lie in each other.
const PATTERN_DEPTH: u32 = 32;
/// Longer texts are refused rather than searched.
const LONGEST_TEXT: usize = 1 << 16;

impl Pattern {
    /// `None` for a pattern that cannot be read: that looks around or back, or is too large.
    pub(super) fn new(source: &str) -> Option<Self> {
        let regex = RegexBuilder::new(source)
            .size_limit(PATTERN_SIZE)
            .nest_limit(PATTERN_DEPTH)
            .build()
            .ok()?;
        let source = source.into();
        Some(Self { source, regex })
    }

    pub(super) fn check(&self, text: &str) -> Result<(), String> {
        if text.len() > LONGEST_TEXT {
            let length = text.len();
            return Err(format!(
                "has {length} bytes, expected at most {LONGEST_TEXT} where a pattern is given"
            ));
        }
        if self.regex.is_match(text) {
            return Ok(());
        }
        let given = mcp_core::schema::summarize(&text.into());
        Err(format!(
            "expected text that matches `{}`, got {given}",
            self.source
        ))
    }
}
