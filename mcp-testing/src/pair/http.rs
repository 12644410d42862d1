//! HTTP without sockets: requests go straight to the endpoint, answers come back piece by piece.

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
use mcp::prelude::*;
use tokio::time::{Sleep, sleep};
use tower_service::Service;

use super::fault::{End, WireFault, end_before, pieces};
use super::transcript::{Direction, Transcript};

type BoxError = Box<dyn Error + Send + Sync>;
type BoxBody = Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>;

/// An endpoint in this process, as a client's HTTP service.
#[derive(Clone)]
pub(super) struct InProcess {
    endpoint: StreamableHttp,
    faults: Arc<[WireFault]>,
    transcript: Transcript,
}

impl InProcess {
    pub(super) fn new(
        endpoint: StreamableHttp,
        faults: Vec<WireFault>,
        transcript: Transcript,
    ) -> Self {
        Self {
            endpoint,
            faults: faults.into(),
            transcript,
        }
    }
}

impl Service<Request<Bytes>> for InProcess {
    type Response = Response<Troubled>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Bytes>) -> Self::Future {
        self.transcript.add(Direction::ToServer, request.body());
        // What a connection would add.
        let host = HeaderValue::from_static("localhost");
        request.headers_mut().entry(header::HOST).or_insert(host);
        let answer = self.endpoint.call(request.map(Full::new));
        let (faults, transcript) = (self.faults.clone(), self.transcript.clone());
        Box::pin(async move {
            let (parts, body) = answer.await?.into_parts();
            let is_stream = parts
                .headers
                .get(header::CONTENT_TYPE)
                .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            let inner: BoxBody = if is_stream {
                Box::pin(body.map_err(Into::into))
            } else {
                // One message, in however many pieces it was written.
                let whole = body.collect().await?.to_bytes();
                Box::pin(Full::new(whole).map_err(Into::into))
            };
            let body = Troubled {
                inner,
                faults,
                transcript,
                number: 0,
                events: VecDeque::new(),
                pieces: VecDeque::new(),
                pause: None,
            };
            Ok(Response::from_parts(parts, body))
        })
    }
}

/// The body of an answer, with trouble.
pub(super) struct Troubled {
    inner: BoxBody,
    faults: Arc<[WireFault]>,
    transcript: Transcript,
    number: usize,
    /// What has come and not been looked at.
    events: VecDeque<Bytes>,
    /// What may pass, and the pause after it.
    pieces: VecDeque<(Bytes, Duration)>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Body for Troubled {
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
            if let Some((piece, pause)) = this.pieces.pop_front() {
                if !pause.is_zero() {
                    this.pause = Some(Box::pin(sleep(pause)));
                }
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if let Some(event) = this.events.pop_front() {
                this.number += 1;
                match end_before(&this.faults, this.number) {
                    Some(End::HalfClose) => return Poll::Ready(None),
                    Some(End::Cut) => {
                        return Poll::Ready(Some(Err("the connection is lost, as told".into())));
                    }
                    None => {}
                }
                this.transcript.add(Direction::ToClient, &event);
                let (pieces, pause) = pieces(&this.faults, this.number, event);
                let pieces = pieces.into_iter().map(|piece| (piece, pause));
                this.pieces.extend(pieces);
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

/// The events of a part of a body, each with the empty line that ends it.
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
