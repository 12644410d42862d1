//! The requests of a recorded client, sent to a server.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::{SinkExt as _, stream};
use mcp::types::{codes, shorten};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::PollSender;

use super::compare::{Difference, compare};
use super::recording::{Dialogue, MessageKind, Turn};
use crate::cli::ReplayArgs;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

/// Largest number of messages that wait between the check and the connection.
const QUEUE: usize = 64;
/// Longest value that is shown, in characters.
const MAX_SHOWN: usize = 120;

pub(super) async fn run(
    turns: Vec<Turn>,
    args: &ReplayArgs,
    output: &Output,
) -> Result<(), Failure> {
    let limit = target::time_limit(args.timeout)?;
    let relay = target::resolve_only(&args.target, output).await?.relay()?;
    let (to_server, requests) = mpsc::channel(QUEUE);
    let (responses, from_server) = mpsc::channel(QUEUE);
    let input = stream::unfold(requests, async |mut receiver: mpsc::Receiver<Bytes>| {
        receiver.recv().await.map(|message| (Ok(message), receiver))
    });
    let answers = PollSender::new(responses).sink_map_err(io::Error::other);
    let check = Check {
        to_server,
        from_server,
        ignored: &args.ignore,
        limit,
        states: HashMap::new(),
        output,
    };
    let checking = std::pin::pin!(check.run(turns));
    let relaying = std::pin::pin!(relay.run(input, answers));
    let report = match select(checking, relaying).await {
        Either::Left((report, relaying)) => {
            // The check has closed its end, so that the session of the server ends.
            let _ = timeout(limit, relaying).await;
            report?
        }
        Either::Right((Err(error), _)) => return Err(error.into()),
        Either::Right((Ok(()), _)) => {
            let message = "the connection ended before the recording";
            return Err(Failure::new(FailureKind::Unreachable, message));
        }
    };
    report.print(output);
    report.into_result()
}

/// The outcome of a check.
#[derive(Debug, Default)]
struct CheckReport {
    requests: usize,
    found: Vec<Found>,
}

/// A difference, and the request that it belongs to.
#[derive(Debug, Serialize)]
struct Found {
    line: usize,
    method: String,
    #[serde(flatten)]
    difference: Difference,
}

/// A running check.
struct Check<'a> {
    to_server: mpsc::Sender<Bytes>,
    from_server: mpsc::Receiver<Bytes>,
    ignored: &'a [String],
    limit: Duration,
    /// Request states in this session, by their recorded counterpart.
    states: HashMap<String, String>,
    output: &'a Output,
}

impl Check<'_> {
    async fn run(mut self, turns: Vec<Turn>) -> Result<CheckReport, Failure> {
        let mut report = CheckReport::default();
        for turn in turns {
            match turn {
                Turn::Notification(message) => self.send(&message).await?,
                Turn::Request(dialogue) => {
                    let Some(recorded) = dialogue.response() else {
                        let (method, line) = (dialogue.method(), dialogue.line);
                        let note = format!("line {line}: {method} has no response; skipped");
                        self.output.note(&note);
                        continue;
                    };
                    let actual = self.request(&dialogue).await?;
                    self.keep_state(recorded, &actual);
                    report.requests += 1;
                    let differences = compare(recorded, &actual, self.ignored);
                    report
                        .found
                        .extend(differences.into_iter().map(|difference| Found {
                            line: dialogue.line,
                            method: dialogue.method().to_owned(),
                            difference,
                        }));
                }
            }
        }
        Ok(report)
    }

    /// Sends a request, answers the server's requests, and returns the response.
    async fn request(&mut self, dialogue: &Dialogue) -> Result<Value, Failure> {
        let mut request = dialogue.request.clone();
        if let Some(state) = request.pointer_mut("/params/requestState")
            && let Some(actual) = state.as_str().and_then(|state| self.states.get(state))
        {
            *state = actual.as_str().into();
        }
        self.send(&request).await?;
        let mut answers = dialogue.answers.iter();
        loop {
            let received = timeout(self.limit, self.from_server.recv()).await;
            let Ok(Some(message)) = received else {
                let (method, line) = (dialogue.method(), dialogue.line);
                let message = format!("line {line}: {method} was not answered in time");
                return Err(Failure::new(FailureKind::Unreachable, message));
            };
            let message = serde_json::from_slice::<Value>(&message).unwrap_or_default();
            match MessageKind::of(&message) {
                MessageKind::Response if message["id"] == request["id"] => return Ok(message),
                MessageKind::Request => {
                    let answer = answer(&message, answers.next());
                    self.send(&answer).await?;
                }
                _ => {}
            }
        }
    }

    async fn send(&self, message: &Value) -> Result<(), Failure> {
        let sent = self.to_server.send(message.to_string().into()).await;
        sent.map_err(|_| Failure::new(FailureKind::Unreachable, "the connection has ended"))
    }

    fn keep_state(&mut self, recorded: &Value, actual: &Value) {
        let state = |reply: &Value| Some(reply["result"].get("requestState")?.as_str()?.to_owned());
        if let (Some(recorded), Some(actual)) = (state(recorded), state(actual)) {
            self.states.insert(recorded, actual);
        }
    }
}

/// The recorded answer to a server request.
fn answer(request: &Value, recorded: Option<&Value>) -> Value {
    let mut answer = recorded.cloned().unwrap_or_else(|| {
        let message = "the recording has no answer to this request";
        json!({ "jsonrpc": "2.0", "error": { "code": codes::INTERNAL_ERROR, "message": message } })
    });
    answer["id"] = request["id"].clone();
    answer
}

impl CheckReport {
    fn print(&self, output: &Output) {
        if output.json {
            output.document(&json!({ "requests": self.requests, "differences": self.found }));
            return;
        }
        for Found {
            line,
            method,
            difference,
        } in &self.found
        {
            let (old, new) = (shown(&difference.recorded), shown(&difference.actual));
            output.line(&format!(
                "line {line}: {method} {}: {old} became {new}",
                difference.path
            ));
        }
        if self.found.is_empty() {
            output.note(&format!("{} requests, no differences", self.requests));
        }
    }

    fn into_result(self) -> Result<(), Failure> {
        match self.found.len() {
            0 => Ok(()),
            count => Err(Failure::new(
                FailureKind::Different,
                format!(
                    "{count} differences from the recording; --ignore MEMBER skips values that always differ"
                ),
            )),
        }
    }
}

fn shown(value: &Option<Value>) -> String {
    let text = value
        .as_ref()
        .map_or("nothing".to_owned(), Value::to_string);
    shorten(&text, MAX_SHOWN).into_owned()
}
