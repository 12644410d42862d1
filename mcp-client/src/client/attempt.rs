//! One request: encoding, sending, and waiting for its response. The caller interprets the reply.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use http::{HeaderMap, StatusCode};
use mcp_core::wire::ClientRequestContext;
use mcp_core::{
    ChannelError, ClientRequest, Frame, Frames, InputState, NotificationSender, Observation,
    OutgoingRequest, Reply, ServerNotification,
};
use mcp_types::{Message, Notification, ProgressToken, ProtocolVersion, RequestId, Response};
use tokio::time::{timeout, timeout_at};
use tracing::Instrument;

use super::{Client, ClientInner};
use crate::error::ErrorKind;
use crate::error::outcome::fault_may_have_run;
use crate::notifications::QueuedNotification;
use crate::options::{CallOptions, CallTimer};

/// Sends one request in `version` with default options.
pub(crate) async fn send_once(
    client: &Client,
    request: &ClientRequest,
    version: ProtocolVersion,
    idle_timeout: Option<Duration>,
) -> Result<ReceivedReply, ErrorKind> {
    let attempt = Attempt {
        client,
        request,
        version,
        options: &mut CallOptions::default(),
        timer: &mut CallTimer::start(client.inner.timeouts, idle_timeout, None),
        input: None,
        notifications: None,
        number: client.inner.next_id(),
    };
    attempt.run().await
}

/// One request with everything that it needs.
pub(crate) struct Attempt<'r, 'a> {
    pub(crate) client: &'r Client,
    pub(crate) request: &'r ClientRequest,
    pub(crate) version: ProtocolVersion,
    pub(crate) options: &'r mut CallOptions<'a>,
    pub(crate) timer: &'r mut CallTimer,
    pub(crate) input: Option<&'r InputState>,
    /// The notifications through which layers map the call's notifications.
    pub(crate) notifications: Option<&'r NotificationSender>,
    /// The request id.
    pub(crate) number: i64,
}

/// The reply to one request.
pub(crate) struct ReceivedReply {
    pub(crate) reply: Reply,
    /// The reply's message. Empty when a layer replies.
    pub(crate) frame: Frame,
    /// A layer has replaced the outcome of a request that the server may have executed.
    pub(crate) hides_execution: bool,
}

impl ReceivedReply {
    /// Wraps the reply of a client layer.
    pub(crate) fn of_layer(reply: Reply, hides_execution: bool) -> Self {
        Self {
            reply,
            frame: Frame::default(),
            hides_execution,
        }
    }

    /// Returns whether the server may have executed the call. False for a request for input, before which
    /// the server does nothing.
    pub(crate) fn may_have_run(&self) -> bool {
        self.hides_execution
            || match &self.reply {
                Reply::InputRequired(_) => false,
                Reply::Fault(fault) => fault_may_have_run(fault, self.frame.status),
                _ => true,
            }
    }
}

impl Attempt<'_, '_> {
    /// Sends the request and waits for its response. The observer of the client sees requests that its
    /// layers do not see.
    pub(crate) async fn run(self) -> Result<ReceivedReply, ErrorKind> {
        let (inner, id) = (&self.client.inner, RequestId::from(self.number));
        let meta = &mut self.options.meta;
        match inner.observe_request(self.request, &id, self.version, meta) {
            None => self.exchange().await,
            // Boxed so that observation does not enlarge every request future.
            Some(observation) => {
                let span = observation.span();
                let received = Box::pin(self.exchange().instrument(span)).await;
                end_observation(observation, &received);
                received
            }
        }
    }

