//! What was said on a wire.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// All that was said on a wire, a line per message: `-> ` from the client, `<- ` from the server, in
/// the order in which it was sent. Clones are the same transcript.
///
/// Hold it against a text that a person has read, with `expect_test` for instance:
/// `expect_file!["transcripts/listing.txt"].assert_eq(&transcript.to_string())`.
#[derive(Debug, Clone, Default)]
pub struct Transcript(Arc<Mutex<String>>);

#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    ToServer,
    ToClient,
}

impl Transcript {
    /// Forgets what was said until now.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    pub(super) fn add(&self, direction: Direction, message: &[u8]) {
        let message = String::from_utf8_lossy(message.trim_ascii());
        if message.is_empty() {
            return;
        }
        let arrow = match direction {
            Direction::ToServer => "->",
            Direction::ToClient => "<-",
        };
        let mut text = self.0.lock();
        for line in message.lines() {
            text.push_str(&format!("{arrow} {line}\n"));
        }
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.lock())
    }
}
