//! Reading of a request body, with limits of size, time and parts.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use bytes::{Buf, Bytes};
use futures_util::poll;
use http::HeaderMap;
use http_body::Body;
use tokio::time::timeout;

use crate::body_buffer::BodyBuffer;
use crate::headers::names;

/// Limits of a request body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyLimits<'a> {
    /// Maximum size in bytes.
    pub(crate) size: usize,
    /// Maximum time to receive the body. It starts when the body makes the server wait.
    pub(crate) time: Duration,
    /// The bytes of all bodies that are being received.
    pub(crate) budget: &'a BodyBudget,
}

/// The bytes of the bodies that an endpoint receives at this moment. Many connections may each hold a body
/// of nearly the maximum size, so their total is limited as well.
///
/// A body that arrives in one piece is not counted: it needs no buffer of its own.
#[derive(Debug, Default)]
pub(crate) struct BodyBudget(AtomicUsize);

/// Maximum total of the bodies that an endpoint receives at once, in bodies with the maximum size.
const MAX_LARGE_BODIES: usize = 64;

/// Number of parts that every body may have.
const FREE_PARTS: usize = 1 << 16;
/// Number of bytes for which a body may have one more part. A network packet has more.
const BYTES_PER_PART: usize = 64;

/// Returns true if a body has too many parts for its size. Each part costs as much as hundreds of bytes.
fn has_too_many_parts(parts: usize, bytes: usize) -> bool {
    parts.saturating_sub(FREE_PARTS) > bytes / BYTES_PER_PART
}

/// Error of [`read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body has too many small parts; send it in larger ones")]
    TooManyParts,
    #[error("the server receives too many large bodies at this moment; try again")]
    Busy,
    #[error("the body did not arrive in time")]
    Timeout,
    #[error("the body broke off")]
    Incomplete,
}

/// Bytes of a budget, returned when this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'a> {
    budget: &'a BodyBudget,
    bytes: usize,
}

impl Reserved<'_> {
    fn add(&mut self, bytes: usize, limit: usize) -> Result<(), BodyError> {
        let before = self.budget.0.fetch_add(bytes, Ordering::Relaxed);
        self.bytes += bytes;
        if before.saturating_add(bytes) > limit.saturating_mul(MAX_LARGE_BODIES) {
            return Err(BodyError::Busy);
        }
        Ok(())
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }
}

/// Reads a body completely. A body of one frame is not copied. Its share of the budget is held until it is dropped.
pub(crate) async fn read<'a, B: Body>(
    body: Pin<&mut B>,
    limits: BodyLimits<'a>,
) -> Result<(Bytes, Reserved<'a>), BodyError> {
    let mut read = pin!(read_to_end(body, limits));
    // A body that has arrived needs no timer.
    match poll!(read.as_mut()) {
        Poll::Ready(result) => result,
        Poll::Pending => match timeout(limits.time, read).await {
            Ok(result) => result,
            Err(_) => Err(BodyError::Timeout),
        },
    }
}

async fn read_to_end<'a, B: Body>(
    mut body: Pin<&mut B>,
    limits: BodyLimits<'a>,
) -> Result<(Bytes, Reserved<'a>), BodyError> {
    let limit = limits.size;
    let mut buffer = BodyBuffer::default();
    let mut parts = 0;
    let mut reserved = Reserved {
        budget: limits.budget,
        bytes: 0,
    };
    // `is_end_stream` before each frame, not `http_body_util::BodyExt::collect`: without it hyper
    // suspends the task once more after the last frame of each request.
    let mut is_complete = body.is_end_stream();
    while !is_complete {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else {
            break;
        };
        let frame = frame.map_err(|_| BodyError::Incomplete)?;
        is_complete = body.is_end_stream();
        let received = buffer.len();
        parts += 1;
        if has_too_many_parts(parts, received) {
            return Err(BodyError::TooManyParts);
        }
        // Trailers are ignored.
        let Ok(data) = frame.into_data() else {
            continue;
        };
        let size = data.remaining();
        if size == 0 {
            continue;
        }
        if size > limit - received {
            return Err(BodyError::TooLarge);
        }
        if !is_complete || received > 0 {
            reserved.add(size, limit)?;
        }
        // The lower bound is the rest of `Content-Length`, which was compared with the limit.
        let rest = usize::try_from(body.size_hint().lower()).unwrap_or(0);
        buffer.push(data, rest.min(limit));
    }
    Ok((buffer.into_bytes(), reserved))
}

