//! The calls that run on a pipe: begun, finished, cancelled.

use std::collections::HashMap;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::BoxFuture;
use mcp_core::wire::EncodedReply;
use mcp_core::{CallOutput, RunningCall};
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
    /// Of the same kind as those of the pipe, whose code a program has already.
    tasks: JoinSet<io::Result<()>>,
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
    pub(super) fn begin(&mut self, mut running: RunningCall) {
        let Some(unsent) = self.work_at_once(&mut running) else {
            return;
        };
        let id = running.target().id.clone();
        let permit = Permit::default();
        let work = work(running, unsent, self.outbox.clone(), permit.clone());
        let work: BoxFuture<'static, _> = Box::pin(work.in_current_span());
        let task = self.tasks.spawn(work);
        self.ids.insert(task.id(), id.clone());
        self.by_id.insert(id, Entry { task, permit });
    }

    /// Works on a call as far as it goes. `None` when it is answered; else what has to wait for room,
    /// if anything.
    fn work_at_once(&self, running: &mut RunningCall) -> Option<Poll<CallOutput>> {
        // The task polls again as soon as it is there: nobody has to be woken before.
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            match running.poll_output(&mut cx, true) {
                Poll::Ready(CallOutput::Notifications(notes))
                    if self.outbox.send_now(&[as_line(&notes)]) => {}
                Poll::Ready(CallOutput::Reply(text)) if self.outbox.send_now(&pieces(&text)) => {
                    return None;
                }
                unsent => return Some(unsent),
            }
        }
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
async fn work(
    mut running: RunningCall,
    mut unsent: Poll<CallOutput>,
    outbox: Arc<Outbox>,
    permit: Permit,
) -> io::Result<()> {
    loop {
        let said = match std::mem::replace(&mut unsent, Poll::Pending) {
            Poll::Ready(said) => said,
            Poll::Pending => poll_fn(|cx| running.poll_output(cx, true)).await,
        };
        match said {
            CallOutput::Notifications(notes) => {
                send_notes(&mut running, &notes, &outbox, &permit).await?
            }
            CallOutput::Reply(text) => return Ok(outbox.send(&pieces(&text), &permit).await?),
            _ => {}
        }
    }
}

fn pieces(text: &EncodedReply) -> [&[u8]; 3] {
    [&text.head, &text.shared, &text.tail]
}

/// Notifications without the end of their last line: the outbox ends every message itself.
fn as_line(notes: &Bytes) -> &[u8] {
    notes.strip_suffix(b"\n").unwrap_or(notes)
}

/// Sends notifications while the call goes on: a client that does not read holds up what it would
/// read, and nothing else.
async fn send_notes(
    running: &mut RunningCall,
    notes: &Bytes,
    outbox: &Outbox,
    permit: &Permit,
) -> Result<(), Ended> {
    let pieces = [as_line(notes)];
    let mut sent = pin!(outbox.send(&pieces, permit));
    let mut stalled = None;
    poll_fn(|cx| {
        if let Poll::Ready(sent) = sent.as_mut().poll(cx) {
            return Poll::Ready(sent);
        }
        let timer = stalled.get_or_insert_with(|| Box::pin(sleep(STALL_AFTER)));
        if timer.as_mut().poll(cx).is_ready() {
            running.mark_stalled();
        }
        // Says nothing while its notes are not taken.
        let _ = running.poll_output(cx, false);
        Poll::Pending
    })
    .await
}
