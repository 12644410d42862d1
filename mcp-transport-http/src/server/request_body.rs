//! Reading of a request body, with limits of size and time.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes};
use futures_util::poll;
use http::HeaderMap;
use http_body::Body;
use tokio::time::timeout;

use crate::headers::names;

/// Limits of a request body.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyLimits {
    /// Maximum size in bytes.
    pub(super) size: usize,
    /// Maximum time to receive the body. It starts when the body makes the server wait.
    pub(super) time: Duration,
}

/// Error of [`read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive in time")]
    Timeout,
    #[error("the body broke off")]
    Incomplete,
}

/// Reads a body completely. A body of one frame is not copied.
pub(super) async fn read<B: Body>(
    body: Pin<&mut B>,
    limits: BodyLimits,
) -> Result<Bytes, BodyError> {
    let mut read = pin!(read_to_end(body, limits.size));
    // A body that has arrived needs no timer.
    match poll!(read.as_mut()) {
        Poll::Ready(result) => result,
        Poll::Pending => match timeout(limits.time, read).await {
            Ok(result) => result,
            Err(_) => Err(BodyError::Timeout),
        },
    }
}

async fn read_to_end<B: Body>(mut body: Pin<&mut B>, limit: usize) -> Result<Bytes, BodyError> {
    let mut first = Bytes::new();
    let mut whole = Vec::new();
    // `is_end_stream` before each frame, not `http_body_util::BodyExt::collect`: without it hyper
    // suspends the task once more after the last frame of each request.
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else {
            break;
        };
        let frame = frame.map_err(|_| BodyError::Incomplete)?;
        // Trailers are ignored.
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let size = data.remaining();
        if size == 0 {
            continue;
        }
        if size > limit - first.len().max(whole.len()) {
            return Err(BodyError::TooLarge);
        }
        if first.is_empty() {
            first = data.copy_to_bytes(size);
            continue;
        }
        if whole.is_empty() {
            // The lower bound is the rest of `Content-Length`, which was compared with the limit.
            let rest = usize::try_from(body.size_hint().lower()).unwrap_or(0);
            whole.reserve(first.len() + size + rest.min(limit));
            whole.extend_from_slice(&first);
        }
        whole.put(data);
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.into()
    })
}

