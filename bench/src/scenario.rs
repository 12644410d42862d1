//! The requests of each scenario, and what a right answer to them is.

use std::str::FromStr;

use memchr::memmem;
use serde_json::{Value, json};

use crate::era::{self, Era};

/// What is asked of the server, over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scenario {
    /// A `tools/call` of `echo` with a short message.
    Call,
    /// A `tools/call` of `progress` with this many reports.
    Progress(usize),
    /// A `tools/list` of at least this many tools.
    List(usize),
    /// A `tools/call` of `echo` with 1 MiB.
    Big,
}

/// Reports per call unless the command line says otherwise.
const EVENTS: usize = 1000;
const BIG: usize = 1 << 20;
const SHORT_MESSAGE: &str = "the quick brown fox";
const ID_DIGITS: usize = 7;
const FIRST_ID: u32 = 1_000_000;
const BODY_START: &str = r#"{"jsonrpc":"2.0","id":"#;

impl FromStr for Scenario {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "call" => Ok(Self::Call),
            "progress" => Ok(Self::Progress(EVENTS)),
            "list" => Ok(Self::List(1)),
            "big" => Ok(Self::Big),
            _ => Err("expected call, progress, list or big".to_owned()),
        }
    }
}

impl Scenario {
    fn message(self) -> String {
        match self {
            Self::Big => "x".repeat(BIG),
            _ => SHORT_MESSAGE.to_owned(),
        }
    }

    /// Method, tool name and parameters.
    fn call(self) -> (&'static str, Option<&'static str>, Value) {
        match self {
            Self::Call | Self::Big => {
                let arguments = json!({"message": self.message()});
                (
                    "tools/call",
                    Some("echo"),
                    json!({"name": "echo", "arguments": arguments}),
                )
            }
            Self::Progress(events) => {
                let arguments = json!({"n": events});
                (
                    "tools/call",
                    Some("progress"),
                    json!({"name": "progress", "arguments": arguments}),
                )
            }
            Self::List(_) => ("tools/list", None, json!({})),
        }
    }

