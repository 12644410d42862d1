//! The connections of a server: their signs of life, and the one clock that looks at all of them.
//!
//! A timer in each connection would cost every one of them memory, and every request time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use atomic_waker::AtomicWaker;
use parking_lot::Mutex;
use slab::Slab;
use tokio::time::sleep;

use super::LAST_WORDS;
use crate::Shutdown;

/// The connections of a server.
#[derive(Debug, Default)]
pub(super) struct Connections {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: Slab<Entry>,
    /// What those that are still to come are told at once.
    told: u8,
    sent: Sent,
}

/// What connections have sent that are gone; what they sent long ago counts for less.
#[derive(Debug, Default)]
struct Sent {
    answers: usize,
    bytes: usize,
}

impl Sent {
    /// So many answers are remembered.
    const REMEMBERED: usize = 1024;
    /// Answers that are longer on average are not copied.
    const SHORT: usize = 16 * 1024;

    fn add(&mut self, answers: usize, bytes: usize) {
        self.answers = self.answers.saturating_add(answers);
        self.bytes = self.bytes.saturating_add(bytes);
        while self.answers > Self::REMEMBERED {
            self.answers /= 2;
            self.bytes /= 2;
        }
    }

    fn is_short(&self) -> bool {
        self.bytes <= self.answers.saturating_mul(Self::SHORT)
    }
}

#[derive(Debug)]
struct Entry {
    signs: Arc<Signs>,
    /// Requests and writes at the last look, if there was one.
    before: Option<(usize, usize)>,
    unchanged: Duration,
}

/// Where a connection leaves signs of life, and hears what it has to do. Its own task alone counts
/// here.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// Requests whose head has arrived, ever.
    requests: Count,
    /// Requests that are being answered.
    at_work: Count,
    /// Bytes have come in since the last request was answered.
    head_begun: AtomicBool,
    /// The peer does not take what is written.
    stalled: AtomicBool,
    /// Writes that the peer did take, ever, and their bytes.
    writes: Count,
    written: Count,
    /// Answers go out in one piece, into which they are copied. For long ones that is more work
    /// than it saves, so it depends on what was sent before.
    joins: AtomicBool,
    /// A long answer goes on when what there is of it has been sent.
    waits: AtomicBool,
    /// [`DRAIN`] or [`END`]; 0 while it may go on.
    told: AtomicU8,
    waker: AtomicWaker,
}

/// A number that one task changes and others read. So it is not locked when it changes, which would
/// cost every request time.
#[derive(Debug, Default)]
struct Count(AtomicUsize);

impl Count {
    fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn up(&self) {
        self.add(1);
    }

    fn add(&self, number: usize) {
        self.0
            .store(self.now().wrapping_add(number), Ordering::Relaxed);
    }

    fn down(&self) {
        self.0.store(self.now().wrapping_sub(1), Ordering::Relaxed);
    }
}

/// What a connection has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Nothing,
    /// The running request is the last one.
    Drain,
    /// It has had its time.
    End,
}

const DRAIN: u8 = 1;
const END: u8 = 2;

/// How long connections may do nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) head_timeout: Duration,
    pub(super) idle_timeout: Duration,
}

impl Connections {
    /// A connection has come. It leaves when the guest is dropped.
    pub(super) fn enter(self: &Arc<Self>) -> Guest {
        let mut state = self.state.lock();
        let signs = Arc::new(Signs {
            told: AtomicU8::new(state.told),
            joins: AtomicBool::new(state.sent.is_short()),
            ..Signs::default()
        });
        let key = state.open.insert(Entry {
            signs: Arc::clone(&signs),
            before: None,
            unchanged: Duration::ZERO,
        });
        Guest {
            connections: Arc::clone(self),
            key,
            signs,
            heard: 0,
            waker: None,
        }
    }

    /// Looks after them until `shutdown` has closed the server, and has given them time for their
    /// last words.
    pub(super) async fn tend(self: Arc<Self>, limits: Limits, shutdown: Shutdown) {
        let pause = limits.head_timeout.max(Duration::from_millis(1));
        let looking = async {
            loop {
                sleep(pause).await;
                self.look(pause, limits.idle_timeout);
            }
        };
        let telling = async {
            shutdown.draining().await;
            self.tell(DRAIN);
            shutdown.closed().await;
            sleep(LAST_WORDS).await;
            self.tell(END);
        };
        tokio::select! {
            () = looking => {}
            () = telling => {}
        }
    }

