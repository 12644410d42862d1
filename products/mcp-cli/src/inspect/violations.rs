//! Rules of the specification that a message violates.

use serde::Serialize;
use serde_json::{Value, json};

use super::redact;

/// Largest number of violations that are kept for a message.
pub(super) const MAX_VIOLATIONS: usize = 8;

/// A rule that is violated: its id in the list of requirements (`schema` for a wrong shape), and how.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Violation {
    rule: &'static str,
    text: String,
}

/// The violations of one message. Further ones than the limit are left out.
#[derive(Debug, Default)]
pub(super) struct Violations {
    found: Vec<Violation>,
    is_unchecked: bool,
}

impl Violations {
    pub(super) fn add(&mut self, rule: &'static str, text: impl Into<String>) {
        if self.found.len() < MAX_VIOLATIONS {
            let text = redact::shortened(&text.into());
            self.found.push(Violation { rule, text });
        }
    }

    /// Notes that the message was not checked completely: it is too large.
    pub(super) fn set_unchecked(&mut self) {
        self.is_unchecked = true;
    }

    /// Writes the violations into the head of a message.
    pub(super) fn write_into(self, head: &mut Value) {
        if self.is_unchecked {
            head["unchecked"] = true.into();
        }
        if !self.found.is_empty() {
            head["violations"] = self.into_json();
        }
    }

    /// Returns `null` if there is none.
    pub(super) fn into_json(self) -> Value {
        if self.found.is_empty() {
            return Value::Null;
        }
        json!(self.found)
    }
}
