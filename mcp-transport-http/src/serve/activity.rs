//! Connection timeouts.
//!
//! hyper's `header_read_timeout` is one timeout for the time between two requests and for the head of a
//! request, and hyper has none for a client that does not read. The timeouts here are separate. The state is
//! compared at intervals of the head timeout: a request reads no clock and sets no timer, as
//! `tokio::time::timeout` would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use tokio::time::sleep;

/// Maximum times without activity.
#[derive(Debug)]
pub(super) struct ConnectionTimeouts {
    /// Maximum time to receive a request head.
    pub(super) head: Duration,
    /// Maximum time without a request, or without accepting bytes of a response.
    pub(super) idle: Duration,
}

/// Activity of one connection.
///
/// Only the task of the connection changes it, so that no lock and no atomic addition is needed.
#[derive(Debug, Default)]
pub(super) struct Activity {
    /// Number of events that count as activity.
    events: AtomicUsize,
    /// Number of requests that are being answered.
    in_flight: AtomicUsize,
    /// The connection has received a complete head since it was opened.
    had_request: AtomicBool,
    /// The connection has received a part of the next head.
    has_partial_head: AtomicBool,
    /// The client does not accept the bytes of a response.
    is_write_blocked: AtomicBool,
}

/// The state of an [`Activity`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ActivityState {
    events: usize,
    in_flight: usize,
    had_request: bool,
    has_partial_head: bool,
    is_write_blocked: bool,
}

impl ActivityState {
    /// Returns the maximum time in this state.
    fn timeout(self, timeouts: &ConnectionTimeouts) -> Option<Duration> {
        match self.in_flight {
            0 if self.has_partial_head || !self.had_request => Some(timeouts.head),
            0 => Some(timeouts.idle),
            _ => self.is_write_blocked.then_some(timeouts.idle),
        }
    }
}

impl Activity {
    /// Records bytes from the client.
    pub(super) fn record_read(&self) {
        if self.in_flight.load(Relaxed) == 0 && !self.has_partial_head.load(Relaxed) {
            self.has_partial_head.store(true, Relaxed);
            self.add_event();
        }
    }

    /// Records the result of a write.
    pub(super) fn record_write<T>(&self, result: &Poll<T>) {
        self.is_write_blocked.store(result.is_pending(), Relaxed);
        if result.is_ready() {
            self.add_event();
        }
    }

    /// Records the complete head of a request. The request is in flight until the guard is dropped.
    pub(super) fn start_request(self: &Arc<Self>) -> InFlightRequest {
        self.add_event();
        let in_flight = self.in_flight.load(Relaxed);
        self.in_flight.store(in_flight + 1, Relaxed);
        self.had_request.store(true, Relaxed);
        self.has_partial_head.store(false, Relaxed);
        InFlightRequest(Arc::clone(self))
    }

    fn add_event(&self) {
        let events = self.events.load(Relaxed);
        self.events.store(events.wrapping_add(1), Relaxed);
    }

    fn state(&self) -> ActivityState {
        ActivityState {
            events: self.events.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            had_request: self.had_request.load(Relaxed),
            has_partial_head: self.has_partial_head.load(Relaxed),
            is_write_blocked: self.is_write_blocked.load(Relaxed),
        }
    }

