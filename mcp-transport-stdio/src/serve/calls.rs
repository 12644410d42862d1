//! The calls that run on a pipe: begun, finished, cancelled.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::front::{Running, Step};
use mcp_core::wire::Encoded;
use mcp_types::RequestId;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::sleep;
use tracing::Instrument;

use crate::outbox::{Ended, Outbox, Permit};

/// How long a client may take nothing before reports of progress stop waiting for it.
const STALL_AFTER: Duration = Duration::from_secs(1);

/// The calls that were not ready when they were begun.
#[derive(Debug)]
pub(super) struct Calls {
    outbox: Arc<Outbox>,
    tasks: JoinSet<Result<(), Ended>>,
    by_id: HashMap<RequestId, Entry>,
    ids: HashMap<Id, RequestId>,
}

#[derive(Debug)]
struct Entry {
    task: AbortHandle,
    permit: Permit,
}

impl Calls {
    pub(super) fn new(outbox: Arc<Outbox>) -> Self {
        Self {
            outbox,
            tasks: JoinSet::new(),
            by_id: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn has(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Works on a call: at once, and in a task of its own from there on if it is not ready.
    pub(super) fn begin(&mut self, id: RequestId, running: Running) {
        let permit = Permit::default();
        let mut work = Box::pin(work(running, self.outbox.clone(), permit.clone()));
        // The task polls again as soon as it is there: nobody has to be woken before.
        let mut cx = Context::from_waker(Waker::noop());
        if work.as_mut().poll(&mut cx).is_ready() {
            return;
        }
        let task = self.tasks.spawn(work.in_current_span());
        self.ids.insert(task.id(), id.clone());
        self.by_id.insert(id, Entry { task, permit });
    }

    /// Cancels a call: its future is dropped, and nothing more is sent for it. Calls that are
    /// unknown, or done, are left alone. Tells whether it ran.
    // spec: STDIO-11, CAN-04, CAN-05
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let Some(entry) = self.by_id.remove(id) else {
            return false;
        };
        self.outbox.revoke(&entry.permit);
        self.ids.remove(&entry.task.id());
        entry.task.abort();
        true
    }

    /// Waits for the end of a task; `None` when none runs.
    pub(super) async fn next_end(&mut self) -> Option<()> {
        let id = match self.tasks.join_next_with_id().await? {
            Ok((id, _)) => id,
            Err(error) => error.id(),
        };
        // A cancelled call has left already, and its request id may be in use again.
        if let Some(id) = self.ids.remove(&id) {
            self.by_id.remove(&id);
        }
        Some(())
    }

    /// Waits until no call runs.
    pub(super) async fn all_ended(&mut self) {
        while self.next_end().await.is_some() {}
    }
}

/// Works on a call until it is answered, and sends what it says. When nobody reads any more, there
/// is nobody to tell.
async fn work(mut running: Running, outbox: Arc<Outbox>, permit: Permit) -> Result<(), Ended> {
    loop {
        match poll_fn(|cx| running.poll_step(cx, true)).await {
            Step::Notes(notes) => send_notes(&mut running, &notes, &outbox, &permit).await?,
            Step::Answer(Encoded {
                head, shared, tail, ..
            }) => return outbox.send(&[&head, &shared, &tail], &permit).await,
            _ => {}
        }
    }
}

/// Sends notifications while the call goes on: a client that does not read holds up what it would
/// read, and nothing else.
async fn send_notes(
    running: &mut Running,
    notes: &Bytes,
    outbox: &Outbox,
    permit: &Permit,
) -> Result<(), Ended> {
    // The outbox ends every message itself.
    let text = notes.strip_suffix(b"\n").unwrap_or(notes);
    if text.is_empty() {
        return Ok(());
    }
    let pieces = [text];
    let mut sent = pin!(outbox.send(&pieces, permit));
    let mut stalled = None;
    poll_fn(|cx| {
        if let Poll::Ready(sent) = sent.as_mut().poll(cx) {
            return Poll::Ready(sent);
        }
        let timer = stalled.get_or_insert_with(|| Box::pin(sleep(STALL_AFTER)));
        if timer.as_mut().poll(cx).is_ready() {
            running.stall();
        }
        // Says nothing while its notes are not taken.
        let _ = running.poll_step(cx, false);
        Poll::Pending
    })
    .await
}
