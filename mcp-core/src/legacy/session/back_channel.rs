//! Requests to a session's client while a call of it runs.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation>

use std::future::ready;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_channel::oneshot;
use futures_util::future::BoxFuture;
use mcp_types::{Cancelled, InputRequest, InputResponse, Meta, RequestId};

use super::sent_request::SentRequest;
use super::{Session, SessionLimits, SessionState};
use crate::call::{BackChannel, BackChannelError, Input, MessageSink};
use crate::legacy::pending::{InsertError, PendingRequests, RequestIds};
use crate::message::{ClientResponse, Fault, ServerNotification, ServerRequest};
use crate::observe::Observation;
use crate::wire::{self, ServerRequestContext};

impl BackChannel for Session {
    fn ask(
        self: Arc<Self>,
        request: InputRequest,
        sink: Arc<dyn MessageSink>,
    ) -> BoxFuture<'static, Result<InputResponse, BackChannelError>> {
        if !self.can_be_asked {
            let fault =
                Fault::Refused("the client declares no capabilities, so it cannot be asked".into());
            return Box::pin(ready(Err(BackChannelError::Refused(fault))));
        }
        // spec: HTTP-SL-04
        let pending = self.send_request(request.into(), &sink);
        Box::pin(async move {
            match pending?.wait().await? {
                ClientResponse::Input(response) => Ok(response),
                ClientResponse::Fault(fault) => Err(BackChannelError::Refused(fault)),
                ClientResponse::Pong => Err(BackChannelError::Malformed("no input".to_owned())),
            }
        })
    }

    fn topic(&self) -> Option<Arc<str>> {
        self.topic()
    }
}

/// A future that resolves to the client's response. Dropping it cancels the request.
struct PendingResponse {
    session: Arc<Session>,
    id: RequestId,
    response: oneshot::Receiver<Result<ClientResponse, BackChannelError>>,
    /// `None` without an observer, and after the response.
    observation: Option<Box<dyn Observation>>,
}

impl PendingResponse {
    async fn wait(mut self) -> Result<ClientResponse, BackChannelError> {
        let response = (&mut self.response).await;
        let response = response.unwrap_or(Err(BackChannelError::Closed));
        if let Some(observation) = self.observation.take() {
            end_observation(observation, &response);
        }
        response
    }
}

fn end_observation(
    observation: Box<dyn Observation>,
    response: &Result<ClientResponse, BackChannelError>,
) {
    match response {
        Ok(ClientResponse::Fault(fault)) | Err(BackChannelError::Refused(fault)) => {
            observation.end(Err(fault));
        }
        Ok(_) => observation.end(Ok(())),
        Err(BackChannelError::TimedOut) => observation.end(Err(&Fault::Deadline)),
        Err(error) => observation.end(Err(&Fault::internal(error.to_string()))),
    }
}

impl Drop for PendingResponse {
    fn drop(&mut self) {
        self.session
            .withdraw(&self.id, "the server no longer needs the answer");
    }
}

/// The stream of calls whose client cannot be asked.
impl MessageSink for Session {
    fn send(&self, _: Bytes) -> bool {
        false
    }
}

impl Session {
    /// Returns false for a client without capabilities. Questions to it are refused before they are sent,
    /// so its calls need no stream: the session itself can be the sink of their
    /// [`input`](Self::input).
    pub fn can_be_asked(&self) -> bool {
        self.can_be_asked
    }

    /// Returns the input of a call that asks its client on `sink`, that call's stream.
    pub fn input(self: &Arc<Self>, sink: Arc<dyn MessageSink>) -> Input {
        let channel: Arc<dyn BackChannel> = self.clone();
        Input::Live { channel, sink }
    }

