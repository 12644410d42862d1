//! [`AuthService`]: an HTTP client whose requests carry tokens.

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use mcp_core::{BoxFuture, ChannelError};
use tower_service::Service;

use crate::client::authorizer::{Authorizer, Budget};
use crate::dpop::DPOP;

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
    type Future = BoxFuture<'static, Result<Response<B>, ChannelError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        self.inner.poll_ready(cx).map_err(ChannelError::broken)
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let clone = self.inner.clone();
        // The clone may not be ready.
        let inner = std::mem::replace(&mut self.inner, clone);
        Box::pin(send(inner, self.authorizer.clone(), request))
    }
}

/// Sends a request until the server accepts or finally refuses it. The first call of `inner` is ready
/// already.
async fn send<S, B>(
    mut inner: S,
    authorizer: Authorizer,
    mut request: Request<Bytes>,
) -> Result<Response<B>, ChannelError>
where
    S: Service<Request<Bytes>, Response = Response<B>>,
    S::Error: Into<BoxError>,
{
    let has_own = request.headers().contains_key(AUTHORIZATION);
    if has_own || !authorizer.covers(request.uri()) {
        return inner.call(request).await.map_err(ChannelError::broken);
    }
    let mut budget = Budget::default();
    loop {
        // Boxed so that waiting for a token does not enlarge every request future.
        let token = match authorizer.ready_token() {
            Some(token) => token,
            None => Box::pin(authorizer.token()).await?,
        };
        // Before the clone, which has no space for further headers.
        authorizer.set_headers(&token, &mut request)?;
        let response = inner
            .call(request.clone())
            .await
            .map_err(ChannelError::broken)?;
        let head = (response.status(), response.headers());
        if !authorizer.record_response(head, &request, &token) {
            return Ok(response);
        }
        let handling = authorizer.handle_refusal(head, &request, &token, &mut budget);
        if !Box::pin(handling).await? {
            return Ok(response);
        }
        drop(response);
        request.headers_mut().remove(AUTHORIZATION);
        request.headers_mut().remove(DPOP);
        poll_fn(|cx| inner.poll_ready(cx))
            .await
            .map_err(ChannelError::broken)?;
    }
}

impl<S> fmt::Debug for AuthService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthService")
            .field("authorizer", &self.authorizer)
            .finish_non_exhaustive()
    }
}
