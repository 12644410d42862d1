//! One connection: its requests, its clock, its end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http::{Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use pin_project_lite::pin_project;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tower_service::Service;

use super::{LAST_WORDS, Settings};
use crate::Shutdown;
use crate::headers::names;
use crate::server::discard;

/// Serves the requests of one connection until it ends. There may be very many that only wait, so
/// nothing that is large is moved from one future into another, which would have room for both.
pub(super) async fn serve<I, S, B>(
    stream: I,
    service: S,
    settings: Settings,
    shutdown: Shutdown,
    _slot: OwnedSemaphorePermit,
) where
    I: AsyncRead + AsyncWrite + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send,
    S::Future: Send,
    B: Body<Data = Bytes> + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let signs = Arc::new(Signs::default());
    let io = TokioIo::new(Watched {
        io: stream,
        signs: Arc::clone(&signs),
    });
    let (shared, path, handle) = (&signs, &*settings.path, &shutdown);
    let endpoint = service_fn(move |mut request: Request<Incoming>| {
        let at_work = Some(AtWork::begin(shared));
        request.extensions_mut().insert(handle.clone());
        let work = if request.uri().path() == path {
            call(service.clone(), request)
        } else {
            Work::Boxed {
                reply: Box::pin(not_found(request, path)),
            }
        };
        Answering { work, at_work }
    });
    // Without `pipeline_flush`: with it, answers to broken requests stay in the buffer for ever.
    let mut connection = pin!(http1::Builder::new().serve_connection(io, endpoint));
    let mut events = events(&signs, &settings, &shutdown);
    poll_fn(|cx| {
        while let Poll::Ready(Some(event)) = events.poll_next_unpin(cx) {
            match event {
                Event::Drain => {
                    connection.as_mut().graceful_shutdown();
                    events.push(Box::pin(closed(&shutdown)));
                }
                Event::End => return Poll::Ready(()),
            }
        }
        // Broken connections are everyday life; there is nobody to tell.
        connection.as_mut().poll(cx).map(drop)
    })
    .await;
}

/// What may happen to a connection from outside of it.
enum Event {
    /// The server drains: the running request is the last one.
    Drain,
    /// The connection has had its time.
    End,
}

type Events<'a> = FuturesUnordered<Pin<Box<dyn Future<Output = Event> + Send + 'a>>>;

/// The events that a connection waits for beside its IO. They have wakers of their own in there,
/// so that looking for one costs a request next to nothing.
fn events<'a>(signs: &'a Signs, settings: &'a Settings, shutdown: &'a Shutdown) -> Events<'a> {
    let events = Events::new();
    events.push(Box::pin(async move {
        watch(signs, settings).await;
        Event::End
    }));
    events.push(Box::pin(async move {
        shutdown.draining().await;
        Event::Drain
    }));
    events
}

/// What follows when the server drains.
async fn closed(shutdown: &Shutdown) -> Event {
    shutdown.closed().await;
    tokio::time::sleep(LAST_WORDS).await;
    Event::End
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
            WorkProj::Called { response } => ready!(response.poll(cx)).map(|it| it.map(Reply::of)),
            WorkProj::Boxed { reply } => Ok(ready!(reply.as_mut().poll(cx))),
        };
        let at_work = this.at_work.take();
        Poll::Ready(response.map(|response| {
            response.map(|reply| Answer {
                reply,
                _at_work: at_work,
            })
        }))
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

async fn not_found<B>(request: Request<Incoming>, path: &str) -> Response<Reply<B>> {
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
}

/// What the clock of a connection looks at. One timer for each connection instead of one for each
/// wait costs a request nothing but these few stores.
#[derive(Debug, Default)]
struct Signs {
    /// Requests whose head has arrived, ever.
    requests: AtomicUsize,
    /// Requests that are being answered.
    at_work: AtomicUsize,
    /// Bytes have come in since the last request was answered.
    head_begun: AtomicBool,
    /// The peer does not take what is written.
    stalled: AtomicBool,
    /// Writes that the peer did take, ever.
    writes: AtomicUsize,
}

/// Ends when the connection should: a head that does not come to its end, nothing asked for too
/// long, or an answer that is not taken.
async fn watch(signs: &Signs, settings: &Settings) {
    let tick = settings.head_timeout.max(Duration::from_millis(1));
    let progress = || {
        (
            signs.requests.load(Ordering::Relaxed),
            signs.writes.load(Ordering::Relaxed),
        )
    };
    let mut before = progress();
    let mut unchanged = Duration::ZERO;
    loop {
        tokio::time::sleep(tick).await;
        let now = progress();
        if now != before {
            before = now;
            unchanged = Duration::ZERO;
            continue;
        }
        unchanged += tick;
        let over = if signs.at_work.load(Ordering::Relaxed) > 0 {
            signs.stalled.load(Ordering::Relaxed) && unchanged >= settings.idle_timeout
        } else {
            let mid_head = now.0 == 0 || signs.head_begun.load(Ordering::Relaxed);
            mid_head || unchanged >= settings.idle_timeout
        };
        if over {
            return;
        }
    }
}

/// Marks its connection as busy while it lives.
struct AtWork(Arc<Signs>);

impl AtWork {
    fn begin(signs: &Arc<Signs>) -> Self {
        signs.requests.fetch_add(1, Ordering::Relaxed);
        signs.at_work.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(signs))
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
        self.0.head_begun.store(false, Ordering::Relaxed);
    }
}

pin_project! {
    /// The body of an answer, which keeps its connection busy until it is sent.
    struct Answer<B> {
        #[pin]
        reply: Reply<B>,
        _at_work: Option<AtWork>,
    }
}

pin_project! {
    #[project = ReplyProj]
    enum Reply<B> {
        Body { #[pin] body: B },
        Text { text: Option<Bytes> },
    }
}

impl<B> Reply<B> {
    fn of(body: B) -> Self {
        Self::Body { body }
    }
}

impl<B: Body<Data = Bytes>> Body for Answer<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match self.project().reply.project() {
            ReplyProj::Body { body } => body.poll_frame(cx),
            ReplyProj::Text { text } => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.reply {
            Reply::Body { body } => body.is_end_stream(),
            Reply::Text { text } => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.reply {
            Reply::Body { body } => body.size_hint(),
            Reply::Text { text } => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
        }
    }
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
            this.signs.head_begun.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl Signs {
    fn note_write(&self, polled: &Poll<std::io::Result<usize>>) {
        self.stalled.store(polled.is_pending(), Ordering::Relaxed);
        if polled.is_ready() {
            self.writes.fetch_add(1, Ordering::Relaxed);
        }
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
        bufs: &[std::io::IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let this = self.project();
        let polled = this.io.poll_write_vectored(cx, bufs);
        this.signs.note_write(&polled);
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.project().io.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        self.project().io.poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests;
