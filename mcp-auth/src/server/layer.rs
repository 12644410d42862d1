//! The tower layer: each request is admitted or refused before the protected service sees it.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Either, Full};
use mcp_core::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

use super::protection::{Protection, ProtectionState};

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
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.service.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The ready service must be called, so the clone replaces it.
        let clone = self.service.clone();
        let service = std::mem::replace(&mut self.service, clone);
        Box::pin(respond(Arc::clone(&self.protection), service, request))
    }
}

/// Calls the service if the request is admitted.
async fn respond<S, B, R>(
    protection: Arc<ProtectionState>,
    mut service: S,
    request: Request<B>,
) -> Result<Response<ProtectedBody<R>>, S::Error>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    let (mut head, body) = request.into_parts();
    if let Some(response) = protection.metadata(&head) {
        return Ok(response.map(refused_body));
    }
    // spec: AUTH-S-11
    let credentials = match protection.credentials(&head.headers) {
        Ok(credentials) => credentials,
        Err(refusal) => {
            let response = protection.refuse_unread(&head, &refusal);
            return Ok(response.map(refused_body));
        }
    };
    let caller = match protection.known_caller(&credentials) {
        Some(caller) => Ok(caller),
        // Boxed so that the verification does not enlarge the future of a verified token.
        None => Box::pin(protection.verify(&credentials)).await,
    };
    let admitted = caller.and_then(|caller| protection.admit(&mut head, &credentials, &caller));
    if let Err(refusal) = admitted {
        return Ok(protection.refuse(&refusal).map(refused_body));
    }
    let mut response = service.call(Request::from_parts(head, body)).await?;
    protection.complete(credentials.scheme, &mut response);
    Ok(response.map(Either::Right))
}
