//! Sending requests: the HTTP client behind a trait object, and every request's headers.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, Request, Response, Uri};
use http_body::Body as _;
use mcp_core::{BoxFuture, ChannelError, ConnectionState};
use parking_lot::Mutex;
use tower_service::Service;

use super::body::{self, BoxError};
use super::http_client::{HttpBody, is_loopback};
use super::server_url::{self, ServerUrl};
use crate::headers::names;
use crate::sse::SseLimits;

/// The maximum number of redirects that one request follows.
const MAX_REDIRECTS: usize = 3;

/// The maximum number of bytes that are read of a redirect's body.
const MAX_REDIRECT_BODY: usize = 4096;

type SendFuture = BoxFuture<'static, Result<Response<HttpBody>, ChannelError>>;

/// Size limits of responses.
#[derive(Clone, Copy)]
pub(super) struct ResponseLimits {
    /// Bytes of a JSON response.
    pub(super) body: usize,
    pub(super) events: SseLimits,
}

impl Default for ResponseLimits {
    fn default() -> Self {
        Self {
            body: 64 << 20,
            events: SseLimits::default(),
        }
    }
}

/// Sends requests to one endpoint with the channel's headers.
#[derive(Clone)]
pub(super) struct RequestSender {
    pub(super) server_url: ServerUrl,
    pub(super) headers: HeaderMap,
    pub(super) provider: Option<Arc<HeaderProvider>>,
    pub(super) limits: ResponseLimits,
    /// Facts about the connection that responses have revealed, for telemetry.
    pub(super) state: Arc<std::sync::Mutex<ConnectionState>>,
    /// The first request with credentials. The others go to the same origin.
    sent_credentials: Arc<AtomicBool>,
    /// The warning about a header that the transport sets.
    warned_about_reserved: Arc<AtomicBool>,
    pub(super) service: ChannelService,
}

/// A request without the headers that every request carries.
pub(super) struct RequestParts<'a> {
    pub(super) method: Method,
    pub(super) uri: &'a Uri,
    pub(super) body: Bytes,
    /// The call's headers.
    pub(super) call_headers: &'a HeaderMap,
    /// Writes the protocol's headers, beside those that follow from the method.
    pub(super) protocol_headers: WriteHeaders<'a>,
}

/// A function that writes headers. It is called again after a redirect.
pub(super) type WriteHeaders<'a> = &'a (dyn Fn(&mut HeaderMap) + Sync);

impl<'a> RequestParts<'a> {
    /// A POST with a message.
    pub(super) fn post(
        uri: &'a Uri,
        body: Bytes,
        call_headers: &'a HeaderMap,
        protocol_headers: WriteHeaders<'a>,
    ) -> Self {
        Self {
            method: Method::POST,
            uri,
            body,
            call_headers,
            protocol_headers,
        }
    }

    /// A GET that opens an event stream.
    pub(super) fn get(
        uri: &'a Uri,
        call_headers: &'a HeaderMap,
        protocol_headers: WriteHeaders<'a>,
    ) -> Self {
        Self {
            method: Method::GET,
            ..Self::post(uri, Bytes::new(), call_headers, protocol_headers)
        }
    }

    /// Writes the headers that callers cannot set.
    // spec: HTTP-C-02
    fn write_protocol_headers(&self, headers: &mut HeaderMap) {
        let accept = match self.method {
            Method::GET => names::EVENT_STREAM,
            // Released Go servers refuse a DELETE without both, and keep the session.
            _ => names::ACCEPT_BOTH,
        };
        headers.insert(names::ACCEPT, accept);
        if self.method == Method::POST {
            headers.insert(names::CONTENT_TYPE, names::JSON);
        }
        (self.protocol_headers)(headers);
    }
}

impl RequestSender {
    pub(super) fn new(server_url: ServerUrl, service: ChannelService) -> Self {
        Self {
            server_url,
            headers: HeaderMap::new(),
            provider: None,
            limits: ResponseLimits::default(),
            state: Arc::default(),
            sent_credentials: Arc::default(),
            warned_about_reserved: Arc::default(),
            service,
        }
    }

    /// Sends a request, and follows 307 and 308 to other paths of the server: at most three, with the method and the
    /// body. Nothing is remembered for the next request. Other redirects are returned as they are.
    // spec: HTTP-C-14
    pub(super) async fn send(
        &self,
        parts: RequestParts<'_>,
    ) -> Result<Response<HttpBody>, ChannelError> {
        let mut response = self.send_to(parts.uri, &parts).await?;
        if response.status().is_redirection() {
            let mut uri = parts.uri.clone();
            for _ in 0..MAX_REDIRECTS {
                let Some(target) = server_url::redirect_on_server(&uri, &response) else {
                    break;
                };
                // Read to its end, so that its connection can be reused.
                let _ = body::read(response.into_body(), MAX_REDIRECT_BODY).await;
                response = self.send_to(&target, &parts).await?;
                uri = target;
            }
        }
        Ok(response)
    }

