//! All that happened, in its order: messages, questions, changes.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::session_file::{self, Side};

/// Largest number of events that are kept.
const MAX_EVENTS: usize = 10_000;
/// Largest size of all kept events in bytes: 64 MiB.
const MAX_BYTES: usize = 64 << 20;
/// Largest message that is kept in bytes: 4 MiB.
const MAX_MESSAGE: usize = 4 << 20;
/// Largest number of events that are returned at once.
const BATCH: usize = 256;

/// An event with its number, as JSON.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) number: u64,
    pub(super) json: Arc<str>,
    /// The offset in `json` at which the members of a line in a recording begin, if the event is a message.
    line: Option<usize>,
}

/// An event that is not a message, as the page receives it.
#[derive(Serialize)]
struct OtherEvent<'a, T> {
    kind: &'a str,
    ms: u64,
    /// Serialized without a [`Value`] in between, which would round numbers.
    #[serde(flatten)]
    event: &'a T,
}

/// The events. The oldest are removed at the limits.
#[derive(Debug)]
pub(super) struct History {
    start: Instant,
    kept: Mutex<Kept>,
    newest: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Kept {
    events: VecDeque<Event>,
    bytes: usize,
    last: u64,
}

impl History {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            kept: Mutex::default(),
            newest: watch::Sender::new(0),
        }
    }

    /// Adds a message, and returns its number. `head` is what HTTP says beside it.
    pub(super) fn add_message(&self, from: Side, message: &[u8], head: &Value) -> u64 {
        let (ms, bytes) = (self.milliseconds(), message.len());
        let line = match serde_json::from_slice::<&RawValue>(message) {
            Ok(raw) if bytes <= MAX_MESSAGE => session_file::line(ms, from, raw.get()),
            Ok(_) => session_file::line(ms, from, &json!({"tooLarge": bytes}).to_string()),
            Err(_) => {
                let start = String::from_utf8_lossy(&message[..bytes.min(1024)]);
                session_file::line(ms, from, &json!({"malformed": start}).to_string())
            }
        };
        let head = format!(r#"{{"kind":"message","bytes":{bytes},"head":{head},"#);
        self.push(format!("{head}{}", &line[1..]), Some(head.len()))
    }

    /// Adds another event, which serializes to an object.
    pub(super) fn add(&self, kind: &str, event: impl Serialize) {
        let ms = self.milliseconds();
        let event = &event;
        // An event whose `Serialize` fails is not shown.
        if let Ok(json) = serde_json::to_string(&OtherEvent { kind, ms, event }) {
            // JSON of the server may have line breaks between its tokens. An event is one line.
            self.push(json.replace(['\r', '\n'], " "), None);
        }
    }

    /// Returns the next events after a number.
    pub(super) fn after(&self, number: u64) -> Vec<Event> {
        let kept = self.kept.lock();
        let first = kept.events.partition_point(|event| event.number <= number);
        kept.events.range(first..).take(BATCH).cloned().collect()
    }

    /// Changes with every event.
    pub(super) fn newest(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Returns the messages as lines of a recording.
    pub(super) fn lines(&self) -> Vec<String> {
        let kept = self.kept.lock();
        let line = |event: &Event| Some(format!("{{{}", &event.json[event.line?..]));
        kept.events.iter().filter_map(line).collect()
    }

    fn milliseconds(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn push(&self, json: String, line: Option<usize>) -> u64 {
        let mut kept = self.kept.lock();
        kept.last += 1;
        let number = kept.last;
        let event = Event {
            number,
            json: json.into(),
            line,
        };
        kept.bytes += event.json.len();
        kept.events.push_back(event);
        while kept.events.len() > MAX_EVENTS || kept.bytes > MAX_BYTES {
            let Some(oldest) = kept.events.pop_front() else {
                break;
            };
            kept.bytes -= oldest.json.len();
        }
        drop(kept);
        self.newest.send_replace(number);
        number
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::{History, MAX_BYTES, MAX_EVENTS, MAX_MESSAGE};
    use crate::session_file::Side;

    #[test]
    fn oldest_events_are_removed_at_the_limits() {
        let history = History::new();
        for _ in 0..MAX_EVENTS + 5 {
            history.add("change", json!({}));
        }
        assert_eq!(history.after(0)[0].number, 6);
        let large = json!({"text": "x".repeat(MAX_MESSAGE - 100)}).to_string();
        for _ in 0..20 {
            history.add_message(Side::Server, large.as_bytes(), &Value::Null);
        }
        let kept = history.kept.lock();
        assert!(kept.bytes <= MAX_BYTES);
        assert!(kept.events.len() <= MAX_BYTES / (MAX_MESSAGE - 100));
    }

    #[test]
    fn event_is_one_line_and_keeps_its_numbers() {
        let history = History::new();
        let raw = RawValue::from_string("{\"n\":\r\n1e400}".to_owned()).unwrap();
        history.add("task", BTreeMap::from([("task", raw)]));
        let json = &history.after(0)[0].json;
        assert!(json.ends_with(r#""task":{"n":  1e400}}"#), "{json}");
    }

    #[test]
    fn messages_become_lines_in_a_recording() {
        let history = History::new();
        history.add("change", json!({}));
        history.add_message(Side::Client, b"{\"a\":\n1}", &Value::Null);
        history.add_message(Side::Server, b"no json", &Value::Null);
        history.add_message(Side::Server, &vec![b'1'; MAX_MESSAGE + 1], &Value::Null);
        let lines = history.lines();
        let messages: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["message"].take())
            .collect();
        let expected = [
            json!({"a": 1}),
            json!({"malformed": "no json"}),
            json!({"tooLarge": MAX_MESSAGE + 1}),
        ];
        assert_eq!(messages, expected);
    }
}
