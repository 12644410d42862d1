//! The protected resource's published metadata.
//!
//! Spec: RFC 9728.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use mcp_core::public_document::PublicDocument;
use tower_service::Service;

/// A protected resource's metadata as a tower service, for web servers that do not route
/// the metadata's path to the [protected](super::Protection::protect) service.
///
/// It needs no token, and web pages of every origin may read it.
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
/// let endpoint = StreamableHttp::new(Server::new("files", "1.0.0"));
/// let app: Router = Router::new()
///     .route_service(auth.metadata_path(), auth.metadata_service())
///     .route_service("/mcp", auth.protect(endpoint.allowed_hosts(["mcp.example.com"])));
/// # Ok::<(), mcp::auth::AuthError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MetadataService {
    document: Arc<PublicDocument>,
}

impl MetadataService {
    pub(super) fn new(document: Bytes) -> Self {
        Self {
            document: Arc::new(PublicDocument::new("application/json", document)),
        }
    }

    /// Answers a request. The answer does not depend on its headers.
    // spec: AUTH-S-01
    pub(super) fn respond(&self, method: &Method) -> Response<Bytes> {
        self.document.respond(method, &HeaderMap::new())
    }
}

impl<B> Service<Request<B>> for MetadataService {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.respond(request.method()).map(Full::new)))
    }
}