    /// The request of an era, as the body of a message.
    fn body(self, era: Era) -> (String, &'static str, Option<&'static str>) {
        let (method, name, mut params) = self.call();
        let mut meta = json!({});
        if era == Era::Modern {
            meta = json!({
                "io.modelcontextprotocol/protocolVersion": era.version(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        if matches!(self, Self::Progress(_)) {
            meta["progressToken"] = "p".into();
        }
        if meta != json!({}) {
            params["_meta"] = meta;
        }
        let body = format!("{BODY_START}{FIRST_ID},\"method\":\"{method}\",\"params\":{params}}}");
        (body, method, name)
    }

    /// The request as it goes over HTTP; `session` is the id of the connection's session.
    #[must_use]
    pub fn request(self, port: u16, era: Era, session: Option<&str>) -> Request {
        let (body, method, name) = self.body(era);
        let headers = match (era, session) {
            (Era::Modern, _) => {
                let name = name
                    .map(|name| format!("Mcp-Name: {name}\r\n"))
                    .unwrap_or_default();
                format!(
                    "MCP-Protocol-Version: {}\r\nMcp-Method: {method}\r\n{name}",
                    era.version()
                )
            }
            (_, Some(session)) => era::session_headers(session),
            (_, None) => format!("MCP-Protocol-Version: {}\r\n", era.version()),
        };
        let bytes = era::post(port, &headers, &body);
        let id_end = bytes.len() - body.len() + BODY_START.len() + ID_DIGITS;
        Request {
            bytes,
            id_end,
            next_id: FIRST_ID,
        }
    }

    /// The request as it goes over a pipe.
    #[must_use]
    pub fn line(self, era: Era) -> Request {
        let (body, ..) = self.body(era);
        Request {
            bytes: format!("{body}\n").into_bytes(),
            id_end: BODY_START.len() + ID_DIGITS,
            next_id: FIRST_ID,
        }
    }

    /// What answers to this scenario are held against, on one connection.
    #[must_use]
    pub fn checker(self, era: Era) -> Checker {
        let marker = match self {
            Self::Call => format!("\"text\":\"{SHORT_MESSAGE}\""),
            Self::Progress(_) => "notifications/progress".to_owned(),
            Self::List(_) => "\"tools\":[".to_owned(),
            // Looking through the whole text again would cost the generator more than the rest.
            Self::Big => "\"result\":".to_owned(),
        };
        Checker {
            scenario: self,
            era,
            marker,
            length: None,
        }
    }

    /// Reads an answer as a client would.
    fn accepts(self, answer: &[u8], era: Era, id: u32) -> bool {
        let events: Vec<Value> = match serde_json::from_slice(answer) {
            Ok(answer) => vec![answer],
            Err(_) => match sse_messages(answer) {
                Some(events) => events,
                None => return false,
            },
        };
        let Some((last, before)) = events.split_last() else {
            return false;
        };
        let result = &last["result"];
        let kind = &result["resultType"];
        let complete = if era == Era::Modern {
            kind == "complete"
        } else {
            kind.is_null()
        };
        let answered = last["id"] == id && complete;
        answered
            && match self {
                Self::Call | Self::Big => result["content"][0]["text"] == self.message(),
                Self::List(least) => result["tools"]
                    .as_array()
                    .is_some_and(|tools| tools.len() >= least),
                Self::Progress(count) => {
                    let report = |event: &Value| event["method"] == "notifications/progress";
                    before.len() == count && before.iter().all(report)
                }
            }
    }
}

/// The messages of an event stream, when every one is JSON.
fn sse_messages(stream: &[u8]) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(stream).ok()?;
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data = data.filter(|data| !data.trim().is_empty());
    data.map(|data| serde_json::from_str(data).ok()).collect()
}

/// A request whose id is written anew each time.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    id_end: usize,
    next_id: u32,
}

impl Request {
    /// Gives the request its next id: the bytes to send, and the id in them.
    pub fn prepare(&mut self) -> (&[u8], u32) {
        let id = self.next_id;
        // The id keeps its width, so that nothing else in the request moves.
        self.next_id = if id == FIRST_ID * 10 - 1 {
            FIRST_ID
        } else {
            id + 1
        };
        let digits = &mut self.bytes[self.id_end - ID_DIGITS..self.id_end];
        digits.copy_from_slice(id.to_string().as_bytes());
        (&self.bytes, id)
    }
}

/// Checks answers: the first one of a connection as a client would read it, the others by their
/// length and marks, which costs next to nothing.
#[derive(Clone, Debug)]
pub struct Checker {
    scenario: Scenario,
    era: Era,
    marker: String,
    /// The length of the first answer; a stream's framing is not counted.
    length: Option<usize>,
}

impl Checker {
    /// Whether the body answers the request with that id.
    pub fn accepts(&mut self, body: &[u8], id: u32) -> bool {
        let Some(length) = self.length else {
            let good = self.scenario.accepts(body, self.era, id);
            self.length = good.then_some(body.len());
            return good;
        };
        let has_id = memmem::find(body, format!("\"id\":{id}").as_bytes()).is_some();
        let marks = match self.scenario {
            Scenario::Progress(count) => memmem::find_iter(body, &self.marker).count() == count,
            _ => memmem::find(body, self.marker.as_bytes()).is_some(),
        };
        // The events of a session may have ids, which grow.
        has_id && marks && (body.len() == length || self.era == Era::Session)
    }
}

#[cfg(test)]
mod tests {
    use super::Scenario;
    use crate::era::Era;

    fn answer(id: u32, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    #[test]
    fn a_request_is_whole_http_with_its_own_id() {
        let mut request = Scenario::Call.request(8001, Era::Modern, None);
        let (first, id) = request.prepare();
        let text = String::from_utf8(first.to_vec()).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}", body.len())));
        assert!(head.contains("Mcp-Name: echo"));
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["id"], id);
        assert_eq!(body["params"]["arguments"]["message"], super::SHORT_MESSAGE);
        let (second, next) = request.prepare();
        assert_eq!(next, id + 1);
        assert!(String::from_utf8_lossy(second).contains(&format!("\"id\":{next},")));
    }

    #[test]
    fn wrong_answers_are_refused_first_and_later() {
        let mut checker = Scenario::Call.checker(Era::Modern);
        let good = answer(1_000_000, super::SHORT_MESSAGE);
        assert!(!checker.accepts(answer(1_000_000, "something else").as_bytes(), 1_000_000));
        assert!(!checker.accepts(br#"{"id":1000000,"error":{}}"#, 1_000_000));
        assert!(checker.accepts(good.as_bytes(), 1_000_000));
        assert!(!checker.accepts(good.as_bytes(), 1_000_001), "another id");
        assert!(checker.accepts(
            answer(1_000_001, super::SHORT_MESSAGE).as_bytes(),
            1_000_001
        ));
        assert!(!checker.accepts(
            answer(1_000_001, "another text here..").as_bytes(),
            1_000_001
        ));
        assert!(!checker.accepts(br#"{"id":1000001,"text":"the quick brown fox"}"#, 1_000_001));
    }

    #[test]
    fn every_report_of_a_stream_is_counted() {
        let report = "event: message\ndata: {\"method\":\"notifications/progress\"}\n\n";
        let result = |id| format!("data: {}\n\n", answer(id, "done"));
        let stream = |reports: usize, id| [report.repeat(reports), result(id)].concat();
        let mut checker = Scenario::Progress(3).checker(Era::Modern);
        assert!(!checker.accepts(stream(2, 1_000_000).as_bytes(), 1_000_000));
        assert!(!checker.accepts(report.repeat(3).as_bytes(), 1_000_000));
        assert!(checker.accepts(stream(3, 1_000_000).as_bytes(), 1_000_000));
        assert!(checker.accepts(stream(3, 1_000_001).as_bytes(), 1_000_001));
        assert!(!checker.accepts(stream(2, 1_000_002).as_bytes(), 1_000_002));
    }

    #[test]
    fn a_list_has_the_tools_it_should() {
        let list = r#"{"id":1000000,"result":{"resultType":"complete","tools":[{},{}]}}"#;
        assert!(
            Scenario::List(2)
                .checker(Era::Modern)
                .accepts(list.as_bytes(), 1_000_000)
        );
        assert!(
            !Scenario::List(3)
                .checker(Era::Modern)
                .accepts(list.as_bytes(), 1_000_000)
        );
    }
}
