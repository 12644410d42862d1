//! One request: written, sent, and its answer waited for. What it answers is for others to judge.

use std::pin::pin;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use http::{HeaderMap, StatusCode};
use mcp_core::wire::{self, ClientRequestContext};
use mcp_core::{
    ClientRequest, Frames, InputState, MirroredHeaders, OutgoingRequest, Reply, ServerNotification,
};
use mcp_types::{Message, Notification, ProgressToken, ProtocolVersion, RequestId, Response};
use tokio::time::{timeout, timeout_at};

use crate::Client;
use crate::client::Inner;
use crate::clock::Clock;
use crate::error::Kind;
use crate::options::Options;

/// Makes one request in a revision and takes whatever comes.
pub(crate) async fn once(
    client: &Client,
    asked: &ClientRequest,
    version: ProtocolVersion,
    idle: Option<Duration>,
) -> Result<Answer, Kind> {
    let attempt = Attempt {
        client,
        asked,
        version,
        options: &mut Options::default(),
        clock: &mut Clock::start(client.inner.timeouts, idle, None),
        input: None,
    };
    attempt.run().await
}

/// One request, with all that belongs to it.
pub(crate) struct Attempt<'r, 'a> {
    pub(crate) client: &'r Client,
    pub(crate) asked: &'r ClientRequest,
    pub(crate) version: ProtocolVersion,
    pub(crate) options: &'r mut Options<'a>,
    pub(crate) clock: &'r mut Clock,
    pub(crate) input: Option<&'r InputState>,
}

/// The answer to one request.
pub(crate) struct Answer {
    pub(crate) reply: Reply,
    pub(crate) status: Option<StatusCode>,
    /// The length of its text.
    pub(crate) bytes: usize,
}

impl Attempt<'_, '_> {
    /// Sends it and waits for its answer.
    pub(crate) async fn run(mut self) -> Result<Answer, Kind> {
        let inner = &self.client.inner;
        if let Some(reason) = inner.closing.reason() {
            return Err(Kind::closed(reason));
        }
        // spec: BASE-05, MRTR-12
        let number = inner.next_id();
        let id = RequestId::from(number);
        // spec: PROG-01
        let token = self
            .options
            .on_progress
            .is_some()
            .then(|| ProgressToken::from(number));
        let mut closed = pin!(inner.closing.closed());
        let mut frames = self.send(&id, token.as_ref());
        let mut deadline = self.clock.deadline();
        loop {
            let next = select(frames.next(), &mut closed);
            let frame = match timeout_at(deadline, next).await {
                Ok(Either::Left((Some(frame), _))) => frame.map_err(Kind::Channel)?,
                Ok(Either::Left((None, _))) => return Err(Kind::Unanswered),
                Ok(Either::Right((reason, _))) => return Err(Kind::closed(reason)),
                // Users take their time, which is not the server's.
                Err(_) if inner.questions.are_open() => {
                    self.clock.extend();
                    deadline = self.clock.deadline();
                    continue;
                }
                // The stream is dropped with this frame of the call: that cancels the request.
                // spec: CAN-10
                Err(_) => return Err(self.clock.timed_out(deadline)),
            };
            match Message::parse(&frame.message).map_err(Kind::Unreadable)? {
                Message::Notification(note) => {
                    let is_progress = self.take_note(&note, token.as_ref());
                    if is_progress {
                        deadline = self.clock.deadline();
                    }
                }
                Message::Response(response) => {
                    check_id(&response, &id, frame.status)?;
                    let reply = wire::client_for_version(self.version)
                        .decode_reply(self.asked, &response)
                        .map_err(Kind::Decode)?;
                    drain(&mut frames).await;
                    return Ok(Answer {
                        reply,
                        status: frame.status,
                        bytes: frame.message.len(),
                    });
                }
                // No server may ask anything here; one that does gets no answer.
                // spec: BASE-17, BASE-19
                _ => {}
            }
        }
    }

    fn send(&self, id: &RequestId, token: Option<&ProgressToken>) -> Frames {
        let inner = &self.client.inner;
        let mut outgoing = ClientRequestContext::new(id, &inner.profile);
        outgoing.progress_token = token;
        outgoing.log_level = self.options.log_level.or_else(|| inner.log_level());
        outgoing.meta = self.options.meta.as_ref();
        outgoing.input = self.input;
        send(
            inner,
            self.asked,
            self.version,
            &outgoing,
            &self.options.headers,
        )
    }

    /// Hands a notification of this call to its hook; all others are ignored. Tells whether it was
    /// progress of this call.
    fn take_note(&mut self, note: &Notification<'_>, token: Option<&ProgressToken>) -> bool {
        match wire::client_for_version(self.version).decode_server_notification(note) {
            // spec: PROG-02
            Some(ServerNotification::Progress {
                token: given,
                progress,
            }) if Some(&given) == token => {
                if let Some(hook) = &mut self.options.on_progress {
                    hook.run(progress);
                }
                true
            }
            Some(ServerNotification::Log(message)) => {
                self.client.inner.events.log(&message);
                if let Some(hook) = &mut self.options.on_log {
                    hook.run(message);
                }
                false
            }
            // A session tells on any stream what has changed.
            Some(note) if !self.version.is_modern() => {
                self.client.inner.hear(note);
                false
            }
            _ => false,
        }
    }
}

/// Writes a request and sends it.
pub(crate) fn send(
    inner: &Inner,
    asked: &ClientRequest,
    version: ProtocolVersion,
    outgoing: &ClientRequestContext<'_>,
    headers: &HeaderMap,
) -> Frames {
    let body = wire::client_for_version(version).encode_request(asked, outgoing);
    let mirror = MirroredHeaders::new(version, asked.method_name(), asked.item());
    let mirror = mirror.params(inner.params(asked, version));
    let mut out = OutgoingRequest::new(outgoing.id.clone(), body, mirror);
    out.headers.clone_from(headers);
    inner.channel.call(out)
}

/// A response without an id is an error about a request whose id could not be read: ours, since
/// nothing else comes on this stream. So is an error with a status of its own, whatever id it has:
/// it is the answer to this very POST, and some servers have no better id than a word of their own.
// spec: BASE-06, BASE-11, COMPAT-11
pub(crate) fn check_id(
    response: &Response<'_>,
    id: &RequestId,
    status: Option<StatusCode>,
) -> Result<(), Kind> {
    let is_refusal = response.outcome.is_err() && status.is_some_and(|it| !it.is_success());
    match &response.id {
        Some(answered) if answered != id && !is_refusal => Err(Kind::WrongId {
            answered: answered.clone(),
        }),
        _ => Ok(()),
    }
}

/// How long a call waits for the end of its stream after the response.
const GRACE: Duration = Duration::from_millis(10);

/// Takes the end of the stream, which is due right after the response: a connection whose answer
/// was read to its end can be used again.
// spec: HTTP-SM-14
async fn drain(frames: &mut Frames) {
    let _ = timeout(GRACE, frames.next()).await;
}
