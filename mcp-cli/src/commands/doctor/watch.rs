//! The HTTP requests of a connection.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use mcp::core::{BoxFuture, ChannelError};
use mcp::http::client::{ChannelService, HttpBody};
use mcp::http::headers::names::MCP_METHOD;
use parking_lot::Mutex;
use tower_service::Service;

/// Largest number of requests that are kept.
const MAX_EXCHANGES: usize = 64;

/// A request and its response's head.
#[derive(Debug, Clone)]
pub(super) struct Exchange {
    pub(super) method: Method,
    /// The method of the message, as the header `Mcp-Method` repeats it.
    pub(super) call: Option<String>,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Time until the head of the response arrived.
    pub(super) duration: Duration,
    pub(super) received: SystemTime,
}

/// The first exchanges of a connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Exchanges(Arc<Mutex<Vec<Exchange>>>);

impl Exchanges {
    /// Returns the exchanges so far.
    pub(super) fn all(&self) -> Vec<Exchange> {
        self.0.lock().clone()
    }
}

/// An HTTP client that keeps the heads of the first responses.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    pub(super) inner: ChannelService,
    pub(super) seen: Exchanges,
}

impl Service<Request<Bytes>> for Watched {
    type Response = Response<HttpBody>;
    type Error = ChannelError;
    type Future = BoxFuture<'static, Result<Self::Response, ChannelError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let method = request.method().clone();
        let call = request.headers().get(MCP_METHOD);
        let call = call.and_then(|call| call.to_str().ok()).map(str::to_owned);
        let (seen, start) = (self.seen.clone(), Instant::now());
        let response = self.inner.call(request);
        Box::pin(async move {
            let response = response.await?;
            let exchange = Exchange {
                method,
                call,
                status: response.status(),
                headers: response.headers().clone(),
                duration: start.elapsed(),
                received: SystemTime::now(),
            };
            let mut seen = seen.0.lock();
            if seen.len() < MAX_EXCHANGES {
                seen.push(exchange);
            }
            drop(seen);
            Ok(response)
        })
    }
}
