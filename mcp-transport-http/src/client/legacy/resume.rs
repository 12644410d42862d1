//! When a stream that ended is opened again: a machine without IO.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use mcp_core::backoff::{exponential, jitter};

/// The wait before a stream is opened again when the server names none.
const FIRST: Duration = Duration::from_millis(500);
/// The longest wait that this client chooses by itself.
const MOST: Duration = Duration::from_secs(30);
/// The shortest wait, whatever the server says.
const LEAST: Duration = Duration::from_millis(100);
/// A stream that was open for so long has done its work, also when it had nothing to tell.
const HEALTHY: Duration = Duration::from_secs(30);
/// Attempts in a row that come to nothing.
const ATTEMPTS: u32 = 8;

/// What became of a stream, or of the attempt to open it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was open for a time, and is no more.
    Over {
        /// It had a message that was not known.
        news: bool,
        /// It had an event id, or said when to come back: the server polls its client.
        polls: bool,
        /// How long it was open.
        open: Duration,
    },
    /// The server could not be reached, or did not finish its answer.
    Unreachable,
    /// The server answered by an error.
    Refused {
        /// Its status.
        status: StatusCode,
        /// How long to wait, when the server said so.
        retry_after: Option<Duration>,
    },
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Open it again after a while.
    After(Duration),
    /// Leave it.
    GiveUp,
}

/// One stream, however many connections it takes.
#[derive(Debug, Default)]
pub(super) struct Resume {
    retry: Option<Duration>,
    last_id: Option<HeaderValue>,
    seen: Seen,
    /// Connections in a row without news.
    fruitless: u32,
    /// Attempts in a row that came to nothing at all.
    failures: u32,
}

impl Resume {
    /// The server said how long to wait.
    // spec: RSM-08
    pub(super) fn retry(&mut self, retry: Duration) {
        self.retry = Some(retry);
    }

    /// An event had an id. Tells whether an event with it came before, on an earlier connection:
    /// ids are unique, so its message has been delivered.
    // spec: RSM-01
    pub(super) fn event(&mut self, id: &str) -> bool {
        self.mark(id);
        self.seen.is_repeated(id)
    }

    /// The stream has come so far. An id that no header can carry, like the empty one, is none.
    pub(super) fn mark(&mut self, id: &str) {
        let value = (!id.is_empty() && id.len() <= LONGEST_ID).then(|| id.parse());
        self.last_id = value.and_then(Result::ok);
    }

    /// From where on to ask for the stream.
    // spec: RSM-03
    pub(super) fn last_id(&self) -> Option<&HeaderValue> {
        self.last_id.as_ref()
    }

    /// What to do after this. `chance` is a number from 0 up to 1: it spreads the clients that
    /// have lost the same server.
    // spec: RSM-07, RSM-08, RSM-09
    pub(super) fn next(&mut self, outcome: Outcome, chance: f64) -> Next {
        self.seen.reconnected();
        let mut least = LEAST;
        match outcome {
            Outcome::Over { news, polls, open } => {
                let healthy = news || open >= HEALTHY;
                self.fruitless = if healthy { 0 } else { self.fruitless + 1 };
                self.failures = if healthy || polls {
                    0
                } else {
                    self.failures + 1
                };
            }
            Outcome::Refused { status, .. } if is_final(status) => return Next::GiveUp,
            Outcome::Refused { retry_after, .. } => {
                least = least.max(retry_after.unwrap_or_default());
                self.fail();
            }
            Outcome::Unreachable => self.fail(),
        }
        if self.failures > ATTEMPTS {
            return Next::GiveUp;
        }
        let asked = self.retry.unwrap_or(FIRST);
        // A little later than asked, never sooner.
        let asked = asked.saturating_add(asked.min(MOST).mul_f64(0.1 * chance));
        Next::After(asked.max(jitter(self.growing(), chance)).max(least))
    }

    fn fail(&mut self) {
        self.fruitless += 1;
        self.failures += 1;
    }

    /// Nothing at first, then twice as much each time.
    fn growing(&self) -> Duration {
        match self.fruitless {
            0 | 1 => Duration::ZERO,
            times => exponential(FIRST, times - 1, MOST),
        }
    }
}

/// A refusal that asking again does not change.
// spec: HTTP-C-11
fn is_final(status: StatusCode) -> bool {
    use StatusCode as S;
    !status.is_server_error()
        && !matches!(
            status,
            S::REQUEST_TIMEOUT | S::CONFLICT | S::TOO_EARLY | S::TOO_MANY_REQUESTS
        )
        || status == S::NOT_IMPLEMENTED
}

/// The longest event id that is sent back.
const LONGEST_ID: usize = 4 << 10;
/// How many ids are remembered.
const IDS: usize = 1024;
/// The longest id that is remembered.
const REMEMBERED_ID: usize = 256;

/// The ids that came before. Those of the connection that is open are only collected: within one
/// connection nothing comes twice, and some servers give one id to many events.
#[derive(Debug, Default)]
struct Seen {
    before: HashSet<Box<str>>,
    /// The same, oldest first.
    order: VecDeque<Box<str>>,
    now: VecDeque<Box<str>>,
}

impl Seen {
    fn is_repeated(&mut self, id: &str) -> bool {
        if id.is_empty() || id.len() > REMEMBERED_ID {
            return false;
        }
        if self.before.contains(id) {
            return true;
        }
        if self.now.len() == IDS {
            self.now.pop_front();
        }
        self.now.push_back(id.into());
        false
    }

    fn reconnected(&mut self) {
        for id in self.now.drain(..) {
            if !self.before.insert(id.clone()) {
                continue;
            }
            self.order.push_back(id);
            if self.order.len() > IDS
                && let Some(oldest) = self.order.pop_front()
            {
                self.before.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests;
