//! Response bodies: reading with a limit, and excerpts for error messages.

use std::error::Error;
use std::pin::pin;

use bytes::{Buf, Bytes};
use http_body::Body;
use http_body_util::BodyExt;
use mcp_core::ChannelError;
use mcp_types::shorten;

use crate::body_buffer::BodyBuffer;

pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// Reads a body to its end, so that its connection can be reused, or up to `limit` bytes. Returns
/// the bytes that were read together with the outcome. A body of one chunk is not copied.
pub(super) async fn read<B>(body: B, limit: usize) -> (Bytes, Result<(), ChannelError>)
where
    B: Body,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(body);
    let mut buffer = BodyBuffer::default();
    while let Some(frame) = body.frame().await {
        let data = match frame {
            Ok(frame) => match frame.into_data() {
                Ok(data) => data,
                Err(_trailers) => continue,
            },
            Err(error) => return (buffer.into_bytes(), Err(ChannelError::broken(error))),
        };
        let allowed = limit - buffer.len();
        let is_too_large = data.remaining() > allowed;
        // The length that the server announces is trusted up to 1 MiB only.
        let rest = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        // The part within the limit may still explain an error.
        buffer.push(data.take(allowed), rest.min(limit).min(TRUSTED_LENGTH));
        if is_too_large {
            return (buffer.into_bytes(), Err(ChannelError::TooLarge { limit }));
        }
    }
    (buffer.into_bytes(), Ok(()))
}

const TRUSTED_LENGTH: usize = 1 << 20;

/// Number of a body's characters that an error message shows.
const EXCERPT: usize = 200;

/// Returns the beginning of a body on one line.
pub(super) fn excerpt(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]);
    let mut words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let mut line = String::new();
    for word in words.by_ref().filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    shorten(&line, EXCERPT).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{EXCERPT, excerpt};

    #[test]
    fn excerpt_from_a_long_body_is_one_short_line() {
        assert_eq!(excerpt(b""), "");
        assert_eq!(
            excerpt(b"  <html>\r\n\t<b>No</b>\x1b[31m \xff"),
            "<html> <b>No</b> [31m \u{fffd}"
        );
        let long = excerpt("ä".repeat(10_000).as_bytes());
        assert_eq!(long.chars().count(), EXCERPT + 1);
        assert!(long.ends_with('…'));
    }
}