    /// Sends a request to a URI. If headers have the same name, the order of precedence is: protocol, call, provider,
    /// channel.
    async fn send_to(
        &self,
        uri: &Uri,
        parts: &RequestParts<'_>,
    ) -> Result<Response<HttpBody>, ChannelError> {
        let mut request = Request::new(parts.body.clone());
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = uri.clone();
        let headers = request.headers_mut();
        headers.reserve(8 + self.headers.len() + parts.call_headers.len());
        // Responses are not decompressed. A caller whose HTTP client does that replaces the header.
        headers.insert(names::ACCEPT_ENCODING, names::IDENTITY);
        if let Some(authorization) = &self.server_url.authorization {
            headers.insert(names::AUTHORIZATION, authorization.clone());
        }
        replace_headers(headers, &self.headers);
        if let Some(provider) = &self.provider {
            let provided = provider().await?;
            self.warn_about_reserved(&provided);
            replace_headers(headers, &provided);
        }
        self.warn_about_reserved(parts.call_headers);
        replace_headers(headers, parts.call_headers);
        parts.write_protocol_headers(headers);
        if headers.contains_key(names::AUTHORIZATION) {
            self.warn_about_plain_http(uri);
        }
        let with_server_url = |error| match error {
            ChannelError::Connect { source, .. } => ChannelError::Connect {
                peer: self.server_url.shown.to_string(),
                source,
            },
            other => other,
        };
        let response = (self.service.0)(request).await;
        let response = response.map_err(with_server_url)?;
        self.learn(|state| state.http_version = Some(response.version()));
        Ok(response)
    }

    /// Updates what responses have shown.
    pub(super) fn learn(&self, update: impl FnOnce(&mut ConnectionState)) {
        // No update panics.
        if let Ok(mut state) = self.state.lock() {
            update(&mut state);
        }
    }

    /// Logs once per channel that a token is sent without encryption to another machine.
    fn warn_about_plain_http(&self, uri: &Uri) {
        let is_first = !self.sent_credentials.swap(true, Ordering::Relaxed);
        if is_first && uri.scheme_str() == Some("http") && !is_loopback(uri) {
            tracing::warn!(
                server = &*self.server_url.shown,
                "the header `Authorization` is sent over plain http to another machine, where \
                 anybody on the way can read it; use https"
            );
        }
    }

    /// Logs once per channel that a header cannot be set.
    pub(super) fn warn_about_reserved(&self, given: &HeaderMap) {
        if let Some(name) = given.keys().find(|name| is_reserved(name))
            && !self.warned_about_reserved.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                server = &*self.server_url.shown,
                header = name.as_str(),
                "the header is ignored: the transport sets it by itself"
            );
        }
    }
}

/// Returns whether the transport writes the header, or the connection does.
pub(super) fn is_reserved(name: &HeaderName) -> bool {
    RESERVED.contains(name)
}

/// Headers that callers cannot set.
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

/// Replaces headers by those of `from`, except reserved ones. A repeated header keeps all its
/// values.
pub(super) fn replace_headers(headers: &mut HeaderMap, from: &HeaderMap) {
    for name in from.keys().filter(|name| !is_reserved(name)) {
        headers.remove(name);
        for value in from.get_all(name) {
            headers.append(name, value.clone());
        }
    }
}

/// A function that returns headers for one request.
pub(super) type HeaderProvider =
    dyn Fn() -> BoxFuture<'static, Result<HeaderMap, ChannelError>> + Send + Sync;

pub(super) fn header_provider<F, R, E>(provider: F) -> Arc<HeaderProvider>
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = Result<HeaderMap, E>> + Send + 'static,
    E: Into<BoxError>,
{
    Arc::new(move || {
        let headers = provider();
        Box::pin(async { headers.await.map_err(|error| provider_error(error.into())) })
    })
}

fn provider_error(error: BoxError) -> ChannelError {
    match error.downcast::<ChannelError>() {
        Ok(error) => *error,
        Err(error) => ChannelError::NotSendable(format!("the header provider failed: {error}")),
    }
}

/// An HTTP client of any type: the channel's client in
/// [`HttpChannel::map_service`](super::HttpChannel::map_service), or a client that the host provides. Clones share it.
#[derive(Clone)]
pub struct ChannelService(Arc<dyn Fn(Request<Bytes>) -> SendFuture + Send + Sync>);

impl ChannelService {
    /// Wraps an HTTP client that is a tower service. A [`ChannelError`] of the service is returned
    /// unchanged; other errors become a [`ChannelError::Broken`]'s source.
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        // The service need not be `Sync`, so it is cloned under a lock for each request.
        let service = Mutex::new(service);
        Self(Arc::new(move |request| {
            let mut service = service.lock().clone();
            Box::pin(async move {
                let ready = poll_fn(|cx| service.poll_ready(cx)).await;
                ready.map_err(ChannelError::broken)?;
                let response = service.call(request).await;
                let response = response.map_err(ChannelError::broken)?;
                Ok(response.map(HttpBody::new))
            })
        }))
    }
}

impl Service<Request<Bytes>> for ChannelService {
    type Response = Response<HttpBody>;
    type Error = ChannelError;
    type Future = SendFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        (self.0)(request)
    }
}

impl fmt::Debug for ChannelService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelService").finish_non_exhaustive()
    }
}

/// Returns whether the announced length of `body` is larger than `limit`.
pub(super) fn exceeds(body: &HttpBody, limit: usize) -> bool {
    body.size_hint().lower() > limit as u64
}
