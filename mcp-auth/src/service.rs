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
    Extensions, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, Version,
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
        let mut inner = std::mem::replace(&mut self.inner, clone);
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
        let future = inner.call(request);
        let retry = Some(Box::new(Retry {
            inner,
            authorizer: self.authorizer.clone(),
            token,
            copy,
        }));
        AuthFuture {
            state: Attempt::First { future, retry },
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

/// A request as a list, which is cheaper to build and to drop than a copy of its header map.
struct RequestCopy {
    method: Method,
    uri: Uri,
    version: Version,
    headers: Vec<(HeaderName, HeaderValue)>,
    extensions: Extensions,
    body: Bytes,
}

impl RequestCopy {
    fn new(request: &Request<Bytes>) -> Self {
        // The size hint of the iterator is too small.
        let mut headers = Vec::with_capacity(request.headers().len());
        for (name, value) in request.headers() {
            headers.push((name.clone(), value.clone()));
        }
        Self {
            method: request.method().clone(),
            uri: request.uri().clone(),
            version: request.version(),
            headers,
            extensions: request.extensions().clone(),
            body: request.body().clone(),
        }
    }

    fn into_request(self) -> Request<Bytes> {
        let mut request = Request::new(self.body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.version_mut() = self.version;
        *request.extensions_mut() = self.extensions;
        for (name, value) in self.headers {
            request.headers_mut().append(name, value);
        }
        request
    }
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
