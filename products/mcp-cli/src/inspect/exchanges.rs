//! HTTP requests and responses behind the messages, without their secrets.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use mcp::http::sse::{SseEvent, SseItem};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::history::History;
use super::http_rules::Sent;
use super::redact;
use super::violations::Violations;

/// Largest number of bodies and events that wait for their message or request.
const MAX_RECENT: usize = 256;

/// The HTTP exchanges of all connections, and the messages that they carry.
#[derive(Debug)]
pub(crate) struct Exchanges {
    history: Arc<History>,
    hasher: RandomState,
    recent: Mutex<Recent>,
}

/// One HTTP request.
#[derive(Debug)]
pub(super) struct ObservedExchange {
    number: u64,
    sent: Sent,
}

#[derive(Debug, Default)]
struct Recent {
    last: u64,
    /// Message numbers by the hash of the sent body.
    sent: VecDeque<(u64, u64)>,
    /// The other fields of server-sent events, by the hash of their data.
    events: VecDeque<(u64, Value)>,
}

impl Exchanges {
    pub(super) fn new(history: Arc<History>) -> Self {
        Self {
            history,
            hasher: RandomState::new(),
            recent: Mutex::default(),
        }
    }

    /// A message is going to be sent. `number` is that of its event.
    pub(super) fn message_sent(&self, body: &[u8], number: u64) {
        let hash = self.hasher.hash_one(body);
        push(&mut self.recent.lock().sent, (hash, number));
    }

    /// Returns the SSE fields (id, event, retry) of a message.
    pub(super) fn event_of(&self, message: &[u8]) -> Option<Value> {
        let hash = self.hasher.hash_one(message);
        let mut recent = self.recent.lock();
        let at = recent.events.iter().position(|(it, _)| *it == hash)?;
        recent.events.remove(at).map(|(_, event)| event)
    }

    /// A request starts.
    pub(super) fn started(&self, request: &Request<Bytes>) -> ObservedExchange {
        let hash = self.hasher.hash_one(&request.body()[..]);
        let mut recent = self.recent.lock();
        recent.last += 1;
        let number = recent.last;
        // A request is repeated after a login, with the same body.
        let mut sent = recent.sent.iter().rev();
        let message = sent.find(|(it, _)| *it == hash && !request.body().is_empty());
        let message = message.map(|(_, number)| *number);
        drop(recent);
        let sent = Sent::new(request);
        let request = json!({
            "method": request.method().as_str(),
            "url": redact::url(&request.uri().to_string()),
            "headers": redact::request(request.headers()),
        });
        let event = json!({"exchange": number, "message": message, "request": request});
        self.history.add("http", event);
        ObservedExchange { number, sent }
    }

    /// The head of a response has arrived.
    pub(super) fn answered<B>(&self, exchange: &ObservedExchange, response: &Response<B>) {
        let status = response.status();
        let mut violations = Violations::default();
        let sent = &exchange.sent;
        sent.check(status, response.headers(), &mut violations);
        let response = json!({
            "status": status.as_u16(),
            "reason": status.canonical_reason(),
            "headers": redact::response(response.headers()),
        });
        let violations = violations.into_json();
        let number = exchange.number;
        let event = json!({"exchange": number, "response": response, "violations": violations});
        self.history.add("http", event);
    }

    /// A request has failed. The message behind it says why.
    pub(super) fn failed(&self, exchange: &ObservedExchange) {
        let event = json!({"exchange": exchange.number, "failed": true});
        self.history.add("http", event);
    }

    /// An event stream item has arrived.
    pub(super) fn streamed(&self, exchange: &ObservedExchange, item: SseItem) {
        let number = exchange.number;
        match item {
            SseItem::Event(event) if is_message(&event) => {
                let hash = self.hasher.hash_one(event.data.as_bytes());
                let head = describe(number, &event);
                push(&mut self.recent.lock().events, (hash, head));
            }
            SseItem::Event(event) => self.history.add("sse", describe(number, &event)),
            SseItem::Retry(wait) => {
                let retry = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                let event = json!({"exchange": number, "retry": retry});
                self.history.add("sse", event);
            }
            _ => {}
        }
    }
}

