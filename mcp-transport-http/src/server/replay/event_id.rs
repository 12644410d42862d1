//! Event ids, and the encoding of stored events.
//!
//! An id is `<stream>_<number>`. Its format is private to this server. Ids are valid only in their
//! session, because streams are looked up in the request's session.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use mcp_core::store::{ReplayError, StoredEvent};
use mcp_types::codes;

use super::super::request::rejection::Rejection;
use crate::sse::encode as sse;

/// An event id.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) struct EventId {
    pub(in crate::server) stream: Box<str>,
    pub(in crate::server) number: u64,
}

impl EventId {
    /// Parses the header `Last-Event-ID`.
    ///
    /// # Errors
    ///
    /// Returns a rejection when the id does not have this server's format.
    pub(in crate::server) fn parse(header: &HeaderValue) -> Result<Self, Rejection> {
        let parse = || {
            let (stream, number) = header.to_str().ok()?.rsplit_once('_')?;
            let is_decimal = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| is_decimal)?;
            let stream = stream.into();
            Some(Self { stream, number })
        };
        let message = "Last-Event-ID is none of this server's; send one as it came";
        parse().ok_or_else(|| Rejection::bad_session_request(message))
    }
}

/// Returns the rejection for a stream that cannot be resumed. The message of the store is not for
/// clients.
pub(super) fn rejection(error: &ReplayError) -> Rejection {
    match error {
        ReplayError::Unknown | ReplayError::TooOld => {
            let status = StatusCode::BAD_REQUEST;
            Rejection::session(status, codes::BAD_REQUEST, error.to_string())
        }
        _ => Rejection::unavailable("the request did not run: the event store failed"),
    }
}

/// Returns the rejection for a stream whose server has ended before the call's result.
pub(super) fn writer_ended() -> Rejection {
    let message = "the server that ran this call has ended; the call may have run";
    Rejection::session(StatusCode::BAD_REQUEST, codes::BAD_REQUEST, message)
}

/// Encodes a stored event with its id. An event without a message is the first or last event of its
/// stream. The first one gives the client an id, the last one is not sent.
// spec: RSM-01, RSM-02, RSM-05
pub(super) fn encode(
    out: &mut Vec<u8>,
    stream: &str,
    number: u64,
    event: &StoredEvent,
    retry: Duration,
) {
    if event.text.is_empty() {
        if !event.is_last {
            let retry = retry.as_millis();
            let frame = format!("id: {stream}_{number}\nretry: {retry}\ndata:\n\n");
            out.extend_from_slice(frame.as_bytes());
        }
        return;
    }
    out.extend_from_slice(format!("id: {stream}_{number}\n").as_bytes());
    out.extend_from_slice(sse::MESSAGE_PREFIX);
    out.extend_from_slice(&event.text);
    out.extend_from_slice(sse::MESSAGE_SUFFIX);
}

/// Encodes the time after which the client should reconnect.
// spec: RSM-06
pub(super) fn encode_retry(out: &mut Vec<u8>, retry: Duration) {
    let frame = format!("retry: {}\n\n", retry.as_millis());
    out.extend_from_slice(frame.as_bytes());
}

/// Returns the JSON of each message in a series of events without ids.
pub(super) fn messages(mut events: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let end = memchr::memmem::find(&events, sse::MESSAGE_SUFFIX)?;
        let mut event = events.split_to(end + sse::MESSAGE_SUFFIX.len());
        event.truncate(end);
        Some(event.split_off(sse::MESSAGE_PREFIX.len().min(end)))
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::{EventId, messages};

    #[test]
    fn parse_accepts_only_ids_from_this_server() {
        let parse = |id: &str| EventId::parse(&HeaderValue::from_str(id).unwrap()).ok();
        let id = parse("a1b2-3_14").unwrap();
        assert_eq!((&*id.stream, id.number), ("a1b2-3", 14));
        assert_eq!(parse("0_0").unwrap().number, 0);
        for malformed in [
            "",
            "_",
            "1",
            "1_",
            "1_+1",
            "1_x",
            "1_99999999999999999999",
            "1_1 ",
        ] {
            assert_eq!(parse(malformed), None, "{malformed:?}");
        }
    }

    #[test]
    fn messages_returns_the_json_in_each_event() {
        let events = "event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {}\n\n";
        let found: Vec<_> = messages(Bytes::from_static(events.as_bytes())).collect();
        assert_eq!(found, ["{\"a\":1}", "{}"]);
        assert_eq!(messages(Bytes::new()).count(), 0);
    }
}
