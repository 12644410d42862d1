//! The host with an HTTP client, tokens and remote processes of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axum::Router;
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, USER_AGENT, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::output;

fn respond(body: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// Accepts requests of the host with the renewed token.
async fn admit(request: Request, next: Next) -> Response {
    let headers = request.headers().clone();
    let has = |name, value: &str| headers.get(name).is_some_and(|given| given == value);
    assert!(has(USER_AGENT, "example-host/1.0"));
    if has(AUTHORIZATION, "Bearer new") {
        return next.run(request).await;
    }
    let challenge = [(WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")];
    (StatusCode::UNAUTHORIZED, challenge).into_response()
}

/// Starts a server that demands a login, with its authorization server. Returns its URL.
async fn start(refreshes: Arc<AtomicU32>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let resource = json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]});
    let issuer = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "code_challenge_methods_supported": ["S256"],
    });
    let token = async move |headers: HeaderMap, form: String| {
        assert_eq!(headers[USER_AGENT], "example-host/1.0");
        for part in [
            "refresh_token=old-refresh",
            "client_id=example-host",
            "grant_type=refresh_token",
        ] {
            assert!(form.contains(part), "{form}");
        }
        refreshes.fetch_add(1, Ordering::SeqCst);
        respond(&json!({
            "access_token": "new", "refresh_token": "new-refresh",
            "token_type": "Bearer", "expires_in": 3600,
        }))
    };
    let server = Server::new("protected", "1.0.0").tool(Tool::new("search").handler(|| "found"));
    let protected = Router::new()
        .route_service("/mcp", StreamableHttp::new(server))
        .layer(from_fn(admit));
    let app = Router::new()
        .route("/token", post(token))
        .route(
            "/.well-known/oauth-protected-resource/mcp",
            get(async move || respond(&resource)),
        )
        .route(
            "/.well-known/oauth-authorization-server",
            get(async move || respond(&issuer)),
        )
        .merge(protected);
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("{base}/mcp")
}

#[tokio::test]
async fn host_uses_its_own_client_tokens_and_processes() {
    let refreshes = Arc::new(AtomicU32::new(0));
    let url = start(refreshes.clone()).await;
    let issuer = url.strip_suffix("/mcp").unwrap();
    let file = std::env::temp_dir().join(format!("mcp-host-{}.json", std::process::id()));
    let old = json!({&url: {
        "issuer": issuer, "client_id": "example-host",
        "access_token": "old", "refresh_token": "old-refresh",
    }});
    std::fs::write(&file, old.to_string()).unwrap();
    for _ in 0..2 {
        let mut host = Command::new(env!("CARGO_BIN_EXE_host"));
        host.arg(&url).arg(&file);
        let text = output(host.arg(env!("CARGO_BIN_EXE_stdio_server"))).await;
        for part in [
            &format!("{url}: logins at {issuer}\n"),
            "tool search\n",
            "tool bake\n",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }
    // The first program has refreshed the token and written it back for the second one.
    assert_eq!(refreshes.load(Ordering::SeqCst), 1);
    let stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(stored[&url]["access_token"], "new");
    assert_eq!(stored[&url]["refresh_token"], "new-refresh");
    assert_eq!(stored[&url]["client_id"], "example-host");
}
