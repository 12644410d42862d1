//! Reconnect policy: decides if and when the client reopens an ended stream. A state machine without IO.
//!
//! Spec:
//! <https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery>

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use http::{HeaderValue, StatusCode};
use mcp_core::backoff::delay;

/// Initial delay if the server has not sent a `retry` time.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// The exponential backoff's longest delay. The server may request a longer delay.
const MAX_DELAY: Duration = Duration::from_secs(30);
/// Shortest delay.
const MIN_DELAY: Duration = Duration::from_millis(100);
/// A stream that was open for at least this time counts as healthy, even if it carried no message.
const HEALTHY: Duration = Duration::from_secs(30);
/// Largest number of consecutive failures before the client gives up, which is after about 70 s.
const MAX_FAILURES: u32 = 8;
/// Refusals of a call's stream before their delay grows. Another server behind the same address may have the stream.
const QUICK_RETRIES: u32 = 3;
/// Longest delay after a refusal of a call's stream, whose caller waits. The server may request a longer delay.
const MAX_CALL_DELAY: Duration = Duration::from_secs(2);
/// Largest number of consecutive refusals of a call's stream, which takes about as long as `MAX_FAILURES`.
const MAX_CALL_REFUSALS: u32 = 48;

/// The outcome of one connection, or of the attempt to open it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The stream was open and has ended.
    Ended {
        /// The stream carried a new message.
        had_message: bool,
        /// The stream carried an event id or a `retry` time: the server expects a reconnect.
        may_resume: bool,
        open_for: Duration,
    },
    /// The server could not be reached, or its response was cut off.
    Unreachable,
    /// The server responded with an error status.
    Refused {
        status: StatusCode,
        /// The `Retry-After` header.
        retry_after: Option<Duration>,
    },
}

/// The next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    /// Open the stream again after this delay.
    RetryAfter(Duration),
    GiveUp,
}

/// State of one logical stream across all its connections.
#[derive(Debug, Default)]
pub(super) struct ResumePolicy {
    is_of_call: bool,
    retry: Option<Duration>,
    last_id: Option<HeaderValue>,
    seen: SeenEventIds,
    /// Consecutive connections without a new message.
    without_message: u32,
    /// Consecutive failures, without refusals.
    failures: u32,
    /// Consecutive refusals.
    refusals: u32,
}

impl ResumePolicy {
    /// Policy for the stream of a call. The default one is for the standalone stream.
    pub(super) fn for_call() -> Self {
        Self {
            is_of_call: true,
            ..Self::default()
        }
    }

    /// Records the server's `retry` time.
    // spec: RSM-08
    pub(super) fn set_retry(&mut self, retry: Duration) {
        self.retry = Some(retry);
    }

    /// Records an event id. Returns whether an earlier connection carried the same id: ids
    /// are unique, so its message has been delivered already.
    // spec: RSM-01
    pub(super) fn record_event(&mut self, id: &str) -> bool {
        self.set_last_id(id);
        self.seen.record(id)
    }

    /// Records the last event id. An id that is not a valid header value clears it.
    pub(super) fn set_last_id(&mut self, id: &str) {
        let value = (!id.is_empty() && id.len() <= MAX_LAST_ID).then(|| id.parse());
        self.last_id = value.and_then(Result::ok);
    }

    /// Returns the value for the `Last-Event-ID` header.
    // spec: RSM-03
    pub(super) fn last_id(&self) -> Option<&HeaderValue> {
        self.last_id.as_ref()
    }

