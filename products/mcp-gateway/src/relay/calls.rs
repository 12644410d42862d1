//! Requests of the client that wait for their responses.

use std::collections::HashMap;
use std::pin::Pin;

use futures_util::stream::{self, SelectAll};
use futures_util::{Stream, StreamExt};
use mcp_core::{ChannelError, Frame, Frames, OutgoingRequest};
use mcp_types::RequestId;
use tokio::sync::oneshot;

/// A request that was sent to the server.
pub(super) struct PendingCall {
    pub(super) request: OutgoingRequest,
    /// The session's renewals before the request was sent.
    pub(super) renewals: u64,
    /// The request was sent before: without the headers of its arguments, or in a session that is lost.
    pub(super) is_repeated: bool,
    /// Dropping it ends the call's stream and so cancels the request.
    _cancel: oneshot::Sender<()>,
}

/// A message of a call. `None`: its messages have ended.
pub(super) type CallMessage = Option<Result<Frame, ChannelError>>;

type CallMessages = Pin<Box<dyn Stream<Item = (RequestId, CallMessage)> + Send>>;

/// The calls that wait for their responses, by the id that the client has chosen.
#[derive(Default)]
pub(super) struct Calls {
    /// Without a response from the server, removing a call cancels it.
    pub(super) pending: HashMap<RequestId, PendingCall>,
    events: SelectAll<CallMessages>,
}

impl Calls {
    /// Adds a call, whose messages are `frames`.
    pub(super) fn start(
        &mut self,
        request: OutgoingRequest,
        frames: Frames,
        renewals: u64,
        is_repeated: bool,
    ) {
        let (cancel, cancelled) = oneshot::channel();
        let id = request.id.clone();
        let named = id.clone();
        let events = frames.map(Some).chain(stream::once(async { None }));
        let events = events.map(move |event| (named.clone(), event));
        self.events.push(Box::pin(events.take_until(cancelled)));
        let call = PendingCall {
            request,
            renewals,
            is_repeated,
            _cancel: cancel,
        };
        self.pending.insert(id, call);
    }

    /// Returns the next event of a call that is still pending. Waits forever without calls.
    pub(super) async fn next(&mut self) -> (RequestId, CallMessage) {
        loop {
            match self.events.next().await {
                Some((id, event)) if self.pending.contains_key(&id) => return (id, event),
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}
