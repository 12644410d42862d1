//! Reading a recorded session, and grouping its messages by client request.

use std::collections::HashMap;
use std::path::Path;

use mcp::types::meta::keys::SUBSCRIPTION_ID;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::session_file::{Side, VERSION};

/// Largest file in bytes: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// The first line of a file: the version of its format.
#[derive(Debug, Deserialize)]
struct Header {
    recording: u32,
}

/// A later line of a file: a message, or a message batch.
#[derive(Debug, Deserialize)]
struct Line {
    from: Side,
    message: Value,
}

/// A client request with the messages that belong to it.
#[derive(Debug)]
pub(super) struct Dialogue {
    /// Line number of the request.
    pub(super) line: usize,
    pub(super) request: Value,
    /// Server messages in order; the response is one of them.
    pub(super) replies: Vec<Value>,
    /// The place of the first response among them.
    response: Option<usize>,
    /// Client responses to server requests, in order.
    pub(super) answers: Vec<Value>,
}

/// A message that starts with the client.
#[derive(Debug)]
pub(super) enum Turn {
    Request(Dialogue),
    Notification(Value),
}

/// Reads the client's requests and notifications in order. Each request has its messages.
pub(super) fn read(path: &Path) -> Result<Vec<Turn>, Failure> {
    let text = mcp_files::read(path, MAX_BYTES);
    let text = text.map_err(|error| Failure::unusable(path, error))?;
    parse(&text).map_err(|error| Failure::unusable(path, error))
}

fn parse(text: &str) -> Result<Vec<Turn>, String> {
    let mut lines = text.lines().enumerate();
    let header = lines
        .next()
        .map(|(_, line)| serde_json::from_str::<Header>(line));
    match header {
        Some(Ok(Header { recording: VERSION })) => {}
        Some(Ok(Header { recording })) => {
            return Err(format!(
                "the recording has version {recording}, but this program reads version {VERSION}"
            ));
        }
        _ => {
            let reason = "line 1: this file is not a recording; create one with `mcp record`";
            return Err(reason.to_owned());
        }
    }
    let mut session = Session::default();
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("line {number}: {error}; record the session again"))?;
        for message in split(line.message) {
            session.add(number, line.from, message);
        }
    }
    Ok(session.turns)
}

/// The turns so far, with what later messages name them by. Each message takes a lookup, whatever the file has.
#[derive(Default)]
struct Session {
    turns: Vec<Turn>,
    /// The latest request with a name.
    named: HashMap<Name, usize>,
    /// Requests that had no response when they were last looked at, in order.
    open: Vec<usize>,
    /// The latest request.
    last: Option<usize>,
}

/// The part of a later message that names a request.
#[derive(PartialEq, Eq, Hash)]
enum Name {
    Id(Value),
    Token(Value),
    Subscription(String),
    /// The id of a server request that belongs to it.
    Question(Value),
}

impl Session {
    fn add(&mut self, line: usize, from: Side, message: Value) {
        match (from, MessageKind::of(&message)) {
            (Side::Client, MessageKind::Request) => self.add_request(line, message),
            (Side::Client, MessageKind::Notification) => {
                self.turns.push(Turn::Notification(message))
            }
            (Side::Client, MessageKind::Response) => {
                let asked = Name::Question(message["id"].clone());
                if let Some(dialogue) = self.named.get(&asked).copied() {
                    self.dialogue(dialogue, |dialogue| dialogue.answers.push(message));
                }
            }
            (Side::Server, kind) => {
                let Some(dialogue) = self.dialogue_of(kind, &message) else {
                    return;
                };
                if kind == MessageKind::Request {
                    let question = Name::Question(message["id"].clone());
                    let latest = self.named.entry(question).or_insert(dialogue);
                    *latest = dialogue.max(*latest);
                }
                self.dialogue(dialogue, |dialogue| {
                    if kind == MessageKind::Response && dialogue.response.is_none() {
                        dialogue.response = Some(dialogue.replies.len());
                    }
                    dialogue.replies.push(message);
                });
            }
        }
    }

    fn add_request(&mut self, line: usize, request: Value) {
        let at = self.turns.len();
        let id = &request["id"];
        self.named.insert(Name::Subscription(id_text(id)), at);
        self.named.insert(Name::Id(id.clone()), at);
        if let Some(token) = request["params"]["_meta"].get("progressToken") {
            self.named.insert(Name::Token(token.clone()), at);
        }
        self.open.push(at);
        self.last = Some(at);
        self.turns.push(Turn::Request(Dialogue {
            line,
            request,
            replies: Vec::new(),
            response: None,
            answers: Vec::new(),
        }));
    }

    /// Finds the request to which a server message belongs. The message names it by id, progress token or
    /// subscription; if it names none, it belongs to the latest request without a response, or else to the
    /// latest one.
    fn dialogue_of(&mut self, kind: MessageKind, message: &Value) -> Option<usize> {
        let params = &message["params"];
        let id = (kind == MessageKind::Response).then(|| Name::Id(message["id"].clone()));
        let token = params.get("progressToken").cloned().map(Name::Token);
        let subscription = params["_meta"].get(SUBSCRIPTION_ID).map(|subscription| {
            // No request has another kind of subscription.
            let text = subscription.as_str().map(ToOwned::to_owned);
            text.map(Name::Subscription)
        });
        if id.is_some() || token.is_some() || subscription.is_some() {
            let names = id.into_iter().chain(token).chain(subscription.flatten());
            return names
                .filter_map(|name| self.named.get(&name))
                .max()
                .copied();
        }
        while let Some(&at) = self.open.last() {
            if matches!(&self.turns[at], Turn::Request(dialogue) if dialogue.response.is_none()) {
                return Some(at);
            }
            self.open.pop();
        }
        self.last
    }