    /// Decides the next step. `random` is in `0.0..1.0`: it randomizes the delay, so that the clients of
    /// a failed server do not all reconnect at the same time.
    ///
    /// The server's `retry` time counts. After a refusal with a `Retry-After` header that counts, because another server
    /// behind the same address may have the stream.
    // spec: RSM-07, RSM-08, RSM-09
    pub(super) fn decide(&mut self, outcome: Outcome, random: f64) -> Decision {
        self.seen.start_connection();
        match outcome {
            Outcome::Ended {
                had_message,
                may_resume,
                open_for,
            } => {
                self.refusals = 0;
                let healthy = had_message || open_for >= HEALTHY;
                self.without_message = if healthy { 0 } else { self.without_message + 1 };
                self.failures = if healthy || may_resume {
                    0
                } else {
                    self.failures + 1
                };
            }
            Outcome::Refused { status, .. } if is_final(status) => return Decision::GiveUp,
            Outcome::Refused { retry_after, .. } => return self.refused(retry_after, random),
            Outcome::Unreachable => {
                self.without_message += 1;
                self.failures += 1;
            }
        }
        if self.failures > MAX_FAILURES {
            return Decision::GiveUp;
        }
        let retry = self.retry.unwrap_or(FIRST_DELAY);
        // The delay is up to 10 % longer than the server's `retry` time, never shorter.
        let retry = retry.saturating_add(retry.min(MAX_DELAY).mul_f64(0.1 * random));
        Decision::RetryAfter(retry.max(self.backoff(random)).max(MIN_DELAY))
    }

    fn refused(&mut self, retry_after: Option<Duration>, random: f64) -> Decision {
        let (max_delay, max_refusals, quick) = if self.is_of_call {
            (MAX_CALL_DELAY, MAX_CALL_REFUSALS, QUICK_RETRIES)
        } else {
            (MAX_DELAY, MAX_FAILURES, 0)
        };
        let times = self.refusals.saturating_sub(quick);
        self.refusals += 1;
        if self.refusals > max_refusals {
            return Decision::GiveUp;
        }
        let delay = delay(FIRST_DELAY, times, max_delay, random);
        let least = retry_after.or(self.retry).unwrap_or_default();
        Decision::RetryAfter(delay.max(least).max(MIN_DELAY))
    }

    /// Returns zero for the first attempts, then an exponentially growing delay.
    fn backoff(&self, random: f64) -> Duration {
        match self.without_message {
            0 | 1 => Duration::ZERO,
            times => delay(FIRST_DELAY, times - 1, MAX_DELAY, random),
        }
    }
}

/// Returns `true` if the server would respond to a retry with the same status.
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

/// Longest event id in bytes that is sent back as `Last-Event-ID`.
const MAX_LAST_ID: usize = 4 << 10;
/// Largest number of remembered event ids.
const MAX_SEEN_IDS: usize = 1024;
/// Longest event id in bytes that is remembered.
const MAX_SEEN_ID: usize = 256;

/// Event ids of earlier connections. The current connection's ids are stored, but not searched for
/// repeats: a message does not repeat within one connection, and some servers give several events the
/// same id.
#[derive(Debug, Default)]
struct SeenEventIds {
    earlier: HashSet<Box<str>>,
    /// The ids of `earlier`, oldest first.
    order: VecDeque<Box<str>>,
    current: VecDeque<Box<str>>,
}

impl SeenEventIds {
    /// Records an id. Returns whether an earlier connection carried it.
    fn record(&mut self, id: &str) -> bool {
        if id.is_empty() || id.len() > MAX_SEEN_ID {
            return false;
        }
        if self.earlier.contains(id) {
            return true;
        }
        if self.current.len() == MAX_SEEN_IDS {
            self.current.pop_front();
        }
        self.current.push_back(id.into());
        false
    }

