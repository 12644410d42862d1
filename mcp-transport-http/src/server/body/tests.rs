//! Bodies of every make.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;

use futures::FutureExt;
use http::HeaderMap;
use http_body::{Frame, SizeHint};

use super::*;

const LIMITS: Limits = Limits {
    size: 10,
    time: Duration::from_secs(30),
};

/// Frames, then the end, or silence.
#[derive(Default)]
struct Script {
    frames: VecDeque<Result<Frame<Bytes>, &'static str>>,
    then_silence: bool,
    knows_its_end: bool,
}

impl Script {
    fn of<const N: usize>(parts: [&'static str; N]) -> Self {
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
            None if self.then_silence => Poll::Pending,
            frame => Poll::Ready(frame),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.knows_its_end && self.frames.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

async fn read(
    mut body: Pin<&mut Script>,
    expected: Option<usize>,
    limits: Limits,
) -> Result<Bytes, BodyError> {
    let mut reading = Reading::new(expected);
    poll_fn(|cx| reading.poll(body.as_mut(), limits, cx)).await
}

/// Reads outside of any runtime, so a timer would panic.
fn read_now(body: Script) -> Result<Bytes, BodyError> {
    read(pin!(body), None, LIMITS).now_or_never().unwrap()
}

#[test]
fn bodies_are_put_together() {
    let table = [
        (Script::of([]), ""),
        (Script::of(["", ""]), ""),
        (Script::of(["abc"]), "abc"),
        (Script::of(["", "abc", ""]), "abc"),
        (Script::of(["abc", "def"]), "abcdef"),
        (Script::of(["a", "b", "c", "", "d"]), "abcd"),
        (Script::of(["0123456789"]), "0123456789"),
        (Script::of(["01234", "56789"]), "0123456789"),
    ];
    for (mut body, whole) in table {
        body.knows_its_end = whole.len() % 2 == 0;
        assert_eq!(read_now(body).as_deref(), Ok(whole.as_bytes()));
    }
}

#[test]
fn one_frame_is_not_copied() {
    let text = "abc";
    assert_eq!(
        read_now(Script::of([text])).unwrap().as_ptr(),
        text.as_ptr()
    );
}

#[test]
fn trailers_are_skipped() {
    let mut body = Script::of(["abc"]);
    body.frames.push_back(Ok(Frame::trailers(HeaderMap::new())));
    assert_eq!(read_now(body).as_deref(), Ok(&b"abc"[..]));
}

#[test]
fn too_much_is_refused() {
    for body in [
        Script::of(["0123456789a"]),
        Script::of(["01234", "5678", "9a"]),
    ] {
        assert_eq!(read_now(body), Err(BodyError::TooLarge));
    }
}

#[test]
fn a_broken_body_is_an_error() {
    let mut body = Script::of(["abc"]);
    body.frames.push_back(Err("reset"));
    assert_eq!(read_now(body), Err(BodyError::Broken));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let start = tokio::time::Instant::now();
    let body = Script {
        then_silence: true,
        ..Script::of(["abc"])
    };
    assert_eq!(
        read(pin!(body), Some(9), LIMITS).await,
        Err(BodyError::TooSlow)
    );
    assert_eq!(start.elapsed(), LIMITS.time);
}

#[test]
fn what_is_discarded_has_a_bound() {
    for (body, left) in [
        (Script::of(["0123", "4567", "89ab", "cdef"]), 1),
        (Script::of(["0"]), 0),
    ] {
        let mut body = pin!(body);
        discard(&HeaderMap::new(), body.as_mut(), LIMITS.size)
            .now_or_never()
            .unwrap();
        assert_eq!(body.frames.len(), left);
    }
}

#[tokio::test(start_paused = true)]
async fn discarding_takes_no_longer_than_allowed() {
    let start = tokio::time::Instant::now();
    let body = Script {
        then_silence: true,
        ..Script::of(["abc"])
    };
    discard(&HeaderMap::new(), pin!(body), LIMITS.size).await;
    assert_eq!(start.elapsed(), Duration::from_secs(1));
}
