//! What waits to be written to a pipe: one bounded buffer, which the writer empties whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{Mutex as Turns, Notify};

/// Messages on their way to the writer.
///
/// Overflow: whoever [sends](Self::send) waits for room, in the order of arrival. What cannot wait
/// is [pushed](Self::push); it is bounded by what it belongs to.
#[derive(Debug)]
pub(crate) struct Outbox {
    limit: usize,
    state: Mutex<State>,
    /// Whoever holds it is the next to send.
    turn: Turns<()>,
    /// There is something for the writer.
    filled: Notify,
    /// The writer has taken what was there.
    taken: Notify,
}

#[derive(Debug, Default)]
struct State {
    bytes: Vec<u8>,
    phase: Phase,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    /// Nothing comes in any more; what is there is still written.
    Ending,
    /// Nobody writes any more.
    Broken,
}

/// Nothing can be sent any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended;

#[cfg(feature = "server")]
impl From<Ended> for std::io::Error {
    fn from(Ended: Ended) -> Self {
        std::io::ErrorKind::BrokenPipe.into()
    }
}

/// The permission of one call to send. Clones are the same permission.
#[derive(Debug, Clone, Default)]
pub(crate) struct Permit(Arc<AtomicBool>);

impl Permit {
    fn is_revoked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Outbox {
    /// An empty outbox. Once it holds `limit` bytes, senders wait.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
            turn: Turns::new(()),
            filled: Notify::new(),
            taken: Notify::new(),
        }
    }

    /// Sends a message, given in pieces, when there is room. A revoked permit sends nothing.
    pub(crate) async fn send(&self, pieces: &[&[u8]], permit: &Permit) -> Result<(), Ended> {
        let _turn = self.turn.lock().await;
        let mut state = self.open_with_room().await?;
        if !permit.is_revoked() {
            self.append(&mut state, pieces);
        }
        Ok(())
    }

    /// Waits until there is room.
    #[cfg(feature = "server")]
    pub(crate) async fn room(&self) -> Result<(), Ended> {
        let _turn = self.turn.lock().await;
        self.open_with_room().await.map(drop)
    }

    async fn open_with_room(&self) -> Result<MutexGuard<'_, State>, Ended> {
        loop {
            {
                let state = self.state.lock();
                if state.phase != Phase::Open {
                    return Err(Ended);
                }
                if state.bytes.len() < self.limit {
                    return Ok(state);
                }
            }
            self.taken.notified().await;
        }
    }

    /// Sends a message if there is room and nobody waits for it. Tells whether that is done: once
    /// nobody writes any more there is nothing to do.
    #[cfg(feature = "server")]
    pub(crate) fn send_now(&self, pieces: &[&[u8]]) -> bool {
        let Ok(_turn) = self.turn.try_lock() else {
            return false;
        };
        let mut state = self.state.lock();
        let is_open = state.phase == Phase::Open;
        if is_open && state.bytes.len() >= self.limit {
            return false;
        }
        if is_open {
            self.append(&mut state, pieces);
        }
        true
    }

    /// Sends a message that cannot wait for room.
    pub(crate) fn push(&self, message: &[u8]) -> Result<(), Ended> {
        let mut state = self.state.lock();
        if state.phase != Phase::Open {
            return Err(Ended);
        }
        self.append(&mut state, &[message]);
        Ok(())
    }

    /// Nothing is sent under this permit any more, not even by a call that is just about to.
    // spec: STDIO-11
    #[cfg(feature = "server")]
    pub(crate) fn revoke(&self, permit: &Permit) {
        let _state = self.state.lock();
        permit.0.store(true, Ordering::Relaxed);
    }

    // spec: STDIO-02
    fn append(&self, state: &mut State, pieces: &[&[u8]]) {
        if pieces.iter().all(|piece| piece.is_empty()) {
            return;
        }
        for piece in pieces {
            state.bytes.extend_from_slice(piece);
        }
        state.bytes.push(b'\n');
        self.filled.notify_one();
    }

    /// Waits for messages and exchanges all of them for `empty`; `false` when there are none and
    /// none will come.
    pub(crate) async fn take(&self, empty: &mut Vec<u8>) -> bool {
        loop {
            {
                let mut state = self.state.lock();
                if !state.bytes.is_empty() {
                    std::mem::swap(&mut state.bytes, empty);
                    self.taken.notify_one();
                    return true;
                }
                if state.phase != Phase::Open {
                    return false;
                }
            }
            self.filled.notified().await;
        }
    }

    /// Takes nothing in any more; what is there is still written.
    pub(crate) fn end(&self) {
        self.enter(Phase::Ending);
    }

    /// Nobody writes any more: nothing is kept, nobody waits.
    pub(crate) fn break_off(&self) {
        self.enter(Phase::Broken);
        self.state.lock().bytes = Vec::new();
    }

    fn enter(&self, phase: Phase) {
        let mut state = self.state.lock();
        if state.phase != Phase::Broken {
            state.phase = phase;
        }
        drop(state);
        self.filled.notify_one();
        self.taken.notify_one();
    }
}

#[cfg(test)]
mod tests;
