//! The other origin in which views of MCP Apps run: they reach neither the page nor its requests.
//!
//! The page shows a frame of this origin, the sandbox proxy. The proxy shows the document of the view in a
//! second frame, whose origin is opaque, with the document's policy.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_SECURITY_POLICY, HOST, HeaderValue};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::session::Session;
use crate::page_guard;

/// The page of the proxy, and its script.
const PROXY: &str = include_str!("page/proxy.html");
const SCRIPT: &str = include_str!("page/proxy.js");

/// The ports of the two origins.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ports {
    pub(super) page: u16,
    pub(super) sandbox: u16,
}

impl Ports {
    /// Pages that may show frames of this origin: that of the inspector.
    fn ancestors(self) -> String {
        let Self { page, sandbox } = self;
        format!(
            "frame-ancestors http://127.0.0.1:{page} http://localhost:{page} http://127.0.0.1:{sandbox}"
        )
    }
}

/// The proxy and the documents.
pub(super) fn router(session: Arc<Session>, ports: Ports) -> Router {
    let proxy_policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; \
         form-action 'none'; {}",
        ports.ancestors()
    );
    let view = move |State(session): State<Arc<Session>>, Path(id): Path<String>| async move {
        let Some(document) = session.views.document(&id) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        // The document is in the sandbox, too, if it is opened without its frames.
        let policy = format!(
            // spec: APP-09
            "{}; sandbox allow-scripts; {}",
            document.csp_header(),
            ports.ancestors()
        );
        respond("view.html", document.html().to_owned(), &policy)
    };
    Router::new()
        .route(
            "/",
            get(async move || respond("proxy.html", PROXY, &proxy_policy)),
        )
        .route(
            "/proxy.js",
            get(async || respond("proxy.js", SCRIPT, "default-src 'none'")),
        )
        .route("/view/{id}", get(view))
        .layer(from_fn_with_state(ports, check))
        .with_state(session)
}

fn respond(name: &str, content: impl IntoResponse, policy: &str) -> Response {
    let mut response = page_guard::file(name, content);
    match HeaderValue::try_from(policy) {
        Ok(policy) => {
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, policy);
            response
        }
        // Nothing is shown without its policy.
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Refuses other hosts, which DNS rebinding leads here.
async fn check(State(ports): State<Ports>, request: Request, next: Next) -> Response {
    let host = request
        .headers()
        .get(HOST)
        .and_then(|host| host.to_str().ok());
    // spec: APP-09
    let expected = format!("127.0.0.1:{}", ports.sandbox);
    let mut response = if host == Some(&expected) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "wrong Host").into_response()
    };
    page_guard::add_headers(response.headers_mut());
    response
}
