//! A channel whose server reads its answers from a script.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::stream;
use http::{HeaderMap, StatusCode};
use mcp_client::{Client, ConnectMode, Over};
use mcp_core::{
    BoxFuture, Channel, ChannelError, CloseReason, Frame, Frames, MirroredHeaders, OneWayMessage,
    OutgoingRequest, ServerIdentity, with_causes,
};
use mcp_types::{ProtocolVersion, RequestId};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// An event on the stream of one request.
pub(crate) enum Step {
    /// A message with an HTTP status. `$ID` and `$TOKEN` stand for those of the request.
    Say(u16, String),
    /// A pause.
    Wait(Duration),
    /// The channel fails.
    Fail(ChannelError),
}

/// A message.
pub(crate) fn say(text: impl Into<String>) -> Step {
    Step::Say(200, text.into())
}

/// A message with another status.
pub(crate) fn refuse(status: u16, text: impl Into<String>) -> Step {
    Step::Say(status, text.into())
}

pub(crate) fn wait(seconds: u64) -> Step {
    Step::Wait(Duration::from_secs(seconds))
}

/// The response to the request with a result.
pub(crate) fn result(result: &Value) -> Step {
    say(format!(r#"{{"jsonrpc":"2.0","id":$ID,"result":{result}}}"#))
}

/// A result of a tool that says `text`.
pub(crate) fn text(text: &str) -> Step {
    result(&json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
}

/// The response to the request with an error.
pub(crate) fn error(code: i64, data: &Value) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":$ID,"error":{{"code":{code},"message":"no","data":{data}}}}}"#
    )
}

pub(crate) fn unsupported(versions: &[&str]) -> Step {
    let data = json!({"supported": versions, "requested": "2026-07-28"});
    refuse(
        400,
        error(mcp_types::codes::UNSUPPORTED_PROTOCOL_VERSION, &data),
    )
}

pub(crate) fn progress(progress: f64) -> Step {
    say(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":$TOKEN,"progress":{progress}}}}}"#
    ))
}

pub(crate) fn log(level: &str) -> Step {
    say(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"hi"}}}}"#
    ))
}

/// A request as it was sent.
#[derive(Debug, Clone)]
pub(crate) struct Sent {
    pub(crate) body: Value,
    pub(crate) mirrored: MirroredHeaders,
    pub(crate) headers: HeaderMap,
}

impl Sent {
    pub(crate) fn meta(&self, key: &str) -> &Value {
        &self.body["params"]["_meta"][key]
    }
}

/// The server side. Requests beyond the script receive no response.
#[derive(Default)]
pub(crate) struct Script {
    answers: Mutex<VecDeque<Vec<Step>>>,
    sent: Mutex<Vec<Sent>>,
    cancelled: AtomicUsize,
    /// Messages of a legacy session that belong to no call.
    notes: Mutex<Vec<Sent>>,
    /// Errors of the next messages of the client that belong to no call.
    note_failures: Mutex<VecDeque<ChannelError>>,
    noted: Notify,
    /// The requests whose calls the client has ended, with the errors.
    failed_calls: Mutex<Vec<(RequestId, String)>>,
    inbound: Mutex<Option<UnboundedReceiver<Frame>>>,
    adopted: Mutex<Vec<ProtocolVersion>>,
    is_pipe: bool,
    /// The method whose requests read the script. The others have fixed answers. `None`: all requests read it.
    scripted: Option<&'static str>,
    reopened: AtomicUsize,
    ended: Notify,
}

impl Script {
    /// A legacy server, and a sender for its own messages.
    pub(crate) fn session(
        answers: impl IntoIterator<Item = Vec<Step>>,
    ) -> (Arc<Self>, UnboundedSender<Frame>) {
        let (sender, receiver) = unbounded_channel();
        let script = Self {
            answers: Mutex::new(answers.into_iter().collect()),
            inbound: Mutex::new(Some(receiver)),
            ..Self::default()
        };
        (Arc::new(script), sender)
    }

    /// A server behind a pipe.
    pub(crate) fn pipe(answers: impl IntoIterator<Item = Vec<Step>>) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            is_pipe: true,
            ..Self::default()
        })
    }

    /// A server with one item in each list, named `a` or `a:`. Its answers to one method are scripted.
    pub(crate) fn of_method(
        method: &'static str,
        answers: impl IntoIterator<Item = Vec<Step>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            answers: Mutex::new(answers.into_iter().collect()),
            scripted: Some(method),
            ..Self::default()
        })
    }

    /// Lets the next notifications and responses of the client fail.
    pub(crate) fn fail_notes(&self, failures: impl IntoIterator<Item = ChannelError>) {
        self.note_failures.lock().unwrap().extend(failures);
    }

    pub(crate) fn failed_calls(&self) -> Vec<(RequestId, String)> {
        self.failed_calls.lock().unwrap().clone()
    }

    /// Waits for `count` notifications and responses of the client.
    pub(crate) async fn notes(&self, count: usize) -> Vec<Sent> {
        loop {
            let more = self.noted.notified();
            let notes = self.notes.lock().unwrap().clone();
            if notes.len() >= count {
                return notes;
            }
            more.await;
        }
    }

    pub(crate) fn adopted(&self) -> Vec<ProtocolVersion> {
        self.adopted.lock().unwrap().clone()
    }

    pub(crate) fn reopened(&self) -> usize {
        self.reopened.load(Ordering::SeqCst)
    }

    /// Ends the connection.
    pub(crate) fn end(&self) {
        self.ended.notify_waiters();
    }

    pub(crate) fn new(answers: impl IntoIterator<Item = Vec<Step>>) -> Arc<Self> {
        let answers = Mutex::new(answers.into_iter().collect());
        Arc::new(Self {
            answers,
            ..Self::default()
        })
    }

    pub(crate) fn channel(self: &Arc<Self>) -> Scripted {
        Scripted(self.clone())
    }

    /// A client with a pinned version, which sends nothing before the first call.
    pub(crate) async fn client(self: &Arc<Self>) -> Client {
        Client::builder()
            .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
            .connect(Over(self.channel()))
            .await
            .unwrap()
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// Number of streams that were dropped before they ended.
    pub(crate) fn cancelled(&self) -> usize {
        self.cancelled.load(Ordering::SeqCst)
    }
}

