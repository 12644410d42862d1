//! One connection: its requests, its clock, its end.

mod answer;

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service;

use answer::{Answer, Reply};

use super::connections::{AtWork, Guest, Signs, Told};
use crate::headers::names;
use crate::server::discard;

/// Serves the requests of one connection until it ends. There may be very many that only wait, so
/// nothing that is large is moved from one future into another, which would have room for both.
pub(super) async fn serve<I, S, B>(
    stream: I,
    service: S,
    path: Arc<str>,
    mut guest: Guest,
    _slot: OwnedSemaphorePermit,
) where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send,
    S::Future: Send,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let signs = Arc::clone(&guest.signs);
    if !stream.is_write_vectored() {
        signs.join();
    }
    let io = TokioIo::new(Watched {
        io: stream,
        signs: Arc::clone(&signs),
    });
    let path = &*path;
    let endpoint = service_fn(move |request: Request<Incoming>| {
        let at_work = Some(AtWork::begin(&signs));
        let work = if request.uri().path() == path {
            call(service.clone(), request)
        } else {
            not_found(request, path)
        };
        Answering { work, at_work }
    });
    // Without `pipeline_flush`: with it, answers to broken requests stay in the buffer for ever.
    let mut connection = pin!(http1::Builder::new().serve_connection(io, endpoint));
    let mut drains = false;
    poll_fn(|cx| {
        match guest.told(cx) {
            Told::End => return Poll::Ready(()),
            Told::Drain if !drains => {
                drains = true;
                connection.as_mut().graceful_shutdown();
            }
            _ => {}
        }
        // Broken connections are everyday life; there is nobody to tell.
        connection.as_mut().poll(cx).map(drop)
    })
    .await;
}

/// How much is read of a body that goes nowhere.
const DISCARDED: usize = 8 << 20;

pin_project! {
    /// A request that is being answered. A connection has the room for one all its life, so it is
    /// small.
    struct Answering<'a, F, B> {
        #[pin]
        work: Work<'a, F, B>,
        at_work: Option<AtWork>,
    }
}

pin_project! {
    #[project = WorkProj]
    enum Work<'a, F, B> {
        Called { #[pin] response: F },
        Boxed { reply: Pin<Box<dyn Future<Output = Response<Reply<B>>> + Send + 'a>> },
    }
}

impl<F, B> Future for Answering<'_, F, B>
where
    F: Future<Output = Result<Response<B>, Infallible>>,
{
    type Output = Result<Response<Answer<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = match this.work.project() {
            WorkProj::Called { response } => {
                let Ok(response) = ready!(response.poll(cx));
                response.map(|body| Answer::new(Reply::of(body), this.at_work.take()))
            }
            WorkProj::Boxed { reply } => {
                let response = ready!(reply.as_mut().poll(cx));
                response.map(|reply| Answer::new(reply, this.at_work.take()))
            }
        };
        Poll::Ready(Ok(response))
    }
}

/// Calls the service at once if it is ready, as most of them always are.
fn call<'a, S, B>(mut service: S, request: Request<Incoming>) -> Work<'a, S::Future, B>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'a,
    S::Future: Send,
{
    let ready = service.poll_ready(&mut Context::from_waker(Waker::noop()));
    if ready.is_ready() {
        let response = service.call(request);
        return Work::Called { response };
    }
    call_later(service, request)
}

// Apart, as what comes next, so that other requests need less memory.
#[inline(never)]
fn call_later<'a, S, B>(mut service: S, request: Request<Incoming>) -> Work<'a, S::Future, B>
where
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible> + Send + 'a,
    S::Future: Send,
{
    let reply = Box::pin(async move {
        let response = match poll_fn(|cx| service.poll_ready(cx)).await {
            Ok(()) => service.call(request).await,
            Err(never) => Err(never),
        };
        let response = response.unwrap_or_else(|never| match never {});
        response.map(Reply::of)
    });
    Work::Boxed { reply }
}

#[inline(never)]
fn not_found<F, B>(request: Request<Incoming>, path: &str) -> Work<'_, F, B> {
    let reply = Box::pin(async move {
        let (parts, body) = request.into_parts();
        discard(&parts.headers, pin!(body), DISCARDED).await;
        let text = format!("There is nothing here. The MCP endpoint is at {path}\n");
        let text = Some(Bytes::from(text));
        let mut response = Response::new(Reply::Text { text });
        *response.status_mut() = StatusCode::NOT_FOUND;
        response
            .headers_mut()
            .insert(names::CONTENT_TYPE, names::TEXT);
        response
    });
    Work::Boxed { reply }
}

pin_project! {
    /// A socket that leaves signs of life.
    struct Watched<I> {
        #[pin]
        io: I,
        signs: Arc<Signs>,
    }
}

impl<I: AsyncRead> AsyncRead for Watched<I> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let this = self.project();
        let before = buf.filled().len();
        let polled = this.io.poll_read(cx, buf);
        if buf.filled().len() > before {
            this.signs.note_read();
        }
        polled
    }
}

impl<I: AsyncWrite> AsyncWrite for Watched<I> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.project();
        let polled = this.io.poll_write(cx, buf);
        this.signs.note_write(&polled);
        polled
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.project();
        let polled = this.io.poll_write_vectored(cx, bufs);
        this.signs.note_write(&polled);
        polled
    }

    // Without it, head and body are copied one behind the other before they are written, which for
    // short answers is much less work than to tell the system of two pieces.
    fn is_write_vectored(&self) -> bool {
        !self.signs.joins()
    }

    // All that was to be written has been written.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        let this = self.project();
        if this.signs.note_sent() {
            cx.waker().wake_by_ref();
        }
        this.io.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
