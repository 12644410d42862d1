//! How often a connection writes.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use mcp_core::{BoxFuture, Exchange, Reply, ServerProfile, Service};
use mcp_types::{CallToolResult, ContentBlock, Implementation, ProtocolVersion};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf, duplex};
use tokio::sync::Semaphore;

use super::super::connections::Connections;
use super::answer::PIECE;
use super::serve;
use crate::server::{AnswerMode, Sessions, StreamableHttp};

/// A pipe that takes several buffers at once, as a socket does, and counts.
struct Counted<I> {
    io: I,
    writes: Arc<AtomicUsize>,
}

impl<I: AsyncRead + Unpin> AsyncRead for Counted<I> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<I: AsyncWrite + Unpin> AsyncWrite for Counted<I> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.io).poll_write(cx, buf));
        self.writes.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<std::io::Result<usize>> {
        let whole: Vec<u8> = bufs.iter().flat_map(|buf| buf.to_vec()).collect();
        self.poll_write(cx, &whole)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

struct Greets(Arc<ServerProfile>);

impl Service for Greets {
    fn profile(&self) -> Arc<ServerProfile> {
        self.0.clone()
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        let result = CallToolResult::new(vec![ContentBlock::text("hello")]);
        Box::pin(ready(result.into()))
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"greet"}}"#;

fn post(session: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n{session}\r\n{body}"
    )
}

/// Sends a request; its answer, which says how long it is.
async fn ask(io: &mut (impl AsyncRead + AsyncWrite + Unpin), request: &str) -> String {
    io.write_all(request.as_bytes()).await.unwrap();
    let mut read = String::new();
    loop {
        let mut more = [0; 4096];
        let count = io.read(&mut more).await.unwrap();
        assert!(count > 0, "{read}");
        read += std::str::from_utf8(&more[..count]).unwrap();
        if let Some((head, body)) = read.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let length = lines.find_map(|line| line.strip_prefix("content-length: "));
            if body.len() == length.unwrap().parse::<usize>().unwrap() {
                return read;
            }
        }
    }
}

/// A client whose system waits before it acknowledges a packet must not wait for a second one.
#[tokio::test]
async fn an_answer_that_is_there_leaves_in_one_write() {
    for (mode, content_type) in [
        (AnswerMode::Auto, "application/json"),
        (AnswerMode::AlwaysSse, "text/event-stream"),
    ] {
        let profile = ServerProfile::new(Implementation::new("server", "1"));
        let profile = Arc::new(profile.versions(ProtocolVersion::ALL));
        let endpoint =
            StreamableHttp::new(Greets(profile)).sessions(Sessions::in_memory().answer(mode));
        let guest = Arc::<Connections>::default().enter();
        let (mut client, io) = duplex(1 << 16);
        let writes = Arc::new(AtomicUsize::new(0));
        let io = Counted {
            io,
            writes: Arc::clone(&writes),
        };
        let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let path = "/mcp".into();
        tokio::spawn(serve(io, endpoint, path, guest, slot));
        let opened = ask(&mut client, &post("", INITIALIZE)).await;
        let mut lines = opened.lines();
        let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
        let call = post(&format!("Mcp-Session-Id: {}\r\n", id.unwrap()), CALL);
        for before in 1..5 {
            assert_eq!(writes.load(Ordering::Relaxed), before);
            let answer = ask(&mut client, &call).await;
            assert!(answer.contains(content_type), "{answer}");
            assert!(answer.contains("hello"), "{answer}");
        }
        assert_eq!(writes.load(Ordering::Relaxed), 5);
    }
}

/// Answers each request with as many bytes as it asks for.
#[derive(Clone)]
struct Long;

impl tower_service::Service<Request<Incoming>> for Long {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        let length = request.headers()["x-length"].to_str().unwrap();
        let text = vec![b'x'; length.parse().unwrap()];
        ready(Ok(Response::new(Full::from(text))))
    }
}

/// The connection would keep room for all that it copies before it is written.
#[tokio::test]
async fn a_long_answer_goes_out_in_pieces() {
    for takes in [1 << 20, 1000] {
        let connections = Arc::<Connections>::default();
        let guest = connections.enter();
        let (mut client, io) = duplex(takes);
        let writes = Arc::new(AtomicUsize::new(0));
        let io = Counted {
            io,
            writes: Arc::clone(&writes),
        };
        let slot = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
        let served = tokio::spawn(serve(io, Long, "/".into(), guest, slot));
        let mut expected = 0;
        for (length, pieces) in [(0, 1), (PIECE, 1), (PIECE + 1, 2), (4 * PIECE, 4), (1, 1)] {
            let request =
                format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Length: {length}\r\n\r\n");
            let answer = ask(&mut client, &request).await;
            assert!(answer.ends_with(&"x".repeat(length)));
            expected += pieces;
            if takes > 8 * PIECE {
                assert_eq!(writes.load(Ordering::Relaxed), expected, "{length}");
            }
        }
        drop(client);
        served.await.unwrap();
        assert!(!connections.enter().signs.joins(), "answers were long");
    }
}