/// The answer to a method that is not scripted.
fn fixed(method: &Value) -> Vec<Step> {
    let list = match method.as_str().unwrap_or_default() {
        "tools/list" => json!({"tools": [{"name": "a", "inputSchema": {}}]}),
        "prompts/list" => json!({"prompts": [{"name": "a"}]}),
        "resources/list" => json!({"resources": [{"uri": "a:", "name": "a"}]}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        _ => return vec![say(error(mcp_types::codes::METHOD_NOT_FOUND, &json!(null)))],
    };
    vec![result(&list)]
}

pub(crate) struct Scripted(Arc<Script>);

impl Channel for Scripted {
    fn call(&self, out: OutgoingRequest) -> Frames {
        let body: Value = serde_json::from_slice(&out.body).unwrap();
        assert_eq!(
            body["id"],
            json!(out.id),
            "the id beside the text is that of the text"
        );
        let id = body["id"].to_string();
        let token = body["params"]["_meta"]["progressToken"].to_string();
        self.0.sent.lock().unwrap().push(Sent {
            body: body.clone(),
            mirrored: out.mirrored,
            headers: out.headers,
        });
        let steps = match self.0.scripted {
            Some(scripted) if body["method"] != scripted => Some(fixed(&body["method"])),
            _ => self.0.answers.lock().unwrap().pop_front(),
        };
        let state = State {
            steps: steps.map(VecDeque::from),
            id,
            token,
            script: self.0.clone(),
        };
        Box::pin(stream::unfold(state, |mut state| async move {
            let next = state.next().await?;
            Some((next, state))
        }))
    }

    fn peer(&self) -> Cow<'_, str> {
        "script:".into()
    }

    fn identity(&self) -> Option<ServerIdentity> {
        let script = format!("{:p}", Arc::as_ptr(&self.0));
        Some(ServerIdentity::from_parts("script", [script]))
    }

    fn notify(&self, out: OneWayMessage) -> BoxFuture<'static, Result<(), ChannelError>> {
        let script = self.0.clone();
        Box::pin(async move {
            let body = serde_json::from_slice(&out.body).unwrap();
            script.notes.lock().unwrap().push(Sent {
                body,
                mirrored: out.mirrored,
                headers: HeaderMap::new(),
            });
            script.noted.notify_waiters();
            let failure = script.note_failures.lock().unwrap().pop_front();
            failure.map_or(Ok(()), Err)
        })
    }

    fn fail_call(&self, id: &RequestId, error: ChannelError) {
        let failed = (id.clone(), with_causes(&error));
        self.0.failed_calls.lock().unwrap().push(failed);
    }

    fn inbound(&self) -> Option<Frames> {
        let frames = self.0.inbound.lock().unwrap().take()?;
        Some(Box::pin(stream::unfold(frames, |mut frames| async move {
            let frame = frames.recv().await?;
            Some((Ok(frame), frames))
        })))
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.0.adopted.lock().unwrap().push(version);
    }

    fn is_pipe(&self) -> bool {
        self.0.is_pipe
    }

    fn reopen(&self) -> BoxFuture<'static, Result<(), ChannelError>> {
        self.0.reopened.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(())))
    }

    fn closed(&self) -> BoxFuture<'static, CloseReason> {
        let script = self.0.clone();
        Box::pin(async move {
            script.ended.notified().await;
            CloseReason::Remote
        })
    }
}

/// The remaining steps of a stream. `None` for a stream that is always silent.
struct State {
    steps: Option<VecDeque<Step>>,
    id: String,
    token: String,
    script: Arc<Script>,
}

impl State {
    async fn next(&mut self) -> Option<Result<Frame, ChannelError>> {
        let Some(steps) = &mut self.steps else {
            return std::future::pending().await;
        };
        loop {
            // The step is removed after it has finished, so that a stream dropped in it is counted.
            match steps.front()? {
                Step::Wait(time) => {
                    tokio::time::sleep(*time).await;
                    steps.pop_front();
                }
                Step::Say(status, text) => {
                    let text = text.replace("$ID", &self.id).replace("$TOKEN", &self.token);
                    let status = StatusCode::from_u16(*status).unwrap();
                    steps.pop_front();
                    let mut frame = Frame::new(text);
                    frame.status = Some(status);
                    return Some(Ok(frame));
                }
                Step::Fail(_) => match steps.pop_front() {
                    Some(Step::Fail(error)) => return Some(Err(error)),
                    _ => unreachable!(),
                },
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.steps.as_ref().is_none_or(|steps| !steps.is_empty()) {
            self.script.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}
