//! The running calls of a pipe.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use mcp_core::{CallOutput, Fault, RunningCall, catch_panic_sync};
use mcp_types::{ProtocolVersion, RequestId};
use tokio::runtime::Handle;
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{sleep, timeout};
use tracing::Instrument;

use crate::write_queue::{EndFlag, QueueClosed, WriteQueue};

/// Time without reads by the client after which handlers no longer wait for their notifications.
const STALL_AFTER: Duration = Duration::from_secs(1);

/// Time in which a call may end before the limit refuses another one. Calls that are ready at once end
/// after microseconds, but a client may send them faster than they run.
const SLOT_WAIT: Duration = Duration::from_millis(50);

/// The running calls, each in its own task of the handlers' runtime.
#[derive(Debug)]
pub(super) struct Calls {
    queue: Arc<WriteQueue>,
    handlers: Handle,
    tasks: JoinSet<Result<(), QueueClosed>>,
    by_id: HashMap<RequestId, CallTask>,
    ids: HashMap<Id, RequestId>,
    /// No call has ended in the last wait for one. Further calls are refused without a wait.
    is_stalled: bool,
}

#[derive(Debug)]
struct CallTask {
    handle: AbortHandle,
    ended: EndFlag,
}

impl Calls {
    /// User code runs in tasks of `handlers`.
    pub(super) fn new(queue: Arc<WriteQueue>, handlers: Handle) -> Self {
        Self {
            queue,
            handlers,
            tasks: JoinSet::new(),
            by_id: HashMap::new(),
            ids: HashMap::new(),
            is_stalled: false,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    /// The number of running calls and handlers of notifications.
    pub(super) fn tasks(&self) -> usize {
        self.tasks.len()
    }

    /// Waits shortly for the end of a call if there are `limit` tasks.
    pub(super) async fn wait_for_slot(&mut self, limit: usize) {
        if self.tasks.len() >= limit && !self.is_stalled {
            self.is_stalled = timeout(SLOT_WAIT, self.next_ended()).await.is_err();
        }
    }

    /// Spawns a task for the handler of a notification.
    pub(super) fn start_notification(
        &mut self,
        handling: impl Future<Output = ()> + Send + 'static,
    ) {
        let handling = async move {
            handling.await;
            Ok(())
        };
        self.tasks
            .spawn_on(handling.in_current_span(), &self.handlers);
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        self.by_id
            .get(id)
            .is_some_and(|call| !call.ended.is_ended())
    }

    /// Spawns a task for a call, which `start` starts in this task.
    pub(super) fn start(
        &mut self,
        id: RequestId,
        start: impl FnOnce() -> RunningCall + Send + 'static,
    ) {
        let ended = EndFlag::default();
        let run = start_and_run(id.clone(), start, self.queue.clone(), ended.clone());
        let handle = self.tasks.spawn_on(run.in_current_span(), &self.handlers);
        self.ids.insert(handle.id(), id.clone());
        if let Some(answered) = self.by_id.insert(id, CallTask { handle, ended }) {
            self.ids.remove(&answered.handle.id());
        }
    }

    /// Cancels a call: its future is dropped, and no further message is sent for it. Returns whether
    /// the call was running.
    // spec: STDIO-11, CAN-04, CAN-05
    pub(super) fn cancel(&mut self, id: &RequestId) -> bool {
        let Some(call) = self.by_id.remove(id) else {
            return false;
        };
        let ran = !call.ended.is_ended();
        self.queue.cancel(&call.ended);
        self.ids.remove(&call.handle.id());
        call.handle.abort();
        ran
    }

    /// Waits for the end of a call. Returns `None` when no call runs.
    pub(super) async fn next_ended(&mut self) -> Option<()> {
        let id = match self.tasks.join_next_with_id().await? {
            Ok((id, _)) => id,
            Err(error) => error.id(),
        };
        self.is_stalled = false;
        // A cancelled call is removed already, and its request id may be in use again.
        if let Some(id) = self.ids.remove(&id) {
            self.by_id.remove(&id);
        }
        Some(())
    }

    /// Cancels the calls whose handlers run, and returns their number. Replies that wait for space in the queue
    /// remain.
    pub(super) fn cancel_running(&self) -> usize {
        let calls = self.by_id.values();
        let running = calls.filter(|call| call.ended.is_running());
        running.inspect(|call| call.handle.abort()).count()
    }

    /// Waits until no call runs.
    pub(super) async fn all_ended(&mut self) {
        while self.next_ended().await.is_some() {}
    }
}

/// Starts a call and drives it to its end. A service panic at the start, for example in its observer, is
/// answered with an error.
async fn start_and_run(
    id: RequestId,
    start: impl FnOnce() -> RunningCall,
    queue: Arc<WriteQueue>,
    ended: EndFlag,
) -> Result<(), QueueClosed> {
    match catch_panic_sync(start) {
        Ok(running) => run(running, queue, ended).await,
        Err(panic) => {
            tracing::error!(panic = %mcp_types::escaped(&panic), "a request was not handled");
            let fault = Fault::internal("internal error");
            let reply = fault.encode(Some(&id), ProtocolVersion::LATEST);
            queue.send_reply(&[&reply], &ended).await
        }
    }
}

/// Drives a call until it is answered, and sends its output.
async fn run(
    mut running: RunningCall,
    queue: Arc<WriteQueue>,
    ended: EndFlag,
) -> Result<(), QueueClosed> {
    loop {
        match poll_fn(|cx| running.poll_output(cx, true)).await {
            CallOutput::Notifications(notifications) => {
                send_notifications(&mut running, &notifications, &queue, &ended).await?
            }
            CallOutput::Reply(reply) => {
                let pieces = [&*reply.head, &*reply.shared, &*reply.tail];
                return queue.send_reply(&pieces, &ended).await;
            }
            _ => {}
        }
    }
}

/// Sends notifications while the call keeps running: a client that does not read delays its
/// notifications, but not the handler.
async fn send_notifications(
    running: &mut RunningCall,
    notifications: &Bytes,
    queue: &WriteQueue,
    ended: &EndFlag,
) -> Result<(), QueueClosed> {
    // The queue itself appends the last line feed.
    let pieces = [notifications.strip_suffix(b"\n").unwrap_or(notifications)];
    let mut sent = pin!(queue.send(&pieces, ended));
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
