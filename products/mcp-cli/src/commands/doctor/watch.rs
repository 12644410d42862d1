//! The HTTP requests of a connection.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use mcp::core::ChannelError;
use mcp::http::client::{ChannelService, HttpBody};
use mcp::http::headers::names::MCP_METHOD;
use parking_lot::Mutex;
use tower_service::Service as _;

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
pub(super) struct SeenExchanges(Arc<Mutex<Vec<Exchange>>>);

impl SeenExchanges {
    /// Returns the exchanges so far.
    pub(super) fn all(&self) -> Vec<Exchange> {
        self.0.lock().clone()
    }
}

/// Sends a request, and keeps it with the head of its response.
pub(super) async fn send(
    mut http: ChannelService,
    request: Request<Bytes>,
    seen: SeenExchanges,
) -> Result<Response<HttpBody>, ChannelError> {
    let method = request.method().clone();
    let call = request.headers().get(MCP_METHOD);
    let call = call.and_then(|call| call.to_str().ok()).map(str::to_owned);
    let start = Instant::now();
    let response = http.call(request).await?;
    let mut seen = seen.0.lock();
    if seen.len() < MAX_EXCHANGES {
        seen.push(Exchange {
            method,
            call,
            status: response.status(),
            headers: response.headers().clone(),
            duration: start.elapsed(),
            received: SystemTime::now(),
        });
    }
    drop(seen);
    Ok(response)
}
