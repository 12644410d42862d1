//! Reading a recorded session, and grouping its messages by client request.

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use mcp::types::meta::keys::SUBSCRIPTION_ID;
use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::session_file::{Side, VERSION};

/// Maximum file size: 256 MiB.
const MAX_BYTES: u64 = 256 << 20;

/// The first line of a file: the version of its format.
#[derive(Debug, Deserialize)]
struct Header {
    recording: u32,
}

/// A later line of a file: a message, or a batch of messages.
#[derive(Debug, Deserialize)]
struct Line {
    from: Side,
    message: Value,
}

/// A recorded message; a batch has become several.
#[derive(Debug)]
pub(super) struct Entry {
    /// Line number in the file.
    pub(super) line: usize,
    from: Side,
    pub(super) message: Value,
}

/// A recorded session.
#[derive(Debug, Default)]
pub(super) struct Recording {
    entries: Vec<Entry>,
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

impl Recording {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let failed =
            |error: &dyn fmt::Display| Failure::usage(format!("{}: {error}", path.display()));
        let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
        let mut text = String::new();
        let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
        read.map_err(|error| failed(&error))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(failed(&"a recording has at most 256 MiB"));
        }
        Self::parse(&text).map_err(|error| failed(&error))
    }

    fn parse(text: &str) -> Result<Self, String> {
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
                return Err(
                    "line 1: this file is not a recording; create one with `mcp record`".to_owned(),
                );
            }
        }
        let mut entries = Vec::new();
        for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
            let number = index + 1;
            let line: Line = serde_json::from_str(line)
                .map_err(|error| format!("line {number}: {error}; record the session again"))?;
            entries.extend(split(line.message).into_iter().map(|message| Entry {
                line: number,
                from: line.from,
                message,
            }));
        }
        Ok(Self { entries })
    }

    /// Returns the client's requests and notifications in order. Each request has its messages.
    pub(super) fn into_turns(self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = Vec::new();
        for entry in self.entries {
            match (entry.from, Kind::of(&entry.message)) {
                (Side::Client, Kind::Request) => turns.push(Turn::Request(Dialogue {
                    line: entry.line,
                    request: entry.message,
                    replies: Vec::new(),
                    answers: Vec::new(),
                })),
                (Side::Client, Kind::Notification) => {
                    turns.push(Turn::Notification(entry.message));
                }
                (Side::Client, Kind::Response) => {
                    let id = &entry.message["id"];
                    let asked = |dialogue: &&mut Dialogue| {
                        dialogue
                            .replies
                            .iter()
                            .any(|reply| reply.get("method").is_some() && reply["id"] == *id)
                    };
                    if let Some(dialogue) = dialogues(&mut turns).rev().find(asked) {
                        dialogue.answers.push(entry.message);
                    }
                }
                (Side::Server, _) => {
                    if let Some(dialogue) = dialogue_of(&mut turns, &entry.message) {
                        dialogue.replies.push(entry.message);
                    }
                }
            }
        }
        turns
    }

    pub(super) fn into_dialogues(self) -> Vec<Dialogue> {
        let turns = self.into_turns().into_iter();
        let requests = turns.filter_map(|turn| match turn {
            Turn::Request(dialogue) => Some(dialogue),
            Turn::Notification(_) => None,
        });
        requests.collect()
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

fn dialogues(turns: &mut [Turn]) -> impl DoubleEndedIterator<Item = &mut Dialogue> {
    turns.iter_mut().filter_map(|turn| match turn {
        Turn::Request(dialogue) => Some(dialogue),
        Turn::Notification(_) => None,
    })
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
    match turns.get_mut(index)? {
        Turn::Request(dialogue) => Some(dialogue),
        Turn::Notification(_) => None,
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
    use super::Recording;

    const HEADER: &str = r#"{"recording":1,"target":"t"}"#;

    fn problem(text: &str) -> String {
        Recording::parse(text).unwrap_err()
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
        let all = Recording::parse(&lines.join("\n"))
            .unwrap()
            .into_dialogues();
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