/// Maximum time to discard a body.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads and discards up to `limit` bytes of a body, for at most one second. A client that still
/// sends when its connection is closed may not receive the response.
pub(crate) async fn discard<B: Body>(headers: &HeaderMap, mut body: Pin<&mut B>, limit: usize) {
    // A client with `Expect: 100-continue` has not sent the body. Reading would request it.
    if headers.contains_key(names::EXPECT) {
        return;
    }
    let mut discarded = pin!(async {
        let mut remaining = limit;
        while remaining > 0 && !body.is_end_stream() {
            let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
            let Some(Ok(frame)) = frame else {
                break;
            };
            let size = frame.data_ref().map_or(0, Buf::remaining);
            remaining = remaining.saturating_sub(size);
        }
    });
    // A body that has arrived needs no timer.
    if poll!(discarded.as_mut()).is_pending() {
        // After the timeout the rest of the body is not read.
        let _ = timeout(DISCARD_TIMEOUT, discarded).await;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::task::Context;

    use futures::FutureExt;
    use http_body::{Frame, SizeHint};

    use super::*;

    const LIMITS: BodyLimits = BodyLimits {
        size: 10,
        time: Duration::from_secs(30),
    };

    /// Body of scripted frames, then its end or silence.
    #[derive(Default)]
    struct Script {
        frames: VecDeque<Result<Frame<Bytes>, &'static str>>,
        never_ends: bool,
        announces_its_end: bool,
    }

    impl Script {
        fn new<const N: usize>(parts: [&'static str; N]) -> Self {
            let frames = parts
                .into_iter()
                .map(|part| Ok(Frame::data(Bytes::from_static(part.as_ref()))));
            Self {
                frames: frames.collect(),
                ..Self::default()
            }
        }
    }

    impl Body for Script {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            match self.frames.pop_front() {
                None if self.never_ends => Poll::Pending,
                frame => Poll::Ready(frame),
            }
        }

        fn is_end_stream(&self) -> bool {
            self.announces_its_end && self.frames.is_empty()
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::default()
        }
    }

    /// Reads outside of a runtime: creating a timer would panic.
    fn read_now(body: Script) -> Result<Bytes, BodyError> {
        read(pin!(body), LIMITS).now_or_never().unwrap()
    }

    #[test]
    fn read_joins_the_frames_of_a_body() {
        let table = [
            (Script::new([]), ""),
            (Script::new(["", ""]), ""),
            (Script::new(["abc"]), "abc"),
            (Script::new(["", "abc", ""]), "abc"),
            (Script::new(["abc", "def"]), "abcdef"),
            (Script::new(["a", "b", "c", "", "d"]), "abcd"),
            (Script::new(["0123456789"]), "0123456789"),
            (Script::new(["01234", "56789"]), "0123456789"),
        ];
        for (mut body, whole) in table {
            body.announces_its_end = whole.len() % 2 == 0;
            assert_eq!(read_now(body).as_deref(), Ok(whole.as_bytes()));
        }
    }

    #[test]
    fn read_single_frame_is_not_copied() {
        let text = "abc";
        assert_eq!(
            read_now(Script::new([text])).unwrap().as_ptr(),
            text.as_ptr()
        );
    }

    #[test]
    fn read_announced_end_does_not_wait_for_another_frame() {
        let body = Script {
            never_ends: true,
            announces_its_end: true,
            ..Script::new(["abc"])
        };
        assert_eq!(read_now(body).as_deref(), Ok(&b"abc"[..]));
    }

    #[test]
    fn read_ignores_trailers() {
        let mut body = Script::new(["abc"]);
        body.frames.push_back(Ok(Frame::trailers(HeaderMap::new())));
        assert_eq!(read_now(body).as_deref(), Ok(&b"abc"[..]));
    }

    #[test]
    fn read_body_over_the_limit_is_an_error() {
        for body in [
            Script::new(["0123456789a"]),
            Script::new(["01234", "5678", "9a"]),
        ] {
            assert_eq!(read_now(body), Err(BodyError::TooLarge));
        }
    }

    #[test]
    fn read_interrupted_body_is_an_error() {
        let mut body = Script::new(["abc"]);
        body.frames.push_back(Err("reset"));
        assert_eq!(read_now(body), Err(BodyError::Incomplete));
    }

    #[tokio::test(start_paused = true)]
    async fn read_body_that_does_not_arrive_times_out() {
        let start = tokio::time::Instant::now();
        let body = Script {
            never_ends: true,
            ..Script::new(["abc"])
        };
        assert_eq!(read(pin!(body), LIMITS).await, Err(BodyError::Timeout));
        assert_eq!(start.elapsed(), LIMITS.time);
    }

    #[test]
    fn discard_stops_at_the_limit() {
        for (body, left) in [
            (Script::new(["0123", "4567", "89ab", "cdef"]), 1),
            (Script::new(["0"]), 0),
        ] {
            let mut body = pin!(body);
            discard(&HeaderMap::new(), body.as_mut(), LIMITS.size)
                .now_or_never()
                .unwrap();
            assert_eq!(body.frames.len(), left);
        }
    }

    #[test]
    fn discard_expect_continue_reads_nothing() {
        let mut headers = HeaderMap::new();
        headers.insert(names::EXPECT, "100-continue".parse().unwrap());
        let mut body = pin!(Script::new(["abc"]));
        discard(&headers, body.as_mut(), LIMITS.size)
            .now_or_never()
            .unwrap();
        assert_eq!(body.frames.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn discard_body_that_does_not_arrive_times_out() {
        let start = tokio::time::Instant::now();
        let body = Script {
            never_ends: true,
            ..Script::new(["abc"])
        };
        discard(&HeaderMap::new(), pin!(body), LIMITS.size).await;
        assert_eq!(start.elapsed(), DISCARD_TIMEOUT);
    }
}
