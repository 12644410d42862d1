//! Reading a recorded session, and grouping its messages by client request.

use std::path::Path;

use mcp::group::files;
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
    let text = files::read(path, MAX_BYTES);
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
    let mut turns = Vec::new();
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let number = index + 1;
        let line: Line = serde_json::from_str(line)
            .map_err(|error| format!("line {number}: {error}; record the session again"))?;
        for message in split(line.message) {
            add(&mut turns, number, line.from, message);
        }
    }
    Ok(turns)
}

fn add(turns: &mut Vec<Turn>, line: usize, from: Side, message: Value) {
    match (from, Kind::of(&message)) {
        (Side::Client, Kind::Request) => turns.push(Turn::Request(Dialogue {
            line,
            request: message,
            replies: Vec::new(),
            answers: Vec::new(),
        })),
        (Side::Client, Kind::Notification) => turns.push(Turn::Notification(message)),
        (Side::Client, Kind::Response) => {
            let is_question =
                |reply: &Value| reply.get("method").is_some() && reply["id"] == message["id"];
            let asked = |dialogue: &&mut Dialogue| dialogue.replies.iter().any(is_question);
            let mut dialogues = turns.iter_mut().rev().filter_map(Turn::as_request);
            if let Some(dialogue) = dialogues.find(asked) {
                dialogue.answers.push(message);
            }
        }
        (Side::Server, _) => {
            if let Some(dialogue) = dialogue_of(turns, &message) {
                dialogue.replies.push(message);
            }
        }
    }
}

impl Turn {
    fn as_request(&mut self) -> Option<&mut Dialogue> {
        match self {
            Self::Request(dialogue) => Some(dialogue),
            Self::Notification(_) => None,
        }
    }

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
        let is_response = |message: &&Value| Kind::of(message) == Kind::Response;
        self.replies.iter().find(is_response)
    }
}

/// Finds the request to which a server message belongs. The message names it by id, progress token or
/// subscription; if it names none, it belongs to the latest request without a response, or else to the
/// latest one.
fn dialogue_of<'a>(turns: &'a mut [Turn], message: &Value) -> Option<&'a mut Dialogue> {
    let params = &message["params"];
    let id = match Kind::of(message) {
        Kind::Response => Some(&message["id"]),
        _ => None,
    };
    let token = params.get("progressToken");
    let subscription = params["_meta"].get(SUBSCRIPTION_ID);
    let belongs = |dialogue: &Dialogue| {
        let request = &dialogue.request;
        id == Some(&request["id"])
            || token.is_some_and(|token| *token == request["params"]["_meta"]["progressToken"])
            || subscription.is_some_and(|wanted| wanted.as_str() == Some(&id_text(&request["id"])))
    };
    let latest = |accepts: &dyn Fn(&Dialogue) -> bool| {
        turns
            .iter()
            .rposition(|turn| matches!(turn, Turn::Request(dialogue) if accepts(dialogue)))
    };
    let names_request = id.is_some() || token.is_some() || subscription.is_some();
    let index = if names_request {
        latest(&belongs)?
    } else {
        latest(&|dialogue| dialogue.response().is_none()).or_else(|| latest(&|_| true))?
    };
    turns.get_mut(index)?.as_request()
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
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

impl Kind {
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
    fn messages_of_the_server_belong_to_their_request() {
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