    async fn exchange(mut self) -> Result<ReceivedReply, ErrorKind> {
        let inner = &self.client.inner;
        if let Some(reason) = inner.closing.reason() {
            return Err(ErrorKind::closed(reason));
        }
        let number = self.number;
        let id = RequestId::from(number);
        // spec: PROG-01
        let token = self
            .options
            .on_progress
            .is_some()
            .then(|| ProgressToken::from(number));
        let mut closed = pin!(inner.closing.closed());
        let mut frames = self.send(&id, token.as_ref());
        let mut foreign_id = None;
        // A response with the id as text counts if no other one follows.
        let mut spelled: Option<Box<Frame>> = None;
        let mut deadline = self.timer.deadline();
        loop {
            let next = select(frames.next(), &mut closed);
            let frame = match timeout_at(deadline, next).await {
                Ok(Either::Left((Some(Ok(frame)), _))) => frame,
                Ok(Either::Left((ended, _))) => {
                    let kind = ended.and_then(Result::err).map(ErrorKind::Channel);
                    let kind = kind.unwrap_or(ErrorKind::NoResponse);
                    let has_ended = matches!(
                        kind,
                        ErrorKind::NoResponse
                            | ErrorKind::Channel(ChannelError::Broken { source: None })
                    );
                    if let Some(frame) = spelled.filter(|_| has_ended) {
                        return self.reply_in(*frame);
                    }
                    return Err(match foreign_id {
                        Some(given) if has_ended => ErrorKind::WrongId { given },
                        _ => kind,
                    });
                }
                Ok(Either::Right((reason, _))) => return Err(ErrorKind::closed(reason)),
                // While a handler answers a server request, the server has to wait.
                Err(_) if inner.has_open_requests() => {
                    self.timer.extend();
                    deadline = self.timer.deadline();
                    continue;
                }
                // Returning drops the frames, which cancels the request.
                // spec: CAN-10
                Err(_) => return Err(self.timer.timed_out(deadline)),
            };
            match Message::parse(&frame.message).map_err(ErrorKind::InvalidMessage)? {
                Message::Notification(notification) => {
                    let is_progress = self.handle_notification(&notification, token.as_ref());
                    if is_progress {
                        deadline = self.timer.deadline();
                    }
                }
                Message::Response(response) => {
                    if let Some(given) = foreign_response_id(&response, &id, frame.status) {
                        if spelled.is_none() && given.spelled_number().as_ref() == Some(&id) {
                            spelled = Some(Box::new(frame));
                        }
                        foreign_id = Some(given);
                        continue;
                    }
                    let reply = self.decode(&response)?;
                    drain(&mut frames).await;
                    return Ok(ReceivedReply {
                        reply,
                        frame,
                        hides_execution: false,
                    });
                }
                // Servers must not send requests on this stream, so they are ignored.
                // spec: BASE-17, BASE-19
                _ => {}
            }
        }
    }

    fn decode(&self, response: &Response<'_>) -> Result<Reply, ErrorKind> {
        let reply = if self.options.returns_raw {
            Reply::decode_raw(self.request, response, self.version)
        } else {
            Reply::decode(self.request, response, self.version)
        };
        reply.map_err(ErrorKind::Decode)
    }

    /// Reads the reply in a response that was kept.
    fn reply_in(&self, frame: Frame) -> Result<ReceivedReply, ErrorKind> {
        match Message::parse(&frame.message).map_err(ErrorKind::InvalidMessage)? {
            Message::Response(response) => {
                let reply = self.decode(&response)?;
                Ok(ReceivedReply {
                    reply,
                    frame,
                    hides_execution: false,
                })
            }
            _ => Err(ErrorKind::NoResponse),
        }
    }

    fn send(&self, id: &RequestId, token: Option<&ProgressToken>) -> Frames {
        let inner = &self.client.inner;
        let profile = self.options.profile(&inner.profile);
        let mut context = ClientRequestContext::new(id, &profile);
        context.progress_token = token;
        context.log_level = self.options.log_level.or_else(|| inner.log_level());
        context.meta = self.options.meta.as_ref();
        context.input = self.input;
        let headers = &self.options.headers;
        send(inner, self.request, self.version, &context, headers)
    }

    /// Passes a notification to its hook or to the client. Returns whether it was progress of this
    /// call.
    fn handle_notification(
        &mut self,
        notification: &Notification<'_>,
        token: Option<&ProgressToken>,
    ) -> bool {
        let received = notification;
        let Some(notification) = ServerNotification::decode(received, self.version) else {
            return false;
        };
        self.client.inner.observe_server_notification(received);
        let is_progress = matches!(
            &notification,
            ServerNotification::Progress { token: given, .. } if Some(given) == token
        );
        let mapped = match self.notifications {
            Some(notifications) => notifications.apply(notification),
            None => Some(notification),
        };
        if let Some(notification) = mapped {
            self.deliver(notification, token);
        }
        is_progress
    }