/// Maximum time to discard a body.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads and discards up to `limit` bytes of a body, for at most one second, unless it has too many parts. A
/// client that still sends when its connection is closed may not receive the response.
pub(crate) async fn discard<B: Body>(headers: &HeaderMap, mut body: Pin<&mut B>, limit: usize) {
    // A client with `Expect: 100-continue` has not sent the body. Reading would request it.
    if headers.contains_key(names::EXPECT) {
        return;
    }
    let mut discarded = pin!(async {
        let (mut remaining, mut parts) = (limit, 0);
        while remaining > 0 && !body.is_end_stream() {
            let frame = poll_fn(|cx| body.as_mut().poll_frame(cx)).await;
            let Some(Ok(frame)) = frame else {
                break;
            };
            let size = frame.data_ref().map_or(0, Buf::remaining);
            remaining = remaining.saturating_sub(size);
            parts += 1;
            if has_too_many_parts(parts, limit - remaining) {
                break;
            }
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

    static BUDGET: BodyBudget = BodyBudget(AtomicUsize::new(0));
    const LIMITS: BodyLimits<'static> = BodyLimits {
        size: 10,
        time: Duration::from_secs(30),
        budget: &BUDGET,
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
        let read = read(pin!(body), LIMITS).now_or_never().unwrap();
        read.map(|(bytes, _)| bytes)
    }

    /// Body of many parts, which counts those that were read.
    struct Parts {
        part: &'static str,
        remaining: usize,
    }

    impl Body for Parts {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            if self.remaining == 0 {
                return Poll::Ready(None);
            }
            self.remaining -= 1;
            let part = Bytes::from_static(self.part.as_ref());
            Poll::Ready(Some(Ok(Frame::data(part))))
        }
    }

    #[test]
    fn read_joins_the_frames_in_a_body() {
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
    fn body_of_millions_of_parts_is_refused_early() {
        const PARTS: usize = 4 << 20;
        for part in ["", "x"] {
            let (remaining, size) = (PARTS, PARTS);
            let mut body = pin!(Parts { part, remaining });
            let limits = BodyLimits { size, ..LIMITS };
            let read = read(body.as_mut(), limits).now_or_never().unwrap();
            assert_eq!(read.unwrap_err(), BodyError::TooManyParts);
            assert!(PARTS - body.remaining < 70_000);
            // The rest is not read, either.
            let headers = HeaderMap::new();
            let discarded = discard(&headers, body.as_mut(), 2 * size).now_or_never();
            assert!(discarded.is_some() && PARTS - body.remaining < 140_000);
        }
        // Parts of a network packet's size are no reason to refuse a body, however large it is.
        let part = "0123456789012345678901234567890123456789012345678901234567890123";
        let (remaining, size) = (1 << 18, 1 << 24);
        let body = Parts { part, remaining };
        let limits = BodyLimits { size, ..LIMITS };
        let read = read(pin!(body), limits).now_or_never().unwrap();
        assert_eq!(read.unwrap().0.len(), size);
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_in_flight_share_a_budget() {
        let budget = BodyBudget::default();
        let limits = BodyLimits {
            budget: &budget,
            ..LIMITS
        };
        let slow = || Script {
            never_ends: true,
            ..Script::new(["01234", "5678"])
        };
        let mut waiting = Vec::new();
        for _ in 0..(MAX_LARGE_BODIES * LIMITS.size / 9) {
            let mut body = Box::pin(async move { read(pin!(slow()), limits).await });
            assert!(poll!(body.as_mut()).is_pending());
            waiting.push(body);
        }
        let refused = read(pin!(slow()), limits).await;
        assert_eq!(refused.unwrap_err(), BodyError::Busy);
        // A body in one piece has no share.
        let body = Script {
            announces_its_end: true,
            ..Script::new(["0123456789"])
        };
        assert!(read(pin!(body), limits).await.is_ok());
        waiting.pop();
        let body = read(pin!(Script::new(["01234", "5678"])), limits).await;
        // A body keeps its share until it is dropped.
        let refused = read(pin!(slow()), limits).await;
        assert_eq!(refused.unwrap_err(), BodyError::Busy);
        drop((body, waiting));
        assert_eq!(budget.0.load(Ordering::Relaxed), 0);
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
        let read = read(pin!(body), LIMITS).await;
        assert_eq!(read.unwrap_err(), BodyError::Timeout);
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
