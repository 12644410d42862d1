//! The HTTP requests of a connection.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use mcp::core::BoxFuture;
use mcp::http::headers::names::MCP_METHOD;
use tower_service::Service;

/// Largest number of requests that are kept.
const MAX_EXCHANGES: usize = 64;

/// A request and the head of its response.
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

/// An HTTP client that keeps the heads of the first responses.
#[derive(Clone)]
pub(super) struct Watched<S> {
    inner: S,
    seen: Arc<Mutex<Vec<Exchange>>>,
}

impl<S> Watched<S> {
    pub(super) fn new(inner: S) -> Self {
        Self {
            inner,
            seen: Arc::default(),
        }
    }

    /// Returns the exchanges so far.
    pub(super) fn exchanges(&self) -> Vec<Exchange> {
        let seen = self.seen.lock();
        seen.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<S, B> Service<Request<Bytes>> for Watched<S>
where
    S: Service<Request<Bytes>, Response = Response<B>>,
    S::Future: Send + 'static,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<B>, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let method = request.method().clone();
        let call = request.headers().get(MCP_METHOD);
        let call = call.and_then(|it| it.to_str().ok()).map(str::to_owned);
        let (seen, start) = (Arc::clone(&self.seen), Instant::now());
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
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if seen.len() < MAX_EXCHANGES {
                seen.push(exchange);
            }
            drop(seen);
            Ok(response)
        })
    }
}

impl<S> fmt::Debug for Watched<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched").finish_non_exhaustive()
    }
}