    /// Sends a request to the client.
    ///
    /// # Errors
    ///
    /// Returns [`BackChannelError`] when the request cannot be sent: the session is closed, the
    /// limit of pending requests is reached, or the client does not support the request.
    fn send_request(
        self: &Arc<Self>,
        request: ServerRequest,
        sink: &Arc<dyn MessageSink>,
    ) -> Result<PendingResponse, BackChannelError> {
        let request = Arc::new(request);
        let (sender, response) = oneshot::channel();
        let now = (self.limits.clock)();
        let sent = SentRequest {
            request: request.clone(),
            response: sender,
            sink: sink.clone(),
        };
        let inserted = {
            let mut state = self.state.lock();
            let table = state.sent_requests(&self.limits);
            table.insert(now, self.limits.timeouts(), sent)
        };
        let id = inserted.map_err(|error| match error {
            InsertError::Closed => BackChannelError::Closed,
            InsertError::Full => BackChannelError::Busy,
        })?;
        let token = id.clone().into();
        let facts = self.facts();
        let mut context = ServerRequestContext::new(&id);
        context.capabilities = Some(&facts.capabilities);
        context.progress_token = Some(&token);
        let observer = self.observer.as_ref();
        let observation = observer.map(|observer| observer.send(&id, &request));
        let meta = observation
            .as_ref()
            .map(|observation| observation.inject(Meta::default()));
        context.meta = meta.as_ref();
        let message = match wire::write_server_request(&request, &context, self.version) {
            Ok(message) => message,
            Err(fault) => {
                self.remove_sent(&id);
                return Err(BackChannelError::Refused(fault));
            }
        };
        if !sink.send(message.into()) {
            self.remove_sent(&id);
            return Err(BackChannelError::Closed);
        }
        Ok(PendingResponse {
            session: self.clone(),
            id,
            response,
            observation,
        })
    }

    /// Returns true if this session has sent a request under this id. A response to it is late
    /// rather than foreign.
    pub fn has_sent(&self, id: &RequestId) -> bool {
        let state = self.state.lock();
        let sent = state.sent.as_ref();
        sent.is_some_and(|sent| sent.ids().contains(id))
    }

    /// Returns the number of the last request to the client, for
    /// [`SessionLimits::request_ids_after`] of a session that replaces this one on the same
    /// connection. A late response then belongs to no request of the new session.
    pub fn last_request_number(&self) -> i64 {
        let state = self.state.lock();
        let sent = state.sent.as_ref();
        sent.map_or(self.limits.request_ids_after, |sent| sent.ids().last())
    }

    pub(super) fn remove_sent(&self, id: &RequestId) -> Option<SentRequest> {
        self.state.lock().sent.as_mut()?.remove(id)
    }

    /// Cancels a request to the client, unless it was answered.
    fn withdraw(&self, id: &RequestId, reason: &str) {
        if let Some(sent) = self.remove_sent(id) {
            self.send_cancellation(&sent, id, reason);
        }
    }

    /// Sends `notifications/cancelled` for a request to the client.
    // spec: CAN-01
    fn send_cancellation(&self, sent: &SentRequest, id: &RequestId, reason: &str) {
        let mut cancelled = Cancelled::from(id.clone());
        cancelled.reason = Some(reason.to_owned());
        let notification = ServerNotification::Cancelled(cancelled);
        let mut message = Vec::new();
        if self.encode_notification(&notification, &mut message) {
            sent.sink.send(message.into());
        }
    }

    /// Cancels the requests to the client whose time is up. Call it at
    /// [`next_deadline`](Self::next_deadline).
    // spec: LIFE-12
    pub fn expire_requests(&self) {
        let next = || {
            let mut state = self.state.lock();
            state.sent.as_mut()?.pop_expired((self.limits.clock)())
        };
        while let Some((id, sent)) = next() {
            self.send_cancellation(&sent, &id, "the answer took too long");
            sent.settle(Err(BackChannelError::TimedOut));
        }
    }

    /// Returns the earliest deadline of a request to the client.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.state.lock().sent.as_ref()?.next_deadline()
    }

    /// Closes the session: pending requests to the client fail, and no others are sent.
    pub fn close(&self) {
        if let Some(observer) = &self.observer {
            observer.close();
        }
        let sent = self.state.lock().sent_requests(&self.limits).close();
        for (_, sent) in sent {
            sent.settle(Err(BackChannelError::Closed));
        }
    }
}

impl SessionState {
    fn sent_requests(&mut self, limits: &SessionLimits) -> &mut PendingRequests<SentRequest> {
        self.sent.get_or_insert_with(|| {
            let ids = RequestIds::starting_after(limits.request_ids_after);
            Box::new(PendingRequests::new(limits.pending_requests, ids))
        })
    }
}