    /// Waits until the connection exceeds one of its timeouts, by at most a fifth of the shorter one.
    ///
    /// The state is compared at intervals, so that a request does not read the clock. With the default
    /// timeouts, a connection costs one comparison in 6 seconds.
    pub(super) async fn timed_out(&self, timeouts: &ConnectionTimeouts) {
        let shorter = timeouts.head.min(timeouts.idle);
        let interval = (shorter / 5).max(Duration::from_millis(1));
        let mut pause = interval;
        let mut unchanged = Duration::ZERO;
        let mut last = None;
        loop {
            sleep(pause).await;
            let state = self.state();
            if last.replace(state) == Some(state) {
                unchanged = unchanged.saturating_add(pause);
            } else {
                unchanged = Duration::ZERO;
            }
            pause = match state.timeout(timeouts) {
                Some(timeout) if unchanged >= timeout => return,
                Some(timeout) => interval.min(timeout.saturating_sub(unchanged)),
                None => interval,
            };
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(super) struct InFlightRequest(Arc<Activity>);

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        self.0.add_event();
        let in_flight = self.0.in_flight.load(Relaxed);
        self.0.in_flight.store(in_flight.saturating_sub(1), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::Poll;
    use std::time::Duration;

    use tokio::time::{Instant, timeout};

    use super::{Activity, ConnectionTimeouts};

    const HEAD: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(60);
    const TIMEOUTS: ConnectionTimeouts = ConnectionTimeouts {
        head: HEAD,
        idle: IDLE,
    };

    #[tokio::test(start_paused = true)]
    async fn connection_without_activity_times_out() {
        type Prepare = fn(&Arc<Activity>);
        let silent: Prepare = |_| {};
        let answered: Prepare = |activity| drop(activity.start_request());
        let partial_head: Prepare = |activity| {
            drop(activity.start_request());
            activity.record_read();
        };
        let blocked_write: Prepare = |activity| {
            std::mem::forget(activity.start_request());
            activity.record_write(&Poll::<()>::Pending);
        };
        for (name, prepare, least) in [
            ("no request", silent, HEAD),
            ("no further request", answered, IDLE),
            ("partial head", partial_head, HEAD),
            ("blocked write", blocked_write, IDLE),
        ] {
            let activity = Arc::<Activity>::default();
            prepare(&activity);
            let start = Instant::now();
            activity.timed_out(&TIMEOUTS).await;
            let elapsed = start.elapsed();
            assert!(
                elapsed >= least && elapsed <= least + least / 5,
                "{name}: {elapsed:?}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn idle_connection_ends_at_most_a_fifth_after_its_timeout() {
        let seconds = Duration::from_secs;
        for (head, idle) in [(30, 3), (30, 40), (30, 120), (7, 65), (1, 3_600), (50, 45)] {
            let (head, idle) = (seconds(head), seconds(idle));
            let timeouts = ConnectionTimeouts { head, idle };
            for pause in [Duration::ZERO, idle / 3, idle / 2, idle - seconds(1)] {
                let activity = Arc::<Activity>::default();
                drop(activity.start_request());
                let last = async {
                    tokio::time::sleep(pause).await;
                    drop(activity.start_request());
                    std::future::pending::<()>().await;
                };
                let begin = Instant::now();
                tokio::select! {
                    () = last => {}
                    () = activity.timed_out(&timeouts) => {}
                }
                let elapsed = begin.elapsed() - pause;
                assert!(
                    elapsed >= idle && elapsed <= idle + idle / 5,
                    "{head:?}, {idle:?}, {pause:?}: {elapsed:?}"
                );
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn connection_with_activity_does_not_time_out() {
        type Act = fn(&Arc<Activity>);
        let next_request: Act = |activity| drop(activity.start_request());
        let accepted_write: Act = |activity| activity.record_write(&Poll::Ready(()));
        for act in [next_request, accepted_write] {
            let activity = Arc::<Activity>::default();
            let request = activity.start_request();
            let act = async {
                for _ in 0..100 {
                    tokio::time::sleep(HEAD / 2).await;
                    act(&activity);
                }
            };
            tokio::select! {
                () = activity.timed_out(&TIMEOUTS) => panic!("the connection timed out"),
                () = act => {}
            }
            drop(request);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn partial_head_restarts_the_timeout() {
        let activity = Arc::<Activity>::default();
        drop(activity.start_request());
        let pause = HEAD * 2 - Duration::from_millis(1);
        let start = Instant::now();
        let read = async {
            tokio::time::sleep(pause).await;
            activity.record_read();
            // Further bytes of the same head are not activity.
            loop {
                tokio::time::sleep(HEAD / 4).await;
                activity.record_read();
            }
        };
        tokio::select! {
            () = activity.timed_out(&TIMEOUTS) => {}
            () = read => {}
        }
        let elapsed = start.elapsed() - pause;
        assert!(elapsed >= HEAD && elapsed <= HEAD + HEAD / 5, "{elapsed:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn running_request_does_not_time_out() {
        let activity = Arc::<Activity>::default();
        let request = activity.start_request();
        let timed_out = timeout(100 * IDLE, activity.timed_out(&TIMEOUTS)).await;
        assert!(timed_out.is_err());
        drop(request);
        timeout(3 * IDLE, activity.timed_out(&TIMEOUTS))
            .await
            .unwrap();
    }
}
