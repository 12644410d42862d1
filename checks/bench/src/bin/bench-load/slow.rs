//! A stream that is read slowly.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

/// Reads at most `part` bytes at a time, with a pause before each.
#[derive(Debug)]
pub(crate) struct SlowStream<'a> {
    stream: &'a mut TcpStream,
    part: usize,
    pause: Duration,
    timer: Pin<Box<Sleep>>,
}

impl<'a> SlowStream<'a> {
    pub(crate) fn new(stream: &'a mut TcpStream, part: usize, pause: Duration) -> Self {
        Self {
            stream,
            part,
            pause,
            timer: Box::pin(sleep(pause)),
        }
    }
}

impl AsyncRead for SlowStream<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.timer.as_mut().poll(cx));
        let mut part = buffer.take(this.part);
        let read = Pin::new(&mut *this.stream).poll_read(cx, &mut part);
        ready!(read)?;
        let filled = part.filled().to_vec();
        buffer.put_slice(&filled);
        this.timer.as_mut().reset(Instant::now() + this.pause);
        Poll::Ready(Ok(()))
    }
}
