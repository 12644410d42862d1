//! The seam below which HTTP clients differ, and what every request carries.

use std::future::poll_fn;
use std::sync::Arc;

use bytes::{Buf, Bytes};
use http::{HeaderMap, HeaderName, Method, Request, Response, Uri};
use http_body::Body as _;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use mcp_core::{BoxFuture, ChannelError};
use parking_lot::Mutex;
use tower_service::Service;

use super::body::broken;
use super::endpoint::Endpoint;
use super::{BoxError, Limits};
use crate::headers::names;

/// The body of an answer, whatever HTTP client it comes from.
pub(super) type Body = UnsyncBoxBody<Bytes, ChannelError>;

type Answered = BoxFuture<'static, Result<Response<Body>, ChannelError>>;

/// Where requests go, what all of them carry, and who sends them.
#[derive(Clone)]
pub(super) struct Http {
    pub(super) endpoint: Endpoint,
    pub(super) headers: HeaderMap,
    pub(super) provider: Option<Arc<Provider>>,
    pub(super) limits: Limits,
    service: Arc<dyn SendRequest>,
}

/// A request, before the headers that all requests carry are added to it.
pub(super) struct Unsent<'a> {
    pub(super) method: Method,
    pub(super) uri: &'a Uri,
    pub(super) body: Bytes,
    /// Headers of the caller.
    pub(super) caller: &'a HeaderMap,
    /// Headers of the protocol.
    pub(super) protocol: HeaderMap,
}

impl Http {
    pub(super) fn new<S, B>(endpoint: Endpoint, service: S) -> Self
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        Self {
            endpoint,
            headers: HeaderMap::new(),
            provider: None,
            limits: Limits::default(),
            service: Arc::new(Tower(Mutex::new(service))),
        }
    }

    /// Sends a request. Headers of the caller come before those that are provided, those before
    /// the ones that are set once and for all, those of the protocol before all.
    pub(super) async fn send(&self, unsent: Unsent<'_>) -> Result<Response<Body>, ChannelError> {
        let mut request = Request::new(unsent.body);
        *request.method_mut() = unsent.method;
        *request.uri_mut() = unsent.uri.clone();
        let headers = request.headers_mut();
        headers.reserve(8 + self.headers.len() + unsent.caller.len());
        if let Some(authorization) = &self.endpoint.authorization {
            headers.insert(names::AUTHORIZATION, authorization.clone());
        }
        replace(headers, &self.headers);
        if let Some(provider) = &self.provider {
            replace(headers, &provider().await?);
        }
        replace(headers, unsent.caller);
        headers.extend(unsent.protocol);
        let named = |error| match error {
            ChannelError::Connect { source, .. } => ChannelError::Connect {
                peer: self.endpoint.shown.to_string(),
                source,
            },
            other => other,
        };
        self.service.send(request).await.map_err(named)
    }
}

/// Headers that only this transport writes, or that belong to the connection.
const RESERVED: [HeaderName; 10] = [
    names::ACCEPT,
    names::CONTENT_TYPE,
    names::CONTENT_LENGTH,
    names::HOST,
    names::MCP_PROTOCOL_VERSION,
    names::MCP_METHOD,
    names::MCP_NAME,
    names::MCP_SESSION_ID,
    names::LAST_EVENT_ID,
    names::TRANSFER_ENCODING,
];

/// Sets the headers of `from`; one that comes several times keeps all of its values.
pub(super) fn replace(headers: &mut HeaderMap, from: &HeaderMap) {
    for name in from.keys().filter(|name| !RESERVED.contains(name)) {
        headers.remove(name);
        for value in from.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

/// Where headers come from that are not known in advance.
pub(super) type Provider =
    dyn Fn() -> BoxFuture<'static, Result<HeaderMap, ChannelError>> + Send + Sync;

pub(super) fn provider<F, R, E>(provider: F) -> Arc<Provider>
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = Result<HeaderMap, E>> + Send + 'static,
    E: Into<BoxError>,
{
    Arc::new(move || {
        let headers = provider();
        Box::pin(async { headers.await.map_err(|error| unprovided(error.into())) })
    })
}

fn unprovided(error: BoxError) -> ChannelError {
    match error.downcast::<ChannelError>() {
        Ok(error) => *error,
        Err(error) => ChannelError::Unsendable(format!("the headers for it are missing: {error}")),
    }
}

/// Sends requests.
trait SendRequest: Send + Sync {
    fn send(&self, request: Request<Bytes>) -> Answered;
}

/// Any HTTP client that is a tower service. The lock is held for as long as a clone takes: clones
/// of a service need not be shareable between threads.
struct Tower<S>(Mutex<S>);

impl<S, B> SendRequest for Tower<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    fn send(&self, request: Request<Bytes>) -> Answered {
        let mut service = self.0.lock().clone();
        Box::pin(async move {
            let ready = poll_fn(|cx| service.poll_ready(cx)).await;
            ready.map_err(broken)?;
            let response = service.call(request).await.map_err(broken)?;
            Ok(response.map(|body| {
                let bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
                body.map_frame(move |frame| frame.map_data(bytes))
                    .map_err(broken)
                    .boxed_unsync()
            }))
        })
    }
}

/// Whether a body says of itself that it is longer than `limit`.
pub(super) fn exceeds(body: &Body, limit: usize) -> bool {
    body.size_hint().lower() > limit as u64
}