    fn dialogue(&mut self, at: usize, change: impl FnOnce(&mut Dialogue)) {
        if let Turn::Request(dialogue) = &mut self.turns[at] {
            change(dialogue);
        }
    }
}

impl Turn {
    pub(super) fn into_request(self) -> Option<Dialogue> {
        match self {
            Self::Request(dialogue) => Some(dialogue),
            Self::Notification(_) => None,
        }
    }
}

impl Dialogue {
    pub(super) fn method(&self) -> &str {
        self.request["method"].as_str().unwrap_or_default()
    }

    pub(super) fn response(&self) -> Option<&Value> {
        self.replies.get(self.response?)
    }
}

/// Returns an id as text.
pub(super) fn id_text(id: &Value) -> String {
    match id {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageKind {
    Request,
    Notification,
    Response,
}

impl MessageKind {
    pub(super) fn of(message: &Value) -> Self {
        match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => Self::Request,
            (Some(_), None) => Self::Notification,
            (None, _) => Self::Response,
        }
    }
}

/// Returns the messages of a batch, or the single message.
pub(super) fn split(message: Value) -> Vec<Value> {
    match message {
        Value::Array(messages) => messages,
        message => vec![message],
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::super::player::Player;
    use super::{Dialogue, Turn, parse};

    const HEADER: &str = r#"{"recording":1,"target":"t"}"#;

    fn problem(text: &str) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn malformed_files_are_refused_with_their_line() {
        assert!(problem("").contains("line 1"));
        assert!(problem("{}").contains("line 1"));
        assert!(problem(r#"{"recording":2}"#).contains("version 2"));
        let text = format!("{HEADER}\n\n{{\"from\":\"nobody\",\"message\":{{}}}}\n");
        assert!(problem(&text).starts_with("line 3: "));
    }

    #[test]
    fn large_recordings_take_linear_time() {
        // It takes a quarter of an hour to compare each message with all requests.
        const LINES: usize = 20_000;
        let lines = |line: &dyn Fn(usize) -> String| -> String { (0..LINES).map(line).collect() };
        let text = [
            format!("{HEADER}\n"),
            lines(&|id| {
                format!(
                    "{{\"from\":\"client\",\"message\":{{\"id\":{id},\"method\":\"a\",\"params\":{{\"n\":0}}}}}}\n"
                )
            }),
            lines(&|id| {
                format!(
                    "{{\"from\":\"server\",\"message\":{{\"method\":\"p\",\"params\":{{\"progressToken\":\"{id}\"}}}}}}\n"
                )
            }),
            lines(&|id| {
                format!(
                    "{{\"from\":\"server\",\"message\":{{\"id\":\"q{id}\",\"method\":\"ask\"}}}}\n"
                )
            }),
            lines(&|id| {
                format!(
                    "{{\"from\":\"client\",\"message\":{{\"id\":\"x{id}\",\"result\":{{}}}}}}\n"
                )
            }),
            lines(&|id| {
                format!(
                    "{{\"from\":\"server\",\"message\":{{\"id\":{id},\"result\":{{\"n\":{id}}}}}}}\n"
                )
            }),
        ];
        let start = Instant::now();
        let turns = parse(&text.concat()).unwrap().into_iter();
        let mut player = Player::new(turns.filter_map(Turn::into_request).collect());
        let request = json!({"id": 1, "method": "a", "params": {"n": 0}});
        let last = LINES - 1;
        for n in 0..last {
            assert_eq!(player.receive(&request)[0]["result"]["n"], n);
        }
        // The server has asked during the last one.
        assert_eq!(player.receive(&request)[0]["id"], "q0");
        assert!(start.elapsed() < Duration::from_secs(100));
    }

    #[test]
    fn messages_from_the_server_belong_to_their_request() {
        let lines = [
            HEADER,
            r#"{"from":"client","message":{"id":1,"method":"a","params":{"_meta":{"progressToken":7}}}}"#,
            r#"{"from":"client","message":[{"id":2,"method":"b"}]}"#,
            r#"{"from":"server","message":{"method":"p","params":{"progressToken":7}}}"#,
            r#"{"from":"server","message":{"method":"p","params":{"progressToken":8}}}"#,
            r#"{"from":"server","message":{"id":"x","method":"ask"}}"#,
            r#"{"from":"client","message":{"id":"x","result":{}}}"#,
            r#"{"from":"server","message":{"id":1,"result":{}}}"#,
            r#"{"from":"server","message":{"id":2,"result":{}}}"#,
            r#"{"from":"server","message":{"method":"late"}}"#,
        ];
        let turns = parse(&lines.join("\n")).unwrap().into_iter();
        let all: Vec<Dialogue> = turns.filter_map(Turn::into_request).collect();
        let methods = |index: usize| -> Vec<&str> {
            let replies = all[index].replies.iter();
            replies
                .map(|reply| reply["method"].as_str().unwrap_or("response"))
                .collect()
        };
        assert_eq!(methods(0), ["p", "response"]);
        assert_eq!(methods(1), ["ask", "response", "late"]);
        assert_eq!((all[0].answers.len(), all[1].answers.len()), (0, 1));
        assert_eq!(all[1].line, 3);
    }
}