    fn deliver(&mut self, notification: ServerNotification, token: Option<&ProgressToken>) {
        let inner = &self.client.inner;
        let is_of_call = match &notification {
            ServerNotification::Progress { token: given, .. } => Some(given) == token,
            ServerNotification::Log(_) => true,
            ServerNotification::Other { .. } => self.options.on_custom.is_some(),
            _ => false,
        };
        if is_of_call {
            inner.events.publish(&notification);
        }
        match notification {
            // spec: PROG-02
            ServerNotification::Progress {
                token: given,
                progress,
            } if Some(&given) == token => {
                if let Some(hook) = &mut self.options.on_progress {
                    hook.run(progress);
                }
            }
            ServerNotification::Log(message) => {
                if let Some(hook) = &mut self.options.on_log {
                    hook.run(message);
                }
            }
            ServerNotification::Other { method, params } if self.options.on_custom.is_some() => {
                if let Some(hook) = &mut self.options.on_custom {
                    hook.run((method, params));
                }
            }
            // In a session, inbound layers see what no hook receives.
            ServerNotification::Other { method, params }
                if !self.version.is_modern() && !inner.inputs.layers.is_empty() =>
            {
                inner
                    .notifications
                    .push(QueuedNotification { method, params });
            }
            // A legacy server may notify of changes on the stream of any call.
            notification if !self.version.is_modern() => inner.handle_notification(notification),
            ServerNotification::Other { method, params } => {
                inner.handle_custom(&method, params.as_ref());
            }
            _ => {}
        }
    }
}

fn end_observation(observation: Box<dyn Observation>, received: &Result<ReceivedReply, ErrorKind>) {
    match received {
        Ok(ReceivedReply {
            reply: Reply::Fault(fault),
            ..
        }) => observation.end(Err(fault)),
        Ok(_) => observation.end(Ok(())),
        Err(error) => observation.end(Err(&error.to_fault())),
    }
}

/// Encodes and sends a request.
pub(crate) fn send(
    inner: &ClientInner,
    request: &ClientRequest,
    version: ProtocolVersion,
    context: &ClientRequestContext<'_>,
    headers: &HeaderMap,
) -> Frames {
    let meta = inner.request_meta(context.meta);
    let mut context = *context;
    context.meta = meta.as_deref();
    let mut out = OutgoingRequest::encode(request, version, &context);
    out.mirrored.params = inner.mirrored_params(request, version);
    out.headers.clone_from(headers);
    out.on_cancel = inner.cancel_hook(version);
    inner.channel.call(out)
}

/// Returns the id of a response that belongs to another request. The caller ignores the response and
/// waits for its own one.
///
/// A response without id is accepted: it reports a request whose id could not be read, and the
/// stream carries only this request. A response with an error status is accepted with any id,
/// because it answers this POST and some servers invent an id.
// spec: BASE-06, BASE-11, COMPAT-11
pub(crate) fn foreign_response_id(
    response: &Response<'_>,
    id: &RequestId,
    status: Option<StatusCode>,
) -> Option<RequestId> {
    let is_refusal = response.outcome.is_err() && status.is_some_and(|status| !status.is_success());
    let given = response.id.as_ref().filter(|given| *given != id)?;
    if is_refusal {
        return None;
    }
    tracing::debug!(given = %mcp_types::escaped(&given), expected = %mcp_types::escaped(&id), "a response to another request is ignored");
    Some(given.clone())
}

/// Longest wait for the end of the stream after the response.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(10);

/// Reads the end of the stream, which follows the response: an HTTP connection can be reused only
/// when the response body was read to its end.
// spec: HTTP-SM-14
async fn drain(frames: &mut Frames) {
    let _ = timeout(DRAIN_TIMEOUT, frames.next()).await;
}
