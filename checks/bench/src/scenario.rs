//! The requests of each scenario, and the checks of their responses.

use std::str::FromStr;

use memchr::memmem;
use serde_json::{Value, json};

use crate::era::{self, Era};

/// The request that a connection repeats.
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

/// Default number of reports per call.
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

    /// Returns the body, the method and the tool name of the request.
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

    /// Returns the HTTP request; `session` is the session id of the connection.
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

    /// Returns the request as one line for a pipe.
    #[must_use]
    pub fn line(self, era: Era) -> Request {
        let (body, ..) = self.body(era);
        Request {
            bytes: format!("{body}\n").into_bytes(),
            id_end: BODY_START.len() + ID_DIGITS,
            next_id: FIRST_ID,
        }
    }

    /// Returns the checker for the responses on one connection.
    #[must_use]
    pub fn checker(self, era: Era) -> Checker {
        let marker = match self {
            Self::Call => format!("\"text\":\"{SHORT_MESSAGE}\""),
            Self::Progress(_) => "notifications/progress".to_owned(),
            Self::List(_) => "\"tools\":[".to_owned(),
            // A search through 1 MiB would dominate the cost of the load generator.
            Self::Big => "\"result\":".to_owned(),
        };
        Checker {
            scenario: self,
            era,
            marker,
            length: None,
        }
    }

    /// Parses and checks a response completely.
    fn accepts(self, response: &[u8], era: Era, id: u32) -> bool {
        let events: Vec<Value> = match serde_json::from_slice(response) {
            Ok(message) => vec![message],
            Err(_) => match sse_messages(response) {
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
        let is_response = last["id"] == id && complete;
        is_response
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

/// Returns the messages of an event stream; `None` if one is not JSON.
fn sse_messages(stream: &[u8]) -> Option<Vec<Value>> {
    let text = std::str::from_utf8(stream).ok()?;
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data = data.filter(|data| !data.trim().is_empty());
    data.map(|data| serde_json::from_str(data).ok()).collect()
}

/// A request that gets a new id each time it is sent.
#[derive(Clone, Debug)]
pub struct Request {
    bytes: Vec<u8>,
    id_end: usize,
    next_id: u32,
}

impl Request {
    /// Adds an access token to an HTTP request.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        let line = format!("Authorization: Bearer {token}\r\n");
        let first = memmem::find(&self.bytes, b"\r\n").map_or(0, |end| end + 2);
        self.bytes.splice(first..first, line.bytes());
        self.id_end += line.len();
        self
    }

    /// Sets the next id and returns the request with this id.
    pub fn prepare(&mut self) -> (&[u8], u32) {
        let id = self.next_id;
        // All ids have the same width, so that the other bytes keep their positions.
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

/// Checks the responses of one connection. The first one is parsed; the others are compared by length
/// and by markers, which is cheap enough for a load generator.
#[derive(Clone, Debug)]
pub struct Checker {
    scenario: Scenario,
    era: Era,
    marker: String,
    /// Length of the first response, without chunked framing.
    length: Option<usize>,
}

impl Checker {
    /// Returns `true` if the body is a valid response to the request with this id.
    pub fn accepts(&mut self, body: &[u8], id: u32) -> bool {
        let Some(length) = self.length else {
            let valid = self.scenario.accepts(body, self.era, id);
            self.length = valid.then_some(body.len());
            return valid;
        };
        let has_id = memmem::find(body, format!("\"id\":{id}").as_bytes()).is_some();
        let has_markers = match self.scenario {
            Scenario::Progress(count) => memmem::find_iter(body, &self.marker).count() == count,
            _ => memmem::find(body, self.marker.as_bytes()).is_some(),
        };
        // Events of a session can have ids of increasing length.
        has_id && has_markers && (body.len() == length || self.era == Era::Session)
    }
}

#[cfg(test)]
mod tests {
    use super::Scenario;
    use crate::era::Era;

    fn response(id: u32, text: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    #[test]
    fn request_is_complete_http_with_new_id() {
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
    fn invalid_responses_are_rejected() {
        let mut checker = Scenario::Call.checker(Era::Modern);
        let valid = response(1_000_000, super::SHORT_MESSAGE);
        assert!(!checker.accepts(response(1_000_000, "something else").as_bytes(), 1_000_000));
        assert!(!checker.accepts(br#"{"id":1000000,"error":{}}"#, 1_000_000));
        assert!(checker.accepts(valid.as_bytes(), 1_000_000));
        assert!(!checker.accepts(valid.as_bytes(), 1_000_001), "another id");
        assert!(checker.accepts(
            response(1_000_001, super::SHORT_MESSAGE).as_bytes(),
            1_000_001
        ));
        assert!(!checker.accepts(
            response(1_000_001, "another text here..").as_bytes(),
            1_000_001
        ));
        assert!(!checker.accepts(br#"{"id":1000001,"text":"the quick brown fox"}"#, 1_000_001));
    }

    #[test]
    fn missing_progress_report_is_rejected() {
        let report = "event: message\ndata: {\"method\":\"notifications/progress\"}\n\n";
        let result = |id| format!("data: {}\n\n", response(id, "done"));
        let stream = |reports: usize, id| [report.repeat(reports), result(id)].concat();
        let mut checker = Scenario::Progress(3).checker(Era::Modern);
        assert!(!checker.accepts(stream(2, 1_000_000).as_bytes(), 1_000_000));
        assert!(!checker.accepts(report.repeat(3).as_bytes(), 1_000_000));
        assert!(checker.accepts(stream(3, 1_000_000).as_bytes(), 1_000_000));
        assert!(checker.accepts(stream(3, 1_000_001).as_bytes(), 1_000_001));
        assert!(!checker.accepts(stream(2, 1_000_002).as_bytes(), 1_000_002));
    }

    #[test]
    fn short_list_is_rejected() {
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
