//! The running calls of a pipe.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::Bytes;
use mcp_core::wire::EncodedReply;
use mcp_core::{BoxFuture, CallOutput, RunningCall};
use mcp_types::RequestId;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::sleep;
use tracing::Instrument;

use crate::write_queue::{CancelFlag, QueueClosed, WriteQueue};

/// Time without reads by the client after which handlers no longer wait for their notifications.
const STALL_AFTER: Duration = Duration::from_secs(1);

/// The calls that were not ready at their first poll, each in its own task.
#[derive(Debug)]
pub(super) struct Calls {
    queue: Arc<WriteQueue>,
    tasks: JoinSet<Result<(), QueueClosed>>,
    by_id: HashMap<RequestId, CallTask>,
    ids: HashMap<Id, RequestId>,
}

#[derive(Debug)]
struct CallTask {
    handle: AbortHandle,
    cancelled: CancelFlag,
}

impl Calls {
    pub(super) fn new(queue: Arc<WriteQueue>) -> Self {
        Self {
            queue,
            tasks: JoinSet::new(),
            by_id: HashMap::new(),
            ids: HashMap::new(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The number of calls and handlers of notifications that run in tasks.
    pub(super) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Polls the handler of a notification once. When it is not ready, spawns a task for it.
    pub(super) fn start_notification(&mut self, mut handling: BoxFuture<'static, ()>) {
        let mut cx = Context::from_waker(Waker::noop());
        if handling.as_mut().poll(&mut cx).is_pending() {
            let handling = async move {
                handling.await;
                Ok(())
            };
            self.tasks.spawn(handling.in_current_span());
        }
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.by_id.contains_key(id)
    }

    /// Polls a call once. When it is not ready, or its output does not fit into the queue, spawns a
    /// task for it.
    pub(super) fn start(&mut self, mut running: RunningCall) {
        let Some(unsent) = self.poll_once(&mut running) else {
            return;
        };
        let id = running.target().id.clone();
        let cancelled = CancelFlag::default();
        let run = run(running, unsent, self.queue.clone(), cancelled.clone());
        let handle = self.tasks.spawn(run.in_current_span());
        self.ids.insert(handle.id(), id.clone());
        self.by_id.insert(id, CallTask { handle, cancelled });
    }

    /// Polls a call until it is pending. Returns `None` when it is answered, otherwise the output
    /// that does not fit into the queue, or `Pending`.
    fn poll_once(&self, running: &mut RunningCall) -> Option<Poll<CallOutput>> {
        // No waker is needed: the task polls the call again as soon as it starts.
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            match running.poll_output(&mut cx, true) {
                Poll::Ready(CallOutput::Notifications(notifications))
                    if self.queue.try_send(&[without_line_feed(&notifications)]) => {}
                Poll::Ready(CallOutput::Reply(reply)) if self.queue.try_send(&pieces(&reply)) => {
                    return None;
                }
                unsent => return Some(unsent),
            }
        }
    }

    /// Cancels a call: its future is dropped, and no further message is sent for it. Returns whether
    /// the call was running.
    // spec: STDIO-11, CAN-04, CAN-05
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let Some(call) = self.by_id.remove(id) else {
            return false;
        };
        self.queue.cancel(&call.cancelled);
        self.ids.remove(&call.handle.id());
        call.handle.abort();
        true
    }

    /// Waits for the end of a call. Returns `None` when no call runs.
    pub(super) async fn next_ended(&mut self) -> Option<()> {
        let id = match self.tasks.join_next_with_id().await? {
            Ok((id, _)) => id,
            Err(error) => error.id(),
        };
        // A cancelled call is removed already, and its request id may be in use again.
        if let Some(id) = self.ids.remove(&id) {
            self.by_id.remove(&id);
        }
        Some(())
    }

    /// Waits until no call runs.
    pub(super) async fn all_ended(&mut self) {
        while self.next_ended().await.is_some() {}
    }
}

/// Drives a call until it is answered, and sends its output.
async fn run(
    mut running: RunningCall,
    mut unsent: Poll<CallOutput>,
    queue: Arc<WriteQueue>,
    cancelled: CancelFlag,
) -> Result<(), QueueClosed> {
    loop {
        let output = match std::mem::replace(&mut unsent, Poll::Pending) {
            Poll::Ready(output) => output,
            Poll::Pending => poll_fn(|cx| running.poll_output(cx, true)).await,
        };
        match output {
            CallOutput::Notifications(notifications) => {
                send_notifications(&mut running, &notifications, &queue, &cancelled).await?
            }
            CallOutput::Reply(reply) => return queue.send(&pieces(&reply), &cancelled).await,
            _ => {}
        }
    }
}

fn pieces(reply: &EncodedReply) -> [&[u8]; 3] {
    [&reply.head, &reply.shared, &reply.tail]
}

/// Removes the last line feed, which the queue appends itself.
fn without_line_feed(notifications: &Bytes) -> &[u8] {
    notifications.strip_suffix(b"\n").unwrap_or(notifications)
}

/// Sends notifications while the call keeps running: a client that does not read delays its
/// notifications, but not the handler.
async fn send_notifications(
    running: &mut RunningCall,
    notifications: &Bytes,
    queue: &WriteQueue,
    cancelled: &CancelFlag,
) -> Result<(), QueueClosed> {
    let pieces = [without_line_feed(notifications)];
    let mut sent = pin!(queue.send(&pieces, cancelled));
    let mut stalled = None;
    poll_fn(|cx| {
        if let Poll::Ready(sent) = sent.as_mut().poll(cx) {
            return Poll::Ready(sent);
        }
        let timer = stalled.get_or_insert_with(|| Box::pin(sleep(STALL_AFTER)));
        if timer.as_mut().poll(cx).is_ready() {
            running.mark_stalled();
        }
        // Without permission to output, the call returns nothing here.
        let _ = running.poll_output(cx, false);
        Poll::Pending
    })
    .await
}
