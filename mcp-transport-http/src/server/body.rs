//! Reading a request's body: once, no more than allowed, and not for ever.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::Body;
use tokio::time::{Sleep, sleep};

use crate::headers::names;

/// How much of a body is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of the body.
    pub(super) size: usize,
    /// Time from the first wait to the end of the body.
    pub(super) time: Duration,
}

/// Why a body was not read to its end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    Broken,
}

/// A body that is read whole. One of one frame is not copied.
///
/// No timer is touched before the body makes us wait: a body that is there is read outside of any
/// runtime too.
#[derive(Debug)]
pub(super) struct Reading {
    so_far: SoFar,
    /// From `Content-Length`: it saves growing the buffer of a body of several frames.
    expected: Option<usize>,
    timer: Timer,
}

#[derive(Debug)]
enum SoFar {
    Nothing,
    One(Bytes),
    Several(Vec<u8>),
}

impl Reading {
    pub(super) fn new(expected: Option<usize>) -> Self {
        Self {
            so_far: SoFar::Nothing,
            expected,
            timer: Timer(None),
        }
    }

    pub(super) fn poll<B: Body>(
        &mut self,
        mut body: Pin<&mut B>,
        limits: Limits,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Bytes, BodyError>> {
        loop {
            let room = limits.size - self.so_far.len();
            let data = poll_data(body.as_mut(), &mut self.timer, room, limits.time, cx);
            let data = match ready!(data) {
                Ok(Some(data)) => data,
                Ok(None) => return Poll::Ready(Ok(self.take())),
                Err(error) => return Poll::Ready(Err(error)),
            };
            self.add(data);
            if body.is_end_stream() {
                return Poll::Ready(Ok(self.take()));
            }
        }
    }

    fn add(&mut self, data: Bytes) {
        match &mut self.so_far {
            SoFar::Nothing => self.so_far = SoFar::One(data),
            SoFar::One(first) => {
                let expected = self.expected.unwrap_or(0);
                let mut whole = Vec::with_capacity(expected.max(first.len() + data.len()));
                whole.extend_from_slice(first);
                whole.extend_from_slice(&data);
                self.so_far = SoFar::Several(whole);
            }
            SoFar::Several(whole) => whole.extend_from_slice(&data),
        }
    }

    fn take(&mut self) -> Bytes {
        match std::mem::replace(&mut self.so_far, SoFar::Nothing) {
            SoFar::Nothing => Bytes::new(),
            SoFar::One(whole) => whole,
            SoFar::Several(whole) => whole.into(),
        }
    }
}

impl SoFar {
    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(data) => data.len(),
            Self::Several(data) => data.len(),
        }
    }
}

/// A body that nobody wants. A bit of it is read, for a second: a client that is still sending
/// when its connection is closed may never see the answer.
#[derive(Debug)]
pub(super) struct Discarding {
    room: usize,
    timer: Timer,
}

impl Discarding {
    /// Reads up to `size` bytes.
    pub(super) fn new(headers: &HeaderMap, size: usize) -> Self {
        // A client that asks first has not sent it, and asking for it now would make it do so.
        let asks_first = headers.contains_key(names::EXPECT);
        Self {
            room: if asks_first { 0 } else { size },
            timer: Timer(None),
        }
    }

    pub(super) fn poll<B: Body>(
        &mut self,
        mut body: Pin<&mut B>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        const TIME: Duration = Duration::from_secs(1);

        while self.room > 0 && !body.is_end_stream() {
            let data = poll_data(body.as_mut(), &mut self.timer, self.room, TIME, cx);
            match ready!(data) {
                Ok(Some(data)) => self.room -= data.len(),
                Ok(None) | Err(_) => break,
            }
        }
        Poll::Ready(())
    }
}

/// See [`Discarding`].
#[cfg(any(feature = "serve", test))]
pub(crate) async fn discard<B: Body>(headers: &HeaderMap, mut body: Pin<&mut B>, size: usize) {
    let mut discarding = Discarding::new(headers, size);
    std::future::poll_fn(|cx| discarding.poll(body.as_mut(), cx)).await;
}

/// The next frame with data in it, if that fits into `room`.
fn poll_data<B: Body>(
    mut body: Pin<&mut B>,
    timer: &mut Timer,
    room: usize,
    time: Duration,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, BodyError>> {
    loop {
        let Poll::Ready(frame) = body.as_mut().poll_frame(cx) else {
            return timer.poll(time, cx).map(|()| Err(BodyError::TooSlow));
        };
        // Trailers say nothing to us.
        let mut data = match frame.map(|frame| frame.map(http_body::Frame::into_data)) {
            None => return Poll::Ready(Ok(None)),
            Some(Err(_)) => return Poll::Ready(Err(BodyError::Broken)),
            Some(Ok(Err(_))) => continue,
            Some(Ok(Ok(data))) => data,
        };
        match data.remaining() {
            0 => {}
            size if size > room => return Poll::Ready(Err(BodyError::TooLarge)),
            size => return Poll::Ready(Ok(Some(data.copy_to_bytes(size)))),
        }
    }
}

/// A timer that starts with the first wait.
#[derive(Debug)]
struct Timer(Option<Pin<Box<Sleep>>>);

impl Timer {
    fn poll(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let timer = self.0.get_or_insert_with(|| Box::pin(sleep(time)));
        timer.as_mut().poll(cx)
    }
}

#[cfg(test)]
mod tests;
