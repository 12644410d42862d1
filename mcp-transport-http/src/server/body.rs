//! Reading a request's body: once, no more than allowed, and not for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::Body;

use crate::headers::names;

/// How much of a body is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes of the body.
    pub(crate) size: usize,
    /// Time from the first wait to the end of the body.
    pub(crate) time: Duration,
}

/// Why a body was not read to its end.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the body is too large")]
    TooLarge,
    #[error("the body did not arrive in time")]
    TooSlow,
    #[error("the body broke off")]
    Broken,
}

/// Reads `body` whole. A body of one frame is not copied; for one of several, `expected` (from
/// `Content-Length`) saves growing the buffer.
///
/// No timer is touched before the body makes us wait: a body that is there is read outside of any
/// runtime too.
pub(crate) async fn read<B: Body>(
    mut body: Pin<&mut B>,
    expected: Option<usize>,
    limits: Limits,
) -> Result<Bytes, BodyError> {
    let mut deadline = Deadline {
        after: limits.time,
        timer: None,
    };
    let Some(first) = next_data(body.as_mut(), &mut deadline, limits.size).await? else {
        return Ok(Bytes::new());
    };
    if body.is_end_stream() {
        return Ok(first);
    }
    let room = limits.size - first.len();
    let Some(second) = next_data(body.as_mut(), &mut deadline, room).await? else {
        return Ok(first);
    };
    let mut whole = Vec::with_capacity(expected.unwrap_or(0).max(first.len() + second.len()));
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&second);
    while !body.is_end_stream()
        && let Some(data) =
            next_data(body.as_mut(), &mut deadline, limits.size - whole.len()).await?
    {
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
}

/// Takes the rest of a body that nobody wants, up to `size` bytes and for a second: a client that
/// is still sending when its connection is closed may never see the answer.
pub(crate) async fn discard<B: Body>(headers: &HeaderMap, mut body: Pin<&mut B>, mut size: usize) {
    // A client that asks first has not sent it, and asking for it now would make it do so.
    if headers.contains_key(names::EXPECT) {
        return;
    }
    let mut deadline = Deadline {
        after: Duration::from_secs(1),
        timer: None,
    };
    while !body.is_end_stream()
        && let Ok(Some(data)) = next_data(body.as_mut(), &mut deadline, size).await
    {
        size -= data.len();
    }
}

/// The next frame with data in it, if that fits into `room`.
async fn next_data<B: Body>(
    mut body: Pin<&mut B>,
    deadline: &mut Deadline,
    room: usize,
) -> Result<Option<Bytes>, BodyError> {
    loop {
        let frame = std::future::poll_fn(|cx| match body.as_mut().poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending => deadline.poll(cx).map(|()| Err(BodyError::TooSlow)),
        });
        match frame.await? {
            None => return Ok(None),
            Some(Err(_)) => return Err(BodyError::Broken),
            Some(Ok(frame)) => {
                // Trailers say nothing to us.
                let Ok(mut data) = frame.into_data() else {
                    continue;
                };
                let size = data.remaining();
                if size > room {
                    return Err(BodyError::TooLarge);
                }
                if size > 0 {
                    return Ok(Some(data.copy_to_bytes(size)));
                }
            }
        }
    }
}

/// A timer that starts with the first wait.
struct Deadline {
    after: Duration,
    timer: Option<Pin<Box<tokio::time::Sleep>>>,
}

impl Deadline {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let after = self.after;
        self.timer
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(after)))
            .as_mut()
            .poll(cx)
    }
}

#[cfg(test)]
mod tests;
