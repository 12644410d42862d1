//! [`AuthService`]: an HTTP client whose requests carry tokens.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{
    Extensions, HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri,
    Version,
};
use mcp_core::{BoxFuture, ChannelError};
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::authorizer::{Authorizer, Budget, RequestInfo, RequestToken};
use crate::record::ActiveToken;

type BoxError = Box<dyn Error + Send + Sync>;

/// An HTTP client whose requests to the MCP server carry tokens. A response that demands
/// authorization is answered by a login, and the request is sent again.
///
/// Requests to other origins, and requests that have an `Authorization` header, are sent unchanged.
///
/// # Examples
///
/// ```
/// use mcp::auth::OAuth;
/// use mcp::{HttpChannel, HttpClient};
///
/// let url = "https://mcp.example.com/mcp";
/// let authorizer = OAuth::interactive("My Agent").authorizer(url)?;
/// let http = authorizer.service(HttpClient::new()?);
/// let channel = HttpChannel::with_service(url, http)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct AuthService<S> {
    inner: S,
    authorizer: Authorizer,
}

impl Authorizer {
    /// Wraps an HTTP client.
    pub fn service<S>(&self, inner: S) -> AuthService<S> {
        AuthService {
            inner,
            authorizer: self.clone(),
        }
    }
}

impl<S, B> Service<Request<Bytes>> for AuthService<S>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Send + 'static,
{
    type Response = Response<B>;
    type Error = ChannelError;
    type Future = AuthFuture<S, S::Future, B>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        self.inner.poll_ready(cx).map_err(broken)
    }

    fn call(&mut self, mut request: Request<Bytes>) -> Self::Future {
        let clone = self.inner.clone();
        let inner = std::mem::replace(&mut self.inner, clone);
        let ready = match is_covered(&self.authorizer, &request) {
            true => self.authorizer.ready_token(),
            false => None,
        };
        let Some(token) = ready else {
            let authorizer = self.authorizer.clone();
            let future = async move { send(inner, &authorizer, request, None).await };
            return AuthFuture::boxed(Box::pin(future));
        };
        let copy = RequestCopy::new(&request);
        let header = token.authorization();
        request.headers_mut().insert(AUTHORIZATION, header);
        let mut retry = Box::new(Retry {
            inner,
            authorizer: self.authorizer.clone(),
            token,
            copy,
        });
        AuthFuture {
            // The future is the last value to be made, so that it is made where it stays.
            state: Attempt::First {
                future: retry.inner.call(request),
                retry: Some(retry),
            },
        }
    }
}

fn is_covered(authorizer: &Authorizer, request: &Request<Bytes>) -> bool {
    let has_own = request.headers().contains_key(AUTHORIZATION);
    !has_own && authorizer.covers(request.uri())
}

pin_project! {
    #[project = AttemptProjection]
    enum Attempt<S, F, B> {
        // The first attempt with a valid token. The box keeps the future below the 1032 bytes that the
        // allocator of glibc serves from its fast lists.
        First { #[pin] future: F, retry: Option<Box<Retry<S>>> },
        Boxed { future: BoxFuture<'static, Result<Response<B>, ChannelError>> },
    }
}

pin_project! {
    /// The future of [`AuthService`].
    ///
    /// The first attempt with a valid token needs no allocation for the future.
    #[must_use = "futures do nothing unless polled"]
    pub struct AuthFuture<S, F, B> {
        #[pin]
        state: Attempt<S, F, B>,
    }
}

/// The parts for another attempt.
struct Retry<S> {
    inner: S,
    authorizer: Authorizer,
    token: Arc<ActiveToken>,
    copy: RequestCopy,
}

/// A request for another attempt.
struct RequestCopy {
    method: Method,
    uri: Uri,
    version: Version,
    headers: HeaderLines,
    extensions: Extensions,
    body: Bytes,
}

impl RequestCopy {
    fn new(request: &Request<Bytes>) -> Self {
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            headers: HeaderLines::new(request.headers()),
            extensions: request.extensions().clone(),
            body: request.body().clone(),
        }
    }

    fn into_request(self) -> Request<Bytes> {
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = self.version;
        *request.headers_mut() = self.headers.to_map();
        *request.extensions_mut() = self.extensions;
        request
    }
}

/// Headers as lines of `name:value`, in one allocation: a list of clones takes 2,500 instructions more
/// per call, most of them in the allocator (`cargo xtask bench --instructions`, row `oauth`), and few requests
/// are sent twice.
struct HeaderLines(Vec<u8>);

/// Marks lines with a sensitive value. It cannot be in a name.
const SENSITIVE: u8 = b' ';

impl HeaderLines {
    fn new(headers: &HeaderMap) -> Self {
        // Most requests have less, and the allocator reuses blocks of this size.
        let mut lines = Vec::with_capacity(512);
        for (name, value) in headers {
            if value.is_sensitive() {
                lines.push(SENSITIVE);
            }
            lines.extend_from_slice(name.as_str().as_bytes());
            lines.push(b':');
            lines.extend_from_slice(value.as_bytes());
            // It cannot be in a value.
            lines.push(b'\n');
        }
        Self(lines)
    }

    fn to_map(&self) -> HeaderMap {
        let lines = self.0.split(|&byte| byte == b'\n');
        lines.filter_map(parse_line).collect()
    }
}

fn parse_line(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let (is_sensitive, line) = match line.strip_prefix(&[SENSITIVE]) {
        Some(line) => (true, line),
        None => (false, line),
    };
    let colon = line.iter().position(|&byte| byte == b':')?;
    let name = HeaderName::from_bytes(line.get(..colon)?).ok()?;
    let mut value = HeaderValue::from_bytes(line.get(colon + 1..)?).ok()?;
    value.set_sensitive(is_sensitive);
    Some((name, value))
}

impl<S, F, B> AuthFuture<S, F, B> {
    fn boxed(future: BoxFuture<'static, Result<Response<B>, ChannelError>>) -> Self {
        Self {
            state: Attempt::Boxed { future },
        }
    }
}

impl<S, B> Future for AuthFuture<S, S::Future, B>
where
    S: Service<Request<Bytes>, Response = Response<B>> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
    B: Send + 'static,
{
    type Output = Result<Response<B>, ChannelError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        let (response, retry) = match state.as_mut().project() {
            AttemptProjection::Boxed { future } => return future.as_mut().poll(cx),
            AttemptProjection::First { future, retry } => {
                let response = ready!(future.poll(cx)).map_err(broken)?;
                (response, retry.take())
            }
        };
        let demands = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
        let Some(retry) = retry else {
            return Poll::Ready(Ok(response));
        };
        if !demands.contains(&response.status()) {
            retry.token.set_accepted();
            return Poll::Ready(Ok(response));
        }
        let mut future: BoxFuture<'static, Self::Output> = Box::pin(async move {
            let retry = *retry;
            let first = Some((response, RequestToken::Active(retry.token)));
            let request = retry.copy.into_request();
            send(retry.inner, &retry.authorizer, request, first).await
        });
        let polled = future.as_mut().poll(cx);
        state.set(Attempt::Boxed { future });
        polled
    }
}

