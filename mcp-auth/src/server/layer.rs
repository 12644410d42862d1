//! The tower layer: each request is admitted or refused before the protected service sees it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Either, Full};
use mcp_core::BoxFuture;
use pin_project_lite::pin_project;
use tower_layer::Layer;
use tower_service::Service;

use super::protection::{Credentials, Protection, ProtectionState};
use crate::challenge::TokenType;

impl Protection {
    /// Wraps a service, such as an MCP endpoint: requests without a valid token do not reach it. Requests
    /// for the path of the metadata are answered.
    ///
    /// Put layers for limits, logging and CORS around the protected service, so that they also apply to
    /// refused requests. Layers that need the caller belong inside.
    ///
    /// # Examples
    ///
    /// ```
    /// use axum::Router;
    /// use mcp::StreamableHttp;
    /// use mcp::auth::ResourceServer;
    /// use mcp::prelude::*;
    ///
    /// let auth = ResourceServer::new("https://mcp.example.com/mcp")
    ///     .issuer("https://login.example.com")
    ///     .build()?;
    /// let endpoint = StreamableHttp::new(Server::new("files", "1.0.0"))
    ///     .allowed_hosts(["mcp.example.com"]);
    /// let protected = auth.protect(endpoint);
    /// let app: Router = Router::new()
    ///     .route_service(auth.metadata_path(), protected.clone())
    ///     .route_service("/mcp", protected);
    /// # Ok::<(), mcp::auth::AuthError>(())
    /// ```
    pub fn protect<S>(&self, service: S) -> Protected<S> {
        Protected {
            protection: Arc::clone(&self.0),
            service,
        }
    }
}

impl<S> Layer<S> for Protection {
    type Service = Protected<S>;

    fn layer(&self, service: S) -> Protected<S> {
        self.protect(service)
    }
}

/// The response body of [`Protected`]: a refusal, or that of the protected service.
type ProtectedBody<B> = Either<Full<Bytes>, B>;

fn refused_body<B>(bytes: Bytes) -> ProtectedBody<B> {
    Either::Left(Full::new(bytes))
}

/// A service that only requests with a valid token reach. Created by [`Protection::protect`].
#[derive(Clone)]
pub struct Protected<S> {
    protection: Arc<ProtectionState>,
    service: S,
}

impl<S: std::fmt::Debug> std::fmt::Debug for Protected<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Protected")
            .field("resource", &self.protection.settings.resource)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

impl<S, B, R> Service<Request<B>> for Protected<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    B: Send + 'static,
    R: Send + 'static,
{
    type Response = Response<ProtectedBody<R>>;
    type Error = S::Error;
    type Future = ProtectedFuture<S::Future, R, S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut head, body) = request.into_parts();
        let protection = Arc::clone(&self.protection);
        if let Some(response) = protection.metadata(&head) {
            return ProtectedFuture::refused(response);
        }
        // spec: AUTH-S-11
        let credentials = match protection.credentials(&head.headers) {
            Ok(credentials) => credentials,
            Err(refusal) => {
                return ProtectedFuture::refused(protection.refuse_unread(&head, &refusal));
            }
        };
        let Some(caller) = protection.known_caller(&credentials) else {
            // The ready service must be called, so the clone replaces it.
            let clone = self.service.clone();
            let service = std::mem::replace(&mut self.service, clone);
            let request = Request::from_parts(head, body);
            let future = verify(protection, credentials, service, request);
            return ProtectedFuture {
                state: ProtectedState::Verifying {
                    future: Box::pin(future),
                },
            };
        };
        match protection.admit(&mut head, &credentials, &caller) {
            Err(refusal) => ProtectedFuture::refused(protection.refuse(&refusal)),
            Ok(()) => ProtectedFuture {
                state: ProtectedState::Admitted {
                    future: self.service.call(Request::from_parts(head, body)),
                    scheme: credentials.scheme,
                    protection,
                },
            },
        }
    }
}

/// Verifies a token that was not verified recently, then calls the service.
async fn verify<S, B, R>(
    protection: Arc<ProtectionState>,
    credentials: Credentials,
    mut service: S,
    request: Request<B>,
) -> Result<Response<ProtectedBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    let (mut head, body) = request.into_parts();
    let admitted = match protection.verify(&credentials).await {
        Ok(caller) => protection.admit(&mut head, &credentials, &caller),
        Err(refusal) => Err(refusal),
    };
    match admitted {
        Err(refusal) => Ok(protection.refuse(&refusal).map(refused_body)),
        Ok(()) => {
            let mut response = service.call(Request::from_parts(head, body)).await?;
            protection.complete(credentials.scheme, &mut response);
            Ok(response.map(Either::Right))
        }
    }
}

pin_project! {
    #[project = ProtectedStateProjection]
    enum ProtectedState<F, R, E> {
        Refused { response: Option<Response<Bytes>> },
        Admitted { #[pin] future: F, scheme: TokenType, protection: Arc<ProtectionState> },
        Verifying { future: BoxFuture<'static, Result<Response<ProtectedBody<R>>, E>> },
    }
}

pin_project! {
    /// The future of [`Protected`]. A request whose token was verified recently needs no allocation for it.
    #[must_use = "futures do nothing unless polled"]
    pub struct ProtectedFuture<F, R, E> {
        #[pin]
        state: ProtectedState<F, R, E>,
    }
}

impl<F, R, E> ProtectedFuture<F, R, E> {
    fn refused(response: Response<Bytes>) -> Self {
        Self {
            state: ProtectedState::Refused {
                response: Some(response),
            },
        }
    }
}

impl<F, R, E> Future for ProtectedFuture<F, R, E>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = Result<Response<ProtectedBody<R>>, E>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().state.project() {
            ProtectedStateProjection::Refused { response } => match response.take() {
                Some(response) => Poll::Ready(Ok(response.map(refused_body))),
                None => Poll::Pending,
            },
            ProtectedStateProjection::Admitted {
                future,
                scheme,
                protection,
            } => {
                let mut response = ready!(future.poll(cx))?;
                protection.complete(*scheme, &mut response);
                Poll::Ready(Ok(response.map(Either::Right)))
            }
            ProtectedStateProjection::Verifying { future } => future.as_mut().poll(cx),
        }
    }
}

impl<F, R, E> std::fmt::Debug for ProtectedFuture<F, R, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProtectedFuture").finish_non_exhaustive()
    }
}
