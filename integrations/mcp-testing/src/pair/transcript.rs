//! A connection's messages.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

/// A connection's messages in the order in which they were sent, one per line: `-> ` from the
/// client, `<- ` from the server. Clones share the same transcript.
///
/// Compare it with a reviewed file, for example with `expect_test`:
/// `expect_file!["transcripts/listing.txt"].assert_eq(&transcript.to_string())`.
#[derive(Debug, Clone, Default)]
pub struct Transcript(Arc<Mutex<String>>);

#[derive(Debug, Clone, Copy)]
pub(super) enum Direction {
    ToServer,
    ToClient,
}

impl Transcript {
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