/// Sends a request until the server accepts or finally refuses it. `first` is the response to the
/// first attempt, if there was one; otherwise the first call of `inner` is ready already.
async fn send<S, B>(
    mut inner: S,
    authorizer: &Authorizer,
    request: Request<Bytes>,
    mut first: Option<(Response<B>, RequestToken)>,
) -> Result<Response<B>, ChannelError>
where
    S: Service<Request<Bytes>, Response = Response<B>>,
    S::Error: Into<BoxError>,
{
    if !is_covered(authorizer, &request) {
        return inner.call(request).await.map_err(broken);
    }
    let info = RequestInfo {
        uri: request.uri(),
        headers: request.headers(),
    };
    let mut budget = Budget::default();
    loop {
        let (response, token) = match first.take() {
            Some(attempt) => attempt,
            None => {
                let token = authorizer.token().await?;
                let mut attempt = request.clone();
                let method = request.method();
                authorizer.set_headers(&token, method, request.uri(), attempt.headers_mut())?;
                (inner.call(attempt).await.map_err(broken)?, token)
            }
        };
        let (status, headers) = (response.status(), response.headers());
        if !authorizer
            .handle(status, headers, &info, &token, &mut budget)
            .await?
        {
            return Ok(response);
        }
        drop(response);
        poll_fn(|cx| inner.poll_ready(cx)).await.map_err(broken)?;
    }
}

fn broken(error: impl Into<BoxError>) -> ChannelError {
    match error.into().downcast::<ChannelError>() {
        Ok(error) => *error,
        Err(source) => ChannelError::Broken {
            source: Some(source),
        },
    }
}

impl<S> fmt::Debug for AuthService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthService")
            .field("authorizer", &self.authorizer)
            .finish_non_exhaustive()
    }
}

impl<S, F, B> fmt::Debug for AuthFuture<S, F, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthFuture").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use http::header::{ACCEPT, CONTENT_TYPE};
    use http::{HeaderMap, HeaderName, HeaderValue};

    use super::HeaderLines;

    #[test]
    fn header_lines_restore_every_header() {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.append(ACCEPT, HeaderValue::from_static("a: b"));
        headers.append(ACCEPT, HeaderValue::from_static(""));
        headers.append(ACCEPT, HeaderValue::from_bytes(b"\tx\xff ").unwrap());
        let mut secret = HeaderValue::from_static("s3cret");
        secret.set_sensitive(true);
        headers.insert(HeaderName::from_static("x-api-key"), secret);
        let restored = HeaderLines::new(&headers).to_map();
        assert_eq!(restored, headers);
        assert_eq!(restored.iter().count(), 5);
        assert!(restored["x-api-key"].is_sensitive());
        assert!(!restored[CONTENT_TYPE].is_sensitive());
    }
}