    /// Ends those that have had their time.
    fn look(&self, since_last: Duration, idle_timeout: Duration) {
        let mut state = self.state.lock();
        let over = state.open.iter_mut().map(|(_, entry)| entry);
        let over = over.filter_map(|entry| {
            let is_over = entry.is_over(since_last, idle_timeout);
            is_over.then(|| entry.signs.tell(END)).flatten()
        });
        let over: Vec<_> = over.collect();
        drop(state);
        over.into_iter().for_each(Waker::wake);
    }

    fn tell(&self, what: u8) {
        let mut state = self.state.lock();
        state.told = state.told.max(what);
        let told = state.open.iter();
        let told: Vec<_> = told
            .filter_map(|(_, entry)| entry.signs.tell(what))
            .collect();
        drop(state);
        told.into_iter().for_each(Waker::wake);
    }
}

impl Entry {
    /// A head that does not come to its end, nothing asked for too long, or an answer that is not
    /// taken.
    fn is_over(&mut self, since_last: Duration, idle_timeout: Duration) -> bool {
        let signs = &self.signs;
        let now = (signs.requests.now(), signs.writes.now());
        if self.before.replace(now) != Some(now) {
            self.unchanged = Duration::ZERO;
            return false;
        }
        self.unchanged = self.unchanged.saturating_add(since_last);
        let idle = self.unchanged >= idle_timeout;
        if signs.at_work.now() > 0 {
            return idle && signs.stalled.load(Ordering::Relaxed);
        }
        idle || now.0 == 0 || signs.head_begun.load(Ordering::Relaxed)
    }
}

/// A connection that is there.
#[derive(Debug)]
pub(super) struct Guest {
    connections: Arc<Connections>,
    key: usize,
    pub(super) signs: Arc<Signs>,
    heard: u8,
    /// The one that is to be woken.
    waker: Option<Waker>,
}

impl Guest {
    /// What it has to do. It is woken when that changes.
    pub(super) fn told(&mut self, cx: &Context<'_>) -> Told {
        loop {
            let known = self.waker.as_ref();
            if !known.is_some_and(|known| known.will_wake(cx.waker())) {
                self.signs.waker.register(cx.waker());
                self.waker = Some(cx.waker().clone());
            }
            let told = self.signs.told.load(Ordering::Acquire);
            if told == self.heard {
                break;
            }
            self.heard = told;
            // Whoever told it has taken the waker, and may have more to tell.
            self.waker = None;
        }
        match self.heard {
            DRAIN => Told::Drain,
            END => Told::End,
            _ => Told::Nothing,
        }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut state = self.connections.state.lock();
        state.open.try_remove(self.key);
        let (answers, bytes) = (self.signs.requests.now(), self.signs.written.now());
        state.sent.add(answers, bytes);
    }
}

impl Signs {
    /// Returns whom to wake, if this is news; not under a lock that the woken may take.
    fn tell(&self, what: u8) -> Option<Waker> {
        let is_news = self.told.fetch_max(what, Ordering::Release) < what;
        is_news.then(|| self.waker.take()).flatten()
    }

    pub(super) fn note_read(&self) {
        self.head_begun.store(true, Ordering::Relaxed);
    }

    pub(super) fn note_write(&self, polled: &Poll<std::io::Result<usize>>) {
        self.stalled.store(polled.is_pending(), Ordering::Relaxed);
        if let Poll::Ready(written) = polled {
            self.writes.up();
            self.written.add(*written.as_ref().unwrap_or(&0));
        }
    }

    /// Answers are to go out in one piece.
    pub(super) fn join(&self) {
        self.joins.store(true, Ordering::Relaxed);
    }

    pub(super) fn joins(&self) -> bool {
        self.joins.load(Ordering::Relaxed)
    }

    /// Everything has been sent. Tells whether an answer waits for that.
    pub(super) fn note_sent(&self) -> bool {
        let waits = self.waits.load(Ordering::Relaxed);
        if waits {
            self.waits.store(false, Ordering::Relaxed);
        }
        waits
    }
}

/// Marks its connection as busy while it lives.
pub(super) struct AtWork(Arc<Signs>);

impl AtWork {
    pub(super) fn begin(signs: &Arc<Signs>) -> Self {
        signs.requests.up();
        signs.at_work.up();
        Self(Arc::clone(signs))
    }

    /// See [`Signs::join`].
    pub(super) fn joins(&self) -> bool {
        self.0.joins()
    }

    /// There is more of the answer, which waits until what there is of it has been sent.
    pub(super) fn wait_until_sent(&self) {
        self.0.waits.store(true, Ordering::Relaxed);
    }

    /// Whoever sends it wakes the task that waits.
    pub(super) fn poll_sent(&self) -> Poll<()> {
        match self.0.waits.load(Ordering::Relaxed) {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.down();
        self.0.head_begun.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
