//! One after the other: a queue that calls wait in.

use std::collections::VecDeque;
use std::future::pending;
use std::sync::Arc;

use futures_channel::oneshot;

use parking_lot::Mutex;

#[derive(Default)]
pub(super) struct Turns(Mutex<Queue>);

#[derive(Default)]
struct Queue {
    taken: bool,
    waiting: VecDeque<oneshot::Sender<Turn>>,
}

/// It is somebody's turn until this is dropped.
pub(super) struct Turn(Arc<Turns>);

impl Turns {
    /// Waits for its turn, in the order of coming.
    pub(super) async fn next(self: &Arc<Self>) -> Turn {
        let given = {
            let mut queue = self.0.lock();
            if !queue.taken {
                queue.taken = true;
                return Turn(self.clone());
            }
            let (give, given) = oneshot::channel();
            queue.waiting.push_back(give);
            given
        };
        match given.await {
            Ok(turn) => turn,
            // Never: who has the turn gives it on.
            Err(oneshot::Canceled) => pending().await,
        }
    }

    /// The next one who still waits.
    fn pass(&self) -> Option<oneshot::Sender<Turn>> {
        let mut queue = self.0.lock();
        queue.waiting.retain(|next| !next.is_canceled());
        let next = queue.waiting.pop_front();
        queue.taken = next.is_some();
        next
    }
}

/// Whoever is given a turn and does not want it any more drops it, and so gives it on.
impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(next) = self.0.pass() {
            drop(next.send(Self(self.0.clone())));
        }
    }
}
