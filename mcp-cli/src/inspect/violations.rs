//! Rules of the specification that a message violates.

use serde_json::{Value, json};

use super::redact;

/// Largest number of violations of one message.
pub(super) const MAX_VIOLATIONS: usize = 8;

/// A rule that is violated: its id in the list of requirements (`schema` for a wrong shape), and how.
#[derive(Debug, PartialEq, Eq)]
struct Violation {
    rule: &'static str,
    text: String,
}

/// The violations of one message. Further ones than the limit are left out.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<Violation>);

impl Violations {
    pub(super) fn add(&mut self, rule: &'static str, text: impl Into<String>) {
        if self.0.len() < MAX_VIOLATIONS {
            let text = redact::shortened(&text.into());
            self.0.push(Violation { rule, text });
        }
    }

    /// Returns `null` if there is none.
    pub(super) fn into_json(self) -> Value {
        if self.0.is_empty() {
            return Value::Null;
        }
        let all = self.0.into_iter();
        all.map(|it| json!({"rule": it.rule, "text": it.text}))
            .collect()
    }
}
