//! HTTP without sockets: requests are passed to the endpoint, and faults change its responses.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full};
use mcp::Principal;
use mcp::prelude::*;
use tokio::time::{Sleep, sleep};
use tower_service::Service;

use super::fault::{End, WireFault, chunks, end_before};
use super::transcript::{Direction, Transcript};

type BoxError = Box<dyn Error + Send + Sync>;
type BoxBody = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

/// An endpoint in this process, as a client's HTTP service.
#[derive(Clone)]
pub(super) struct InProcessService {
    pub(super) endpoint: StreamableHttp,
    pub(super) principal: Option<Principal>,
    pub(super) faults: Arc<[WireFault]>,
    pub(super) transcript: Transcript,
}

impl Service<Request<Bytes>> for InProcessService {
    type Response = Response<FaultyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Bytes>) -> Self::Future {
        self.transcript.add(Direction::ToServer, request.body());
        // An HTTP connection adds this header.
        let host = HeaderValue::from_static("localhost");
        request.headers_mut().entry(header::HOST).or_insert(host);
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        let response = self.endpoint.call(request.map(Full::new));
        let (faults, transcript) = (self.faults.clone(), self.transcript.clone());
        Box::pin(async move {
            let (parts, body) = response.await?.into_parts();
            let is_stream = parts
                .headers
                .get(header::CONTENT_TYPE)
                .is_some_and(|value| value.as_bytes().starts_with(b"text/event-stream"));
            let inner: BoxBody = if is_stream {
                Box::pin(body.map_err(Into::into))
            } else {
                // A JSON response is one message, so its frames are joined.
                let whole = body.collect().await?.to_bytes();
                Box::pin(Full::new(whole).map_err(Into::into))
            };
            let body = FaultyBody {
                inner,
                faults,
                transcript,
                number: 0,
                events: VecDeque::new(),
                chunks: VecDeque::new(),
                pause: None,
            };
            Ok(Response::from_parts(parts, body))
        })
    }
}

/// A response body with faults.
pub(super) struct FaultyBody {
    inner: BoxBody,
    faults: Arc<[WireFault]>,
    transcript: Transcript,
    number: usize,
    /// Received events that were not processed yet.
    events: VecDeque<Bytes>,
    /// Chunks to deliver, and the pause after each.
    chunks: VecDeque<(Bytes, Duration)>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Body for FaultyBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        loop {
            if let Some(pause) = &mut this.pause {
                if pause.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                this.pause = None;
            }
            if let Some((chunk, pause)) = this.chunks.pop_front() {
                if !pause.is_zero() {
                    this.pause = Some(Box::pin(sleep(pause)));
                }
                return Poll::Ready(Some(Ok(Frame::data(chunk))));
            }
            if let Some(event) = this.events.pop_front() {
                this.number += 1;
                match end_before(&this.faults, this.number) {
                    Some(End::HalfClose) => return Poll::Ready(None),
                    Some(End::Cut) => {
                        return Poll::Ready(Some(Err(
                            "the connection was broken by a `WireFault`".into(),
                        )));
                    }
                    None => {}
                }
                if !is_comment(&event) {
                    this.transcript.add(Direction::ToClient, &event);
                }
                let (chunks, pause) = chunks(&this.faults, this.number, event);
                let chunks = chunks.into_iter().map(|chunk| (chunk, pause));
                this.chunks.extend(chunks);
                continue;
            }
            match this.inner.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Ok(data) = frame.into_data() {
                        this.events = events(data);
                    }
                }
                other => return other,
            }
        }
    }
}

/// Splits a body frame into events, each with the empty line that ends it.
fn events(mut data: Bytes) -> VecDeque<Bytes> {
    const END: &[u8] = b"\n\n";
    let mut events = VecDeque::new();
    while let Some(at) = data.windows(END.len()).position(|found| found == END) {
        events.push_back(data.split_to(at + END.len()));
    }
    if !data.is_empty() {
        events.push_back(data);
    }
    events
}

/// Returns `true` if an event consists of comments, which keep a stream alive and carry no message.
fn is_comment(event: &[u8]) -> bool {
    let mut lines = event.trim_ascii().split(|byte| *byte == b'\n');
    lines.all(|line| line.starts_with(b":"))
}