    fn start_connection(&mut self) {
        for id in self.current.drain(..) {
            if !self.earlier.insert(id.clone()) {
                continue;
            }
            self.order.push_back(id);
            if self.order.len() > MAX_SEEN_IDS
                && let Some(oldest) = self.order.pop_front()
            {
                self.earlier.remove(&oldest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http::StatusCode;

    use super::{
        Decision, HEALTHY, MAX_CALL_DELAY, MAX_DELAY, MAX_FAILURES, MAX_LAST_ID, MAX_SEEN_IDS,
        MIN_DELAY, Outcome, ResumePolicy,
    };

    const WITH_MESSAGE: Outcome = ended(true, true, Duration::ZERO);
    const RESUMABLE: Outcome = ended(false, true, Duration::ZERO);
    const USELESS: Outcome = ended(false, false, Duration::ZERO);

    const fn ended(had_message: bool, may_resume: bool, open_for: Duration) -> Outcome {
        Outcome::Ended {
            had_message,
            may_resume,
            open_for,
        }
    }

    fn refused(status: u16, retry_after: Option<u64>) -> Outcome {
        Outcome::Refused {
            status: StatusCode::from_u16(status).unwrap(),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }

    /// Returns the delays in milliseconds, with the smallest and the largest random number.
    fn delays(retry: Option<u64>, outcomes: &[Outcome]) -> [Vec<Option<u128>>; 2] {
        [0.0, 1.0].map(|random| {
            let mut policy = ResumePolicy::default();
            if let Some(retry) = retry {
                policy.set_retry(Duration::from_millis(retry));
            }
            let wait = |outcome: &Outcome| match policy.decide(*outcome, random) {
                Decision::RetryAfter(wait) => Some(wait.as_millis()),
                Decision::GiveUp => None,
            };
            outcomes.iter().map(wait).collect()
        })
    }

    #[test]
    fn delay_with_retry_time_is_at_least_that_time() {
        // spec: RSM-08
        assert_eq!(delays(Some(500), &[RESUMABLE]), [[Some(500)], [Some(550)]]);
        assert_eq!(delays(Some(5000), &[WITH_MESSAGE; 3])[0], [Some(5000); 3]);
        // Also after a refusal that asks for no other time.
        assert_eq!(delays(Some(5000), &[refused(503, None)])[0], [Some(5000)]);
        // A retry time of zero does not cause a busy loop.
        assert_eq!(
            delays(Some(0), &[WITH_MESSAGE]),
            [[Some(MIN_DELAY.as_millis())]; 2]
        );
        let forever = delays(Some(u64::MAX), &[WITH_MESSAGE]);
        assert_eq!(forever[0], [Some(u128::from(u64::MAX))]);
    }

    #[test]
    fn delay_without_messages_grows() {
        let [min, max] = delays(None, &[RESUMABLE; 12]);
        assert_eq!(min[..4], [500, 500, 1000, 2000].map(Some));
        assert_eq!(max[..4], [550, 1000, 2000, 4000].map(Some));
        assert_eq!(max[11], Some(MAX_DELAY.as_millis()));
        assert_eq!(min[11], Some(MAX_DELAY.as_millis() / 2));
        // The server sets a retry time of zero and sends no message.
        let [min, _] = delays(Some(0), &[RESUMABLE; 12]);
        assert_eq!(min[..4], [100, 500, 1000, 2000].map(Some));
        assert_eq!(min[11], Some(MAX_DELAY.as_millis() / 2));
        // A healthy connection resets the backoff.
        for healthy in [WITH_MESSAGE, ended(false, false, HEALTHY)] {
            let [_, max] = delays(None, &[RESUMABLE, RESUMABLE, RESUMABLE, healthy]);
            assert_eq!(max[3], Some(550), "{healthy:?}");
        }
    }

    #[test]
    fn delay_after_a_refused_call_stream_is_short_and_lasts_as_long() {
        let decide =
            |policy: &mut ResumePolicy, outcome, random| match policy.decide(outcome, random) {
                Decision::RetryAfter(wait) => Some(wait),
                Decision::GiveUp => None,
            };
        let mut totals = Vec::new();
        for (random, expected) in [
            (0.0, [1000, 250, 250, 250, 250, 500, 1000]),
            (1.0, [1100, 500, 500, 500, 500, 1000, 2000]),
        ] {
            let mut policy = ResumePolicy::for_call();
            // spec: RSM-08
            policy.set_retry(Duration::from_secs(1));
            let first = decide(&mut policy, RESUMABLE, random);
            let rest = std::iter::from_fn(|| decide(&mut policy, refused(503, Some(0)), random));
            let delays: Vec<_> = first.into_iter().chain(rest).collect();
            let millis = delays.iter().map(Duration::as_millis);
            assert!(millis.take(7).eq(expected), "{delays:?}");
            assert!(delays[7..].iter().all(|delay| *delay <= MAX_CALL_DELAY));
            totals.push(delays.iter().sum::<Duration>());
            // The server may ask for more.
            let asked = ResumePolicy::for_call().decide(refused(503, Some(7)), random);
            assert_eq!(asked, Decision::RetryAfter(Duration::from_secs(7)));
        }
        let seconds: Vec<_> = totals.iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [45, 90]);
        // Refusals and other failures have limits of their own.
        let mut policy = ResumePolicy::for_call();
        let outcomes = [[refused(503, None); 2], [Outcome::Unreachable; 2]]
            .concat()
            .repeat(4);
        assert!(
            outcomes
                .iter()
                .all(|outcome| decide(&mut policy, *outcome, 1.0).is_some())
        );
        assert_eq!(decide(&mut policy, Outcome::Unreachable, 1.0), None);
    }

    #[test]
    fn decide_after_max_failures_gives_up() {
        let attempts = MAX_FAILURES as usize;
        for nothing in [USELESS, Outcome::Unreachable, refused(503, None)] {
            let [min, _] = delays(None, &vec![nothing; attempts + 1]);
            assert!(min[..attempts].iter().all(Option::is_some), "{nothing:?}");
            assert_eq!(min[attempts], None, "{nothing:?}");
        }
        // Resumable streams without messages do not count as failures.
        let [min, _] = delays(None, &[RESUMABLE; 1000]);
        assert!(min.iter().all(Option::is_some));
        // A success resets the count.
        let mut outcomes = vec![Outcome::Unreachable; attempts];
        outcomes.push(RESUMABLE);
        outcomes.extend(vec![Outcome::Unreachable; attempts]);
        assert!(delays(None, &outcomes)[0].iter().all(Option::is_some));
    }

    #[test]
    fn decide_after_final_status_gives_up() {
        for status in [301, 400, 401, 403, 404, 405, 406, 410, 501] {
            assert_eq!(
                delays(None, &[refused(status, Some(1))])[0],
                [None],
                "{status}"
            );
        }
        for status in [408, 409, 425, 429, 500, 502, 503, 504] {
            let [min, _] = delays(None, &[refused(status, Some(7)), refused(status, None)]);
            assert_eq!(min, [7000, 500].map(Some), "{status}");
        }
    }

    #[test]
    fn last_id_ignores_invalid_ids() {
        let mut policy = ResumePolicy::default();
        let long = "x".repeat(MAX_LAST_ID + 1);
        for (id, expected) in [
            ("a_1", Some("a_1")),
            ("", None),
            ("b", Some("b")),
            ("line\nbreak", None),
            ("b", Some("b")),
            (&long, None),
            (&long[1..], Some(&long[1..])),
        ] {
            policy.set_last_id(id);
            let last = policy.last_id().map(|id| id.to_str().unwrap());
            assert_eq!(last, expected);
        }
    }

    #[test]
    fn record_event_finds_repeats_from_an_earlier_connection() {
        // spec: RSM-01
        let mut policy = ResumePolicy::default();
        // Some servers give several events the same id.
        for id in ["1", "2", "2", ""] {
            assert!(!policy.record_event(id), "{id}");
        }
        policy.decide(RESUMABLE, 0.0);
        for (id, known) in [
            ("1", true),
            ("2", true),
            ("3", false),
            ("3", false),
            ("", false),
        ] {
            assert_eq!(policy.record_event(id), known, "{id}");
        }
        // The number of remembered ids is bounded, and the newest ids are kept.
        for id in 0..3 * MAX_SEEN_IDS {
            policy.record_event(&format!("n{id}"));
            if id % 100 == 0 {
                policy.decide(RESUMABLE, 0.0);
            }
        }
        policy.decide(RESUMABLE, 0.0);
        assert!(!policy.record_event("n0"));
        assert!(policy.record_event(&format!("n{}", 3 * MAX_SEEN_IDS - 1)));
        let seen = &policy.seen;
        assert_eq!(
            (seen.earlier.len(), seen.order.len()),
            (MAX_SEEN_IDS, MAX_SEEN_IDS)
        );
    }
}
