//! Callers with access tokens: what they see, what the audit log says, what servers receive.

use std::sync::Arc;

use mcp::auth::{IdentityHeader, PrivateKey, ResourceServer, StaticTokens};
use mcp::core::Exchange;
use mcp::gateway::{Gateway, GatewayServer, ToolOptions};
use mcp::http::Serve;
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use parking_lot::Mutex;
use serde_json::json;
use tokio::net::TcpListener;

use crate::kit::LogLines;

/// The key of this test.
pub(crate) const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEILI/09o/+ZMfKK41wc1mfbRWFMaQIwklWiUqpFfMoLlh
-----END PRIVATE KEY-----
";

pub(crate) fn identity() -> IdentityHeader {
    let key = PrivateKey::from_pem(KEY).unwrap();
    IdentityHeader::new("X-Caller", key, "gateway", "inner").unwrap()
}

/// Serves a server over HTTP, and returns its URL and this header of its requests.
async fn recording_server(name: &'static str) -> (String, Arc<Mutex<Vec<Option<String>>>>) {
    let seen: Arc<Mutex<Vec<_>>> = Arc::default();
    let recorded = seen.clone();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        let parts = exchange.extensions.parts();
        let header = parts.and_then(|parts| parts.headers.get(name));
        let header = header.map(|value| value.to_str().unwrap().to_owned());
        recorded.lock().push(header);
        async move { next.run(exchange).await }
    });
    let server = Server::new("files", "1.0.0")
        .tool(Tool::new("read").handler(|RawArgs(_): RawArgs| "contents"))
        .tool(Tool::new("delete").handler(|| "deleted"))
        .layer(record);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { drop(mcp::serve_http(server, listener).await) });
    (url, seen)
}

/// Serves a gateway that demands tokens.
pub(crate) async fn protected(files: GatewayServer) -> String {
    let opened = Gateway::new("gateway", "1.0.0").server(files);
    let opened = opened.connect().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", ["files", "admin"])
        .token("token-of-bob", "bob", ["files"])
        .token("token-of-eve", "eve", ["other"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(opened.server).authorize(auth).run(listener));
    url
}

pub(crate) async fn client(url: &str, token: &str) -> Client {
    let builder = Client::builder().bearer_token(token);
    builder.connect(url).await.unwrap()
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn callers_see_what_their_token_permits_and_servers_never_see_the_token() {
    let lines = LogLines::default();
    let _guard = lines.record();

    let (server, seen) = recording_server("authorization").await;
    let files = GatewayServer::new("files", move |client| {
        client
            .bearer_token("token-of-the-gateway")
            .connect(server.clone())
    });
    let admin = ToolOptions::new().visible_to(|caller| caller.has_scope("admin"));
    let files = files
        .visible_to(|caller| caller.has_scope("files"))
        .tool("delete", admin);
    let url = protected(files).await;
    for (token, expected) in [
        ("token-of-ada", &["files__read", "files__delete"][..]),
        ("token-of-bob", &["files__read"]),
        ("token-of-eve", &[]),
    ] {
        let client = client(&url, token).await;
        let tools = client.list_tools().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, expected, "{token}");
        let read = client
            .call("files__read", json!({"path": "secret.txt"}))
            .await;
        assert_eq!(read.is_ok(), expected.contains(&"files__read"), "{read:?}");
        let deleted = client.call("files__delete", ()).await;
        assert_eq!(deleted.is_ok(), expected.contains(&"files__delete"));
    }

    let seen = seen.lock().clone();
    assert!(seen.len() >= 3, "{seen:?}");
    let own = Some("Bearer token-of-the-gateway".to_owned());
    assert!(seen.iter().all(|header| *header == own), "{seen:?}");

    let log = lines.text();
    let audit: Vec<_> = log
        .lines()
        .filter(|line| line.contains("mcp_gateway::audit"))
        .collect();
    assert_eq!(audit.len(), 3, "{log}");
    for (line, parts) in audit.iter().zip([
        ["subject=\"ada\"", "item=\"read\""],
        ["subject=\"ada\"", "item=\"delete\""],
        ["subject=\"bob\"", "item=\"read\""],
    ]) {
        for part in parts
            .iter()
            .chain(&["server=\"files\"", "outcome=\"ok\"", "duration_ms="])
        {
            assert!(line.contains(part), "{line} has no {part}");
        }
    }
    // Arguments and tokens are in no event.
    assert!(
        !log.contains("secret.txt") && !log.contains("token-of"),
        "{log}"
    );
}

/// Returns the parts of a token.
fn parts(token: &str) -> Vec<&str> {
    token.split('.').collect()
}

#[tokio::test]
async fn caller_is_named_to_a_server_that_wants_it() {
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        let (server, seen) = recording_server("x-caller").await;
        let back = mode.clone();
        let files = GatewayServer::new("files", move |client| {
            client.mode(back.clone()).connect(server.clone())
        });
        let url = protected(files.forward_identity(identity())).await;
        for token in ["token-of-ada", "token-of-bob"] {
            let client = client(&url, token).await;
            client.call("files__read", ()).await.unwrap();
            client.call("files__read", ()).await.unwrap();
        }
        let tokens: Vec<String> = seen.lock().iter().flatten().cloned().collect();
        assert_eq!(tokens.len(), 4, "{mode:?}: {tokens:?}");
        for token in &tokens {
            assert_eq!(parts(token).len(), 3, "{token}");
            assert_eq!(parts(token)[0], parts(&tokens[0])[0]);
        }
        // Each token has an id of its own.
        let claims: std::collections::HashSet<_> =
            tokens.iter().map(|token| parts(token)[1]).collect();
        assert_eq!(claims.len(), 4);
        // Lists have no caller.
        assert!(seen.lock().iter().any(Option::is_none), "{mode:?}");
    }
}

#[tokio::test]
async fn anonymous_client_is_not_named() {
    let (server, seen) = recording_server("x-caller").await;
    let files = GatewayServer::new("files", move |client| client.connect(server.clone()));
    let files = files.forward_identity(identity());
    let gateway = Gateway::new("gateway", "1.0.0").server(files);
    let url = crate::kit::serve(gateway.connect().await.unwrap().server).await;
    let client = Client::connect(url).await.unwrap();
    client.call("files__read", ()).await.unwrap();
    let seen = seen.lock();
    assert!(
        !seen.is_empty() && seen.iter().all(Option::is_none),
        "{seen:?}"
    );
}
