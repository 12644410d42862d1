//! A server for `cargo xtask interop` that demands authorization: it asks an authorization server
//! about each token (introspection, RFC 7662).
//!
//! `protected-server ISSUER` prints its URL to standard error when it is ready.

#![allow(clippy::print_stderr, reason = "prints its URL")]

use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::StatusCode;
use http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use http_body_util::BodyExt as _;
use mcp::HttpClient;
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower::ServiceExt as _;
use url::form_urlencoded;

type Failure = Box<dyn Error + Send + Sync>;

/// Client id and secret of this server, in `auth_server.mjs`: `resource-server:interop-resource`.
const CREDENTIALS: &str = "Basic cmVzb3VyY2Utc2VydmVyOmludGVyb3AtcmVzb3VyY2U=";
const SCOPE: &str = "mcp";
const METADATA_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let issuer = std::env::args()
        .nth(1)
        .ok_or("usage: protected-server ISSUER")?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let base = format!("http://{}", listener.local_addr()?);
    let metadata = json!({
        "resource": format!("{base}/mcp"),
        "authorization_servers": [issuer],
        "scopes_supported": [SCOPE],
    });
    let tokens = Arc::new(Tokens {
        http: HttpClient::new()?,
        introspection: format!("{issuer}/token/introspection"),
        resource: format!("{base}/mcp"),
        metadata: format!("{base}{METADATA_PATH}"),
    });
    let app = Router::new()
        .route_service("/mcp", StreamableHttp::new(server()))
        .layer(from_fn_with_state(tokens, protect))
        .route(
            METADATA_PATH,
            get(
                move || async move { ([(CONTENT_TYPE, "application/json")], metadata.to_string()) },
            ),
        );
    eprintln!("listening on {base}/mcp");
    axum::serve(listener, app).await?;
    Ok(())
}

/// A server whose tool returns the token of the call, so that clients can check what became of it.
fn server() -> Server {
    let token = |Headers(headers): Headers| {
        let header = headers.get(AUTHORIZATION);
        let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        token.unwrap_or_default().to_owned()
    };
    Server::new("protected-server", env!("CARGO_PKG_VERSION"))
        .tool(Tool::new("token").handler(token))
}

/// Access to the authorization server.
struct Tokens {
    http: HttpClient,
    introspection: String,
    resource: String,
    metadata: String,
}

async fn protect(State(tokens): State<Arc<Tokens>>, request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let is_valid = match token {
        Some(token) => tokens.is_valid(token).await,
        None => Ok(false),
    };
    match is_valid {
        Ok(true) => next.run(request).await,
        Ok(false) => {
            let url = &tokens.metadata;
            let challenge = format!(r#"Bearer resource_metadata="{url}", scope="{SCOPE}""#);
            (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)]).into_response()
        }
        Err(error) => {
            eprintln!("introspection failed: {error}");
            StatusCode::BAD_GATEWAY.into_response()
        }
    }
}

impl Tokens {
    /// Returns whether a token is active, was issued for this server, and has the scope.
    async fn is_valid(&self, token: &str) -> Result<bool, Failure> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("token", token)
            .finish();
        let request = http::Request::post(&self.introspection)
            .header(AUTHORIZATION, CREDENTIALS)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Bytes::from(form))?;
        let response = self.http.clone().oneshot(request).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        if !status.is_success() {
            return Err(format!("HTTP status {status}").into());
        }
        let facts: Value = serde_json::from_slice(&body)?;
        let scopes = facts["scope"].as_str().unwrap_or_default();
        Ok(facts["active"] == true
            && facts["aud"] == self.resource.as_str()
            && scopes.split(' ').any(|scope| scope == SCOPE))
    }
}
