//! Event ids, and the frames of events that are kept.
//!
//! An id is `<stream>_<number>`. Nobody but this module reads it; in another session it means
//! nothing, since streams are looked for in the session that the request names.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderValue;
use http::StatusCode;
use mcp_core::store::{EventStore, ReplayError, StoredEvent};
use uuid::Uuid;

use super::super::refused::Refused;
use crate::sse::encode as sse;

/// The name of the stream of what belongs to no call.
pub(in crate::server) const STANDALONE: &str = "0";

/// The store of an endpoint.
pub(in crate::server) struct Events {
    pub(super) store: Arc<dyn EventStore>,
    /// Stands before the names of streams, since nodes that share a store count apart.
    pub(super) tag: Arc<str>,
}

impl Events {
    pub(in crate::server) fn new(store: impl EventStore) -> Self {
        let (tag, ..) = Uuid::new_v4().as_fields();
        let tag = format!("{tag:x}").into();
        Self {
            store: Arc::new(store),
            tag,
        }
    }
}

/// What a client has seen last.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::server) struct LastEvent {
    pub(in crate::server) stream: Box<str>,
    pub(in crate::server) number: u64,
}

impl LastEvent {
    pub(in crate::server) fn parse(header: &HeaderValue) -> Result<Self, Refused> {
        let read = || {
            let (stream, number) = header.to_str().ok()?.rsplit_once('_')?;
            let is_digits = number.bytes().all(|byte| byte.is_ascii_digit());
            let number = number.parse().ok().filter(|_| is_digits)?;
            let stream = stream.into();
            Some(Self { stream, number })
        };
        let message = "Last-Event-ID is none of this server's; send one as it came";
        read().ok_or_else(|| Refused::bad_request(message))
    }
}

/// Why a stream cannot be resumed.
#[inline]
pub(super) fn refuse(error: &ReplayError) -> Refused {
    let status = match error {
        ReplayError::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        _ => StatusCode::BAD_REQUEST,
    };
    Refused::new(status, mcp_types::codes::BAD_REQUEST, error.to_string())
}

/// Writes an event with its id. One without a message opens a stream, or ends it.
// spec: RSM-01, RSM-02, RSM-05
#[inline]
pub(super) fn write(
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

/// An event that was not kept has no id.
pub(in crate::server) fn without_id(text: &[u8]) -> Vec<u8> {
    [sse::MESSAGE_PREFIX, text, sse::MESSAGE_SUFFIX].concat()
}

/// Tells the client when to come again.
// spec: RSM-06
#[inline]
pub(super) fn write_retry(out: &mut Vec<u8>, retry: Duration) {
    let frame = format!("retry: {}\n\n", retry.as_millis());
    out.extend_from_slice(frame.as_bytes());
}

/// The texts of framed messages.
#[inline]
pub(super) fn texts(mut frames: Bytes) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let end = memchr::memmem::find(&frames, sse::MESSAGE_SUFFIX)?;
        let mut frame = frames.split_to(end + sse::MESSAGE_SUFFIX.len());
        frame.truncate(end);
        Some(frame.split_off(sse::MESSAGE_PREFIX.len().min(end)))
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderValue;

    use super::{LastEvent, texts};

    #[test]
    fn ids_are_read_as_they_are_written() {
        let read = |text: &str| LastEvent::parse(&HeaderValue::from_str(text).unwrap()).ok();
        let id = read("a1b2-3_14").unwrap();
        assert_eq!((&*id.stream, id.number), ("a1b2-3", 14));
        assert_eq!(read("0_0").unwrap().number, 0);
        for broken in [
            "",
            "_",
            "1",
            "1_",
            "1_+1",
            "1_x",
            "1_99999999999999999999",
            "1_1 ",
        ] {
            assert_eq!(read(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn frames_become_texts() {
        let frames = "event: message\ndata: {\"a\":1}\n\nevent: message\ndata: {}\n\n";
        let read: Vec<_> = texts(Bytes::from_static(frames.as_bytes())).collect();
        assert_eq!(read, ["{\"a\":1}", "{}"]);
        assert_eq!(texts(Bytes::new()).count(), 0);
    }
}