/// Returns true if an event's data is a protocol message.
fn is_message(event: &SseEvent) -> bool {
    event.name == "message" && !event.data.is_empty()
}

fn describe(exchange: u64, event: &SseEvent) -> Value {
    let retry = event.retry.map(|retry| retry.as_millis());
    let retry = retry.and_then(|milliseconds| u64::try_from(milliseconds).ok());
    json!({
        "exchange": exchange,
        "id": event.id.as_deref().map(redact::shortened),
        "event": redact::shortened(&event.name),
        "retry": retry,
    })
}

fn push<T>(list: &mut VecDeque<T>, item: T) {
    if list.len() == MAX_RECENT {
        list.pop_front();
    }
    list.push_back(item);
}

/// Returns whether a response is an event stream.
pub(super) fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(http::header::CONTENT_TYPE);
    let kind = kind
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("text/event-stream")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use http::{Request, Response};
    use mcp::http::sse::{Decoder, SseLimits};
    use serde_json::{Value, json};

    use super::{Exchanges, MAX_RECENT};
    use crate::inspect::history::History;

    fn events(history: &History) -> Vec<Value> {
        let events = history.after(0).into_iter();
        events
            .map(|event| serde_json::from_str(&event.json).unwrap())
            .collect()
    }

    #[test]
    fn exchange_names_the_message_in_its_body_without_secrets() {
        let history = Arc::new(History::new());
        let exchanges = Exchanges::new(history.clone());
        exchanges.message_sent(b"{\"id\":1}", 7);
        let request = Request::post("https://ada:pw@example.com/mcp?key=secret-1")
            .header("authorization", "Bearer secret-2")
            .header("x-api-key", "secret-3")
            .header("mcp-session-id", "secret-4")
            .header("accept", "application/json")
            .body(Bytes::from_static(b"{\"id\":1}"))
            .unwrap();
        let exchange = exchanges.started(&request);
        let response = Response::builder()
            .header("set-cookie", "a=secret-5")
            .header("content-type", "application/json")
            .body(())
            .unwrap();
        exchanges.answered(&exchange, &response);
        let events = events(&history);
        assert_eq!(events[0]["message"], 7);
        let request = &events[0]["request"];
        assert_eq!(request["url"], "https://example.com/mcp?…");
        let accept = json!(["accept", "application/json"]);
        assert!(request["headers"].as_array().unwrap().contains(&accept));
        assert_eq!(events[1]["response"]["status"], 200);
        let text = format!("{events:?}");
        assert!(!text.contains("secret-") && !text.contains("pw"), "{text}");
        assert!(text.contains("set-cookie"));
    }

    #[test]
    fn events_in_a_stream_belong_to_their_messages() {
        let history = Arc::new(History::new());
        let exchanges = Exchanges::new(history.clone());
        let exchange = exchanges.started(&Request::new(Bytes::new()));
        let text = "retry: 5\n\nid: a\ndata:\n\nid: b\nretry: 9\ndata: {\"id\":1}\n\nevent: ping\ndata: x\n\n";
        let mut decoder = Decoder::new(SseLimits::default());
        let mut chunk = Bytes::from_static(text.as_bytes());
        while let Some(item) = decoder.decode(&mut chunk) {
            exchanges.streamed(&exchange, item.unwrap());
        }
        let head = json!({"exchange": 1, "id": "b", "event": "message", "retry": 9});
        assert_eq!(exchanges.event_of(b"{\"id\":1}"), Some(head));
        assert_eq!(exchanges.event_of(b"{\"id\":1}"), None);
        let events = events(&history);
        assert!(events.iter().any(|event| event["retry"] == 5), "{events:?}");
        assert!(
            events.iter().any(|event| event["event"] == "ping"),
            "{events:?}"
        );
    }

    #[test]
    fn oldest_bodies_are_forgotten() {
        let exchanges = Exchanges::new(Arc::new(History::new()));
        for number in 0..=MAX_RECENT as u64 {
            exchanges.message_sent(&number.to_be_bytes(), number);
        }
        assert_eq!(exchanges.recent.lock().sent.len(), MAX_RECENT);
        assert_eq!(exchanges.recent.lock().sent.front().unwrap().1, 1);
    }
}
