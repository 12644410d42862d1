//! The one path that every call takes: written, sent, waited for, read.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::StreamExt;
use http::{HeaderMap, StatusCode};
use mcp_core::versioning::mutual;
use mcp_core::wire::{self, Outgoing};
use mcp_core::{Asked, Fault, Frames, Mirror, OutCall, Reply, ResultBody, ServerNote};
use mcp_types::{
    LogMessage, LoggingLevel, Message, Meta, Notification, Progress, ProgressToken,
    ProtocolVersion, RequestId, Response,
};
use tokio::time::{timeout, timeout_at};

use crate::Error;
use crate::client::Inner;
use crate::clock::Clock;
use crate::error::Kind;

/// What the caller wants beside the answer.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
    pub(crate) headers: HeaderMap,
    pub(crate) meta: Option<Meta>,
    pub(crate) log_level: Option<LoggingLevel>,
    pub(crate) on_progress: Option<Hook<'a, Progress>>,
    pub(crate) on_log: Option<Hook<'a, LogMessage>>,
}

/// Code of the caller that runs while the call waits, on the task that awaits it.
pub(crate) struct Hook<'a, T>(Option<Box<dyn FnMut(T) + Send + 'a>>);

impl<'a, T> Hook<'a, T> {
    pub(crate) fn new(hook: impl FnMut(T) + Send + 'a) -> Self {
        Self(Some(Box::new(hook)))
    }

    /// Runs the hook. One that panics is not run again; the call goes on.
    fn run(&mut self, value: T) {
        let Some(hook) = &mut self.0 else { return };
        if catch_unwind(AssertUnwindSafe(|| hook(value))).is_err() {
            self.0 = None;
        }
    }
}

/// Sends a call and waits for its result. Dropping the future cancels the call.
pub(crate) async fn run(
    client: &Inner,
    asked: &Asked,
    mut options: Options<'_>,
) -> Result<ResultBody, Error> {
    let failed = |kind| Error::of(&client.channel.peer(), asked, kind);
    let clock = Clock::start(client.timeouts, options.idle, options.total);
    let mut version = client.version();
    let mut retried = false;
    loop {
        let answer = attempt(client, asked, version, &mut options, &clock).await;
        let (reply, status) = answer.map_err(failed)?;
        return Err(failed(match reply {
            Reply::Complete { body, .. } => {
                if retried {
                    client.learn(|known| known.version = version);
                }
                return Ok(body);
            }
            // spec: VER-04 – also when the server names the very version that it refused.
            Reply::Fault(Fault::UnsupportedVersion {
                requested,
                supported,
            }) => match mutual(&supported, &client.spoken) {
                Some(other) if !retried => {
                    version = other;
                    retried = true;
                    continue;
                }
                Some(_) => Kind::Fault {
                    fault: Fault::UnsupportedVersion {
                        requested,
                        supported,
                    },
                    status,
                },
                None => Kind::no_common_version(supported, &client.spoken),
            },
            Reply::Fault(fault) => Kind::Fault { fault, status },
            // Here the input will be gathered and the call made again with it.
            Reply::InputRequired(_) => Kind::InputRequired,
            Reply::Extended { result_type, .. } => Kind::Extended(result_type),
            _ => Kind::OtherResult,
        }));
    }
}

/// One request and its answer.
async fn attempt(
    client: &Inner,
    asked: &Asked,
    version: ProtocolVersion,
    options: &mut Options<'_>,
    clock: &Clock,
) -> Result<(Reply, Option<StatusCode>), Kind> {
    let number = client.next_id();
    let id = RequestId::from(number);
    // spec: PROG-01
    let token = options
        .on_progress
        .is_some()
        .then(|| ProgressToken::from(number));
    let mut frames = send(client, asked, version, options, &id, token.as_ref());
    let mut deadline = clock.deadline();
    loop {
        let frame = match timeout_at(deadline, frames.next()).await {
            Ok(Some(frame)) => frame.map_err(Kind::Channel)?,
            Ok(None) => return Err(Kind::Unanswered),
            // The stream is dropped with this frame of the call: that cancels the request.
            // spec: CAN-10
            Err(_) => return Err(clock.timed_out(deadline)),
        };
        match Message::parse(&frame.message).map_err(Kind::Unreadable)? {
            Message::Notification(note) => {
                let is_progress = take_note(client, &note, token.as_ref(), options);
                if is_progress {
                    deadline = clock.deadline();
                }
            }
            Message::Response(response) => {
                check_id(&response, &id)?;
                let reply = client
                    .wire
                    .decode_reply(asked, &response)
                    .map_err(Kind::Decode)?;
                finish(&mut frames).await;
                return Ok((reply, frame.status));
            }
            // No server may ask anything here; one that does gets no answer.
            // spec: BASE-17, BASE-19
            _ => {}
        }
    }
}

fn send(
    client: &Inner,
    asked: &Asked,
    version: ProtocolVersion,
    options: &Options<'_>,
    id: &RequestId,
    token: Option<&ProgressToken>,
) -> Frames {
    let mut outgoing = Outgoing::new(id, &client.profile);
    outgoing.progress_token = token;
    outgoing.log_level = options.log_level;
    outgoing.meta = options.meta.as_ref();
    let body = wire::of(version).encode_call(asked, &outgoing);
    let mirror = Mirror::new(version, asked.method_name(), asked.item());
    let mut out = OutCall::new(id.clone(), body, mirror);
    out.headers.clone_from(&options.headers);
    client.channel.call(out)
}

/// Hands a notification of this call to its hook; all others are ignored. Tells whether it was
/// progress of this call.
fn take_note(
    client: &Inner,
    note: &Notification<'_>,
    token: Option<&ProgressToken>,
    options: &mut Options<'_>,
) -> bool {
    match client.wire.decode_note(note) {
        // spec: PROG-02
        Some(ServerNote::Progress {
            token: given,
            progress,
        }) if Some(&given) == token => {
            if let Some(hook) = &mut options.on_progress {
                hook.run(progress);
            }
            true
        }
        Some(ServerNote::Log(message)) => {
            if let Some(hook) = &mut options.on_log {
                hook.run(message);
            }
            false
        }
        _ => false,
    }
}

/// A response without an id is an error about a request whose id could not be read: ours, since
/// nothing else comes on this stream.
// spec: BASE-06, BASE-11
fn check_id(response: &Response<'_>, id: &RequestId) -> Result<(), Kind> {
    match &response.id {
        Some(answered) if answered != id => Err(Kind::WrongId {
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
async fn finish(frames: &mut Frames) {
    let _ = timeout(GRACE, frames.next()).await;
}
