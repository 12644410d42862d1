//! The list of differences, and JSON pointers.

use mcp_types::shorten;

use crate::catalog::difference::{Difference, Impact};

/// Largest number of listed differences.
const MAX_DIFFERENCES: usize = 1_000;

/// Collects differences.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    differences: Vec<Difference>,
    /// The greatest impact of the differences that are not listed.
    omitted: Option<Impact>,
}

impl Recorder {
    pub(super) fn add(&mut self, impact: Impact, path: &str, reason: impl Into<String>) {
        if self.differences.len() >= MAX_DIFFERENCES {
            self.omitted = self.omitted.max(Some(impact));
            return;
        }
        self.differences.push(Difference {
            impact,
            path: path.to_owned(),
            reason: reason.into(),
        });
    }

    pub(super) fn finish(mut self) -> Vec<Difference> {
        if let Some(impact) = self.omitted {
            self.differences.push(Difference {
                impact,
                path: String::new(),
                reason: format!("more than {MAX_DIFFERENCES} differences; the others are omitted"),
            });
        }
        self.differences
    }
}

/// Appends a key to a JSON pointer (RFC 6901).
pub(super) fn join(path: &str, key: &str) -> String {
    format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// Shortens a JSON value for a message.
pub(super) fn brief(value: &serde_json::Value) -> String {
    shorten(&value.to_string(), 60).into_owned()
}
