//! Protected servers: tokens, challenges, scopes and proofs, through the whole stack without a socket
//! between client and server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{Method, Request, Response, StatusCode};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use mcp::auth::{
    AccessToken, Algorithm, Claims, Dpop, Introspection, Protected, Protection, ResourceServer,
    Secret, StaticTokens, TokenExchange, TokenVerifier, VerifiedToken, VerifyError,
};
use mcp::prelude::*;
use mcp::{ScopedCall, StreamableHttp};
use serde_json::{Value, json};
use tower_service::Service;

use crate::issuer::{Issuer, Key, encode, now, signing_input};
use crate::secrets::Log;

const RESOURCE: &str = "http://localhost/mcp";

/// A protected server and the number of calls of its handlers.
#[derive(Clone)]
struct World {
    service: Protected<StreamableHttp>,
    endpoint: StreamableHttp,
    calls: Arc<AtomicUsize>,
}

impl World {
    fn new(auth: ResourceServer) -> Self {
        Self::of(&auth.build().unwrap())
    }

    fn of(protection: &Protection) -> Self {
        let calls = Arc::new(AtomicUsize::new(0));
        let endpoint = StreamableHttp::new(server(&calls));
        Self {
            service: protection.protect(endpoint.clone()),
            endpoint,
            calls,
        }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> (StatusCode, String, Response<()>) {
        let response = self.service.clone().call(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(body.to_vec()).unwrap();
        (head.status, text, Response::from_parts(head, ()))
    }

    /// Calls a tool as a modern client.
    async fn call(
        &self,
        token: &str,
        tool: &str,
        arguments: Value,
    ) -> (StatusCode, String, Response<()>) {
        self.send(call(&format!("Bearer {token}"), tool, arguments))
            .await
    }

    async fn whoami(&self, token: &str) -> StatusCode {
        self.call(token, "whoami", json!({})).await.0
    }

    /// Sends a legacy message, and returns the status, the body and the session id.
    async fn legacy(
        &self,
        token: &str,
        session: Option<&str>,
        message: &Value,
    ) -> (StatusCode, String, Option<String>) {
        let mut request = Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header(AUTHORIZATION, format!("Bearer {token}"));
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        let body = Full::from(message.to_string());
        let (status, text, head) = self.send(request.body(body).unwrap()).await;
        let id = head.headers().get("mcp-session-id");
        (status, text, id.map(|id| id.to_str().unwrap().to_owned()))
    }

    async fn open(&self, token: &str, version: &str) -> String {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let (status, text, session) = self.legacy(token, None, &initialize).await;
        assert_eq!(status, 200, "{text}");
        let session = session.unwrap();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.legacy(token, Some(&session), &ready).await.0, 202);
        session
    }
}

pub(crate) fn call(authorization: &str, tool: &str, arguments: Value) -> Request<Full<Bytes>> {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        },
    }});
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .header(AUTHORIZATION, authorization)
        .header("cookie", "session=hidden")
        .body(Full::from(message.to_string()))
        .unwrap()
}

fn legacy_call(id: u32, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn server(calls: &Arc<AtomicUsize>) -> Server {
    let count = {
        let calls = Arc::clone(calls);
        move || calls.fetch_add(1, Ordering::SeqCst)
    };
    let counted = count.clone();
    let whoami = move |Identity(who): Identity,
                       Identity(claims): Identity<Claims>,
                       Headers(headers): Headers| {
        counted();
        let names = ["authorization", "cookie", "dpop", "proxy-authorization"];
        let secrets = names
            .into_iter()
            .filter(|name| headers.contains_key(*name))
            .count();
        json!({
            "subject": who.subject, "scopes": who.scopes, "client": who.client,
            "tenant": claims.get::<String>("tenant"), "secrets": secrets,
        })
        .to_string()
    };
    let counted = count.clone();
    let stream = move |progress: Progress| {
        counted();
        async move {
            progress.report(0.5, 1.0, "half").await;
            "streamed"
        }
    };
    let by_path = |call: &ScopedCall<'_>| {
        let path: Option<String> = call.argument("path");
        path.is_none_or(|path| path.starts_with("/etc"))
            .then_some("files:admin")
    };
    let panics = |_: &ScopedCall<'_>| -> Option<String> { panic!("scopes") };
    let counted = count.clone();
    Server::new("test", "1.0.0")
        .tool(Tool::new("whoami").handler(whoami))
        .tool(
            Tool::new("delete")
                .handler(move || counted().to_string())
                .scopes(["files:read", "files:write"]),
        )
        .tool(Tool::new("stream").handler(stream).scopes(["files:stream"]))
        .tool(
            Tool::new("read")
                .handler(|RawArgs(_): RawArgs| "contents")
                .scopes(["files:read"])
                .scopes_for(by_path),
        )
        .tool(Tool::new("panics").handler(|| "").scopes_for(panics))
        .resource(
            Resource::new("secret://key")
                .read(|| "key")
                .scopes(["keys"]),
        )
        .list_by_scope()
}

#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn forge(key: &Key, claims: &Value) -> Vec<(&'static str, String)> {
    let header = json!({"alg": "ES256", "typ": "at+jwt", "kid": key.id});
    let with = |name: &str, value: Value| {
        let mut claims = claims.clone();
        if value.is_null() {
            drop(claims.as_object_mut().unwrap().remove(name))
        } else {
            claims[name] = value
        }
        key.sign(&header, &claims)
    };
    let header_with = |name: &str, value: Value| {
        let mut header = header.clone();
        header[name] = value;
        key.sign(&header, claims)
    };
    let foreign = Key::new(&key.id);
    let foreign_with = |name: &str, value: Value| {
        let mut header = header.clone();
        header[name] = value;
        foreign.sign(&header, claims)
    };
    let none = |alg: &str| format!("{}.", signing_input(&json!({"alg": alg}), claims));
    let hmac = {
        let header = json!({"alg": "HS256", "typ": "at+jwt", "kid": key.id});
        let input = signing_input(&header, claims);
        let secret = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, key.public_bytes());
        let tag = ring::hmac::sign(&secret, input.as_bytes());
        format!("{input}.{}", encode(tag.as_ref()))
    };
    let good = key.sign(&header, claims);
    let (unsigned, signature) = good.rsplit_once('.').unwrap();
    let second = now();
    vec![
        ("none", none("none")),
        ("None", none("None")),
        ("empty algorithm", none("")),
        ("HS256 with the public key", hmac),
        (
            "algorithm of another kind of key",
            header_with("alg", json!("RS256")),
        ),
        (
            "another algorithm of this kind",
            header_with("alg", json!("ES384")),
        ),
        ("unknown key", header_with("kid", json!("unknown"))),
        ("key id that is not a string", header_with("kid", json!(7))),
        ("critical extension", header_with("crit", json!(["exp"]))),
        ("empty critical extensions", header_with("crit", json!([]))),
        (
            "jku of an attacker",
            foreign_with("jku", json!("http://127.0.0.1:1/keys")),
        ),
        (
            "key of an attacker in the header",
            foreign_with("jwk", foreign.jwk()),
        ),
        ("key of an attacker", foreign.sign(&header, claims)),
        (
            "changed signature",
            format!("{unsigned}.{}", encode([7; 64])),
        ),
        ("empty signature", format!("{unsigned}.")),
        (
            "ASN.1 length signature",
            format!("{unsigned}.{signature}AA"),
        ),
        ("ID token type", header_with("typ", json!("id_token"))),
        ("ID token", with("nonce", json!("n"))),
        ("ID token of Keycloak", with("typ", json!("ID"))),
        ("refresh token", with("typ", json!("Refresh"))),
        ("no audience", with("aud", json!(null))),
        (
            "foreign audience",
            with("aud", json!("http://other.example/mcp")),
        ),
        (
            "prefix of the audience",
            with("aud", json!("http://localhost/")),
        ),
        (
            "longer audience",
            with("aud", json!("http://localhost/mcp/x")),
        ),
        ("audience as number", with("aud", json!(7))),
        ("foreign issuer", with("iss", json!("http://127.0.0.1:1"))),
        ("no issuer", with("iss", json!(null))),
        ("no expiry", with("exp", json!(null))),
        (
            "expiry as text",
            with("exp", json!((second + 600).to_string())),
        ),
        ("expired", with("exp", json!(second - 1))),
        ("not valid yet", with("nbf", json!(second + 600))),
        ("start as text", with("nbf", json!("0"))),
        ("issued in the future", with("iat", json!(second + 600))),
        ("no subject", {
            let mut claims = claims.clone();
            claims
                .as_object_mut()
                .unwrap()
                .retain(|name, _| name != "sub" && name != "client_id");
            key.sign(&header, &claims)
        }),
        (
            "bound to a key, sent as bearer",
            with("cnf", json!({"jkt": "x"})),
        ),
        (
            "bound to a certificate",
            with("cnf", json!({"x5t#S256": "x"})),
        ),
        ("two parts", unsigned.to_owned()),
        ("opaque", "opaque".to_owned()),
        (
            "deep claims",
            with(
                "deep",
                serde_json::from_str(&format!("{}1{}", "[".repeat(100), "]".repeat(100))).unwrap(),
            ),
        ),
    ]
}

// spec: AUTH-S-05
#[tokio::test]
async fn forged_tokens_get_401_and_a_constant_description() {
    // spec: AUTH-S-04, AUTH-S-06
    let issuer = Issuer::start().await;
    let claims = issuer.claims("ada", RESOURCE, "");
    for (name, token) in forge(&issuer.key(), &claims) {
        let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
        let fetches = issuer.key_fetches();
        let (status, body, head) = world.call(&token, "whoami", json!({})).await;
        assert_eq!(status, 401, "{name}: {body}");
        let expected = r#"{"error":"invalid_token","error_description":"the access token is not valid for this server"}"#;
        assert_eq!(body, expected, "{name}");
        let challenge = head.headers()[WWW_AUTHENTICATE].to_str().unwrap();
        let expected = r#"Bearer error="invalid_token", error_description="the access token is not valid for this server", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp""#;
        assert_eq!(challenge, expected, "{name}");
        assert!(issuer.key_fetches() - fetches <= 2, "{name}");
        assert_eq!(
            (world.calls(), world.endpoint.metrics().sessions),
            (0, 0),
            "{name}"
        );
    }
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let token = issuer.key().token(&claims);
    let (status, body, _) = world.call(&token, "whoami", json!({})).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains(r#"\"subject\":\"ada\""#), "{body}");
    assert!(body.contains(r#"\"client\":\"agent\""#), "{body}");
    assert!(body.contains(r#"\"secrets\":0"#), "{body}");
}

#[tokio::test]
async fn token_without_key_id_needs_the_only_fitting_key() {
    let issuer = Issuer::start().await;
    let claims = issuer.claims("ada", RESOURCE, "");
    let token = issuer.key().sign(&json!({"alg": "ES256"}), &claims);
    let auth = || ResourceServer::new(RESOURCE).issuer(issuer.url());
    assert_eq!(World::new(auth()).whoami(&token).await, 200);
    assert_eq!(
        World::new(auth().strict_token_type()).whoami(&token).await,
        401
    );
    let only_rsa = auth().algorithms([Algorithm::Rs256]);
    assert_eq!(World::new(only_rsa).whoami(&token).await, 401);
    issuer.0.keys.lock().push(Key::new("second"));
    assert_eq!(World::new(auth()).whoami(&token).await, 401);
}

#[tokio::test]
async fn rotation_is_found_by_the_first_token_and_random_keys_cost_one_fetch() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let old = issuer.token("ada", RESOURCE, "");
    assert_eq!(world.whoami(&old).await, 200);
    assert_eq!(issuer.key_fetches(), 1);

    let next = Key::new("next");
    *issuer.0.keys.lock() = vec![next.clone()];
    let token = next.token(&issuer.claims("ada", RESOURCE, ""));
    assert_eq!(world.whoami(&token).await, 200);
    assert_eq!(issuer.key_fetches(), 2);
    // The key of the old token was withdrawn. Verified tokens are forgotten with it.
    assert_eq!(world.whoami(&old).await, 401);

    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    assert_eq!(world.whoami(&token).await, 200);
    let before = issuer.key_fetches();
    let claims = issuer.claims("eve", RESOURCE, "");
    let attempts = (0..500).map(|n| {
        let header = json!({"alg": "ES256", "kid": format!("random-{n}")});
        let (world, token) = (world.clone(), next.sign(&header, &claims));
        async move { world.whoami(&token).await }
    });
    let statuses = futures_util::future::join_all(attempts).await;
    assert!(statuses.iter().all(|status| *status == 401));
    assert_eq!(issuer.key_fetches() - before, 1);

    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(31)).await;
    tokio::time::resume();
    let third = Key::new("third");
    *issuer.0.keys.lock() = vec![third.clone()];
    assert_eq!(
        world
            .whoami(&third.token(&issuer.claims("ada", RESOURCE, "")))
            .await,
        200
    );
}

async fn advance(seconds: u64) {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(seconds)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn key_replaced_under_its_id_is_found_and_bad_tokens_cost_one_fetch() {
    for id in ["first", ""] {
        let issuer = Issuer::start().await;
        *issuer.0.keys.lock() = vec![Key::new(id)];
        let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
        let old = issuer.token("ada", RESOURCE, "");
        assert_eq!(world.whoami(&old).await, 200);
        *issuer.0.keys.lock() = vec![Key::new(id)];
        let token = issuer.token("ada", RESOURCE, "");
        // The keys are too young for a fetch.
        assert_eq!(world.whoami(&token).await, 401, "{id:?}");
        assert_eq!(issuer.key_fetches(), 1);
        advance(31).await;
        assert_eq!(world.whoami(&token).await, 200, "{id:?}");
        assert_eq!(issuer.key_fetches(), 2);
        assert_eq!(world.whoami(&old).await, 401, "{id:?}");

        for expected in [0, 1, 1] {
            let (before, claims) = (issuer.key_fetches(), issuer.claims("eve", RESOURCE, ""));
            let attempts = (0..200).map(|_| {
                let (world, token) = (world.clone(), Key::new(id).token(&claims));
                async move { world.whoami(&token).await }
            });
            let statuses = futures_util::future::join_all(attempts).await;
            assert!(statuses.iter().all(|status| *status == 401));
            assert_eq!(issuer.key_fetches() - before, expected, "{id:?}");
            advance(31).await;
        }
        // A bad token stays a bad token when the issuer cannot be reached.
        *issuer.0.failure.lock() = Some(StatusCode::BAD_GATEWAY);
        assert_eq!(world.whoami(&old).await, 401, "{id:?}");
        let other = issuer.token("bob", RESOURCE, "");
        assert_eq!(world.whoami(&other).await, 200, "{id:?}");
    }
}

#[tokio::test]
async fn concurrent_first_tokens_share_one_fetch() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let users = (0..50).map(|n| {
        let (world, token) = (
            world.clone(),
            issuer.token(&format!("user-{n}"), RESOURCE, ""),
        );
        async move { world.whoami(&token).await }
    });
    let statuses = futures_util::future::join_all(users).await;
    assert!(statuses.iter().all(|status| *status == 200));
    assert_eq!(issuer.key_fetches(), 1);
}

#[tokio::test]
async fn unreachable_keys_are_503_and_fetched_again_after_a_pause() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    *issuer.0.failure.lock() = Some(StatusCode::BAD_GATEWAY);
    let token = issuer.token("ada", RESOURCE, "");
    for _ in 0..10 {
        let (status, _, head) = world.call(&token, "whoami", json!({})).await;
        assert_eq!(status, 503);
        assert_eq!(head.headers()["retry-after"], "5");
        assert!(!head.headers().contains_key(WWW_AUTHENTICATE));
    }
    assert_eq!(issuer.key_fetches(), 1);
    *issuer.0.failure.lock() = None;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(6)).await;
    tokio::time::resume();
    assert_eq!(world.whoami(&token).await, 200);
}

// spec: AUTH-S-02
#[tokio::test]
async fn malformed_credentials_are_400_and_missing_ones_401_without_an_error() {
    // spec: AUTH-S-11
    let issuer = Issuer::start().await;
    let auth = ResourceServer::new(RESOURCE)
        .issuer(issuer.url())
        .suggested_scopes(["mcp:use"]);
    let world = World::new(auth);
    let token = issuer.token("ada", RESOURCE, "");
    for (value, expected) in [
        ("Bearer", 400),
        ("Bearer ", 400),
        ("Bearer a b", 400),
        ("Bearer \"a\"", 400),
        ("Basic YTpi", 401),
        ("DPoP abc", 401),
        (&*format!("bearer {token}"), 200),
        (&*format!("Bearer  {token} "), 200),
    ] {
        let (status, body, _) = world.send(call(value, "whoami", json!({}))).await;
        assert_eq!(status, expected, "{value}: {body}");
    }
    let mut twice = call(&format!("Bearer {token}"), "whoami", json!({}));
    twice
        .headers_mut()
        .append(AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
    assert_eq!(world.send(twice).await.0, 400);

    let mut without = call("", "whoami", json!({}));
    without.headers_mut().remove(AUTHORIZATION);
    let (status, _, head) = world.send(without).await;
    let challenge = head.headers()[WWW_AUTHENTICATE].to_str().unwrap();
    let expected = r#"Bearer resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp", scope="mcp:use""#;
    assert_eq!((status.as_u16(), challenge), (401, expected));
    assert_eq!(head.headers()["cache-control"], "no-store");

    // A token in the query is not read.
    let mut query = call("", "whoami", json!({}));
    query.headers_mut().remove(AUTHORIZATION);
    *query.uri_mut() = format!("/mcp?access_token={token}").parse().unwrap();
    assert_eq!(world.send(query).await.0, 401);
    for method in [Method::GET, Method::DELETE] {
        let request = Request::builder()
            .method(method)
            .uri("/mcp")
            .header("host", "localhost");
        assert_eq!(
            world.send(request.body(Full::default()).unwrap()).await.0,
            401
        );
    }
}

#[tokio::test]
async fn refused_token_is_a_warning_once_per_second_with_what_is_expected() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let token = issuer.token("ada", "https://other.example/mcp", "");
    for _ in 0..3 {
        assert_eq!(world.whoami(&token).await, 401);
    }
    let text = String::from_utf8(log.0.lock().clone()).unwrap();
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.contains("an access token is refused"))
        .collect();
    assert_eq!(lines.len(), 1, "{text}");
    for expected in ["WARN", "another resource", RESOURCE, issuer.url()] {
        assert!(lines[0].contains(expected), "{expected}: {text}");
    }
    assert!(!text.contains(&token), "{text}");
}

// spec: AUTH-S-01, AUTH-S-02
#[tokio::test]
async fn metadata_needs_no_token_and_ignores_the_host_header() {
    let auth = ResourceServer::new("https://mcp.example.com/a/mcp")
        .issuer("https://login.example.com/")
        .scopes(["mcp:use"])
        .name("Files")
        .dpop(Dpop::Required);
    let world = World::new(auth.clone());
    let get = |method: Method, path: &str| {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "evil.example");
        request
            .header("origin", "https://web.example")
            .body(Full::default())
            .unwrap()
    };
    let path = "/.well-known/oauth-protected-resource/a/mcp";
    let (status, body, head) = world.send(get(Method::GET, path)).await;
    assert_eq!(status, 200);
    assert_eq!(head.headers()["access-control-allow-origin"], "*");
    let length = body.len().to_string();
    let document: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(document["resource"], "https://mcp.example.com/a/mcp");
    assert_eq!(
        document["authorization_servers"],
        json!(["https://login.example.com/"])
    );
    assert_eq!(document["scopes_supported"], json!(["mcp:use"]));
    assert_eq!(document["resource_name"], "Files");
    assert_eq!(document["dpop_bound_access_tokens_required"], true);
    for (method, expected) in [
        (Method::HEAD, 200),
        (Method::OPTIONS, 204),
        (Method::POST, 405),
    ] {
        let (status, body, head) = world.send(get(method.clone(), path)).await;
        assert_eq!((status.as_u16(), &*body), (expected, ""));
        let header = |name: &str| {
            head.headers()
                .get(name)
                .map(|value| value.to_str().unwrap())
        };
        assert_eq!(header("access-control-allow-origin"), Some("*"));
        match method {
            Method::HEAD => assert_eq!(header("content-length"), Some(&*length)),
            Method::OPTIONS => {
                assert_eq!(header("access-control-allow-methods"), Some("GET, HEAD"));
                assert_eq!(header("access-control-allow-headers"), Some("*"));
            }
            _ => assert_eq!(header("allow"), Some("GET, HEAD, OPTIONS")),
        }
    }
    let root = "/.well-known/oauth-protected-resource";
    assert_eq!(world.send(get(Method::GET, root)).await.0, 401);
    let world = World::new(auth.owns_origin());
    assert_eq!(world.send(get(Method::GET, root)).await.0, 200);
}

/// A browser sends no token with it, and shows the page's author no 401.
#[tokio::test]
async fn preflight_request_is_told_what_a_page_needs() {
    let auth = ResourceServer::new(RESOURCE).issuer("https://login.example.com");
    let world = World::new(auth);
    let preflight = |header: &str| {
        let request = Request::builder().method(Method::OPTIONS).uri("/mcp");
        let request = request.header("host", "localhost").header(header, "POST");
        request.body(Full::default()).unwrap()
    };
    let (status, body, head) = world.send(preflight("access-control-request-method")).await;
    assert_eq!(status, 405);
    assert!(body.contains("put a CORS layer around"), "{body}");
    assert_eq!(head.headers().get("www-authenticate"), None);
    // Another OPTIONS request needs a token.
    let (status, _, _) = world.send(preflight("x-other")).await;
    assert_eq!(status, 401);
}

// spec: AUTH-S-09, AUTH-S-08
#[tokio::test]
async fn missing_scopes_are_403_with_all_scopes_before_a_handler_runs() {
    let issuer = Issuer::start().await;
    let auth = ResourceServer::new(RESOURCE)
        .issuer(issuer.url())
        .required_scopes(["mcp:use"])
        .scope_implies("admin", ["files:read", "files:admin"]);
    let world = World::new(auth);
    let token = |scope: &str| issuer.token("ada", RESOURCE, scope);
    let needs = |scope: &str| {
        format!(
            r#"Bearer error="insufficient_scope", error_description="the access token lacks a scope", resource_metadata="http://localhost/.well-known/oauth-protected-resource/mcp", scope="{scope}""#
        )
    };
    for (scopes, tool, arguments, missing) in [
        ("", "whoami", json!({}), Some("mcp:use")),
        (
            "mcp:use",
            "delete",
            json!({}),
            Some("mcp:use files:read files:write"),
        ),
        (
            "mcp:use files:read",
            "delete",
            json!({}),
            Some("mcp:use files:read files:write"),
        ),
        ("mcp:use", "stream", json!({}), Some("mcp:use files:stream")),
        (
            "mcp:use files:read",
            "read",
            json!({"path": "/home/a"}),
            None,
        ),
        (
            "mcp:use files:read",
            "read",
            json!({"path": "/etc/a"}),
            Some("mcp:use files:read files:admin"),
        ),
        (
            "mcp:use files:read",
            "read",
            json!({"path": 7}),
            Some("mcp:use files:read files:admin"),
        ),
        ("mcp:use admin", "read", json!({"path": "/etc/a"}), None),
        ("mcp:use", "whoami", json!({}), None),
    ] {
        let calls = world.calls();
        let (status, body, head) = world.call(&token(scopes), tool, arguments).await;
        let challenge = head
            .headers()
            .get(WWW_AUTHENTICATE)
            .map(|value| value.to_str().unwrap());
        match missing {
            Some(missing) => {
                assert_eq!(
                    (status.as_u16(), challenge),
                    (403, Some(&*needs(missing))),
                    "{tool} {body}"
                );
                assert_eq!(world.calls(), calls);
            }
            None => assert_eq!((status.as_u16(), challenge), (200, None), "{tool} {body}"),
        }
    }
    let (status, body, _) = world.call(&token("mcp:use"), "panics", json!({})).await;
    assert_eq!(status, 500, "{body}");
}

#[tokio::test]
async fn missing_scopes_are_403_in_sessions_and_batches() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let token = issuer.token("ada", RESOURCE, "files:read");
    for version in ["2025-03-26", "2025-11-25"] {
        let session = world.open(&token, version).await;
        for tool in ["delete", "stream"] {
            let message = legacy_call(1, tool, json!({}));
            let (status, body, _) = world.legacy(&token, Some(&session), &message).await;
            assert_eq!(status, 403, "{body}");
        }
        let (status, body, _) = world
            .legacy(&token, Some(&session), &legacy_call(2, "whoami", json!({})))
            .await;
        assert_eq!(status, 200, "{body}");
    }
    assert_eq!(world.calls(), 2);
    let session = world.open(&token, "2025-03-26").await;
    let batch = json!([
        legacy_call(1, "whoami", json!({})),
        legacy_call(2, "delete", json!({})),
        legacy_call(3, "stream", json!({})),
    ]);
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", &session)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Full::from(batch.to_string()));
    let (status, _, head) = world.send(request.unwrap()).await;
    assert_eq!(status, 403);
    let challenge = head.headers()[WWW_AUTHENTICATE].to_str().unwrap();
    assert!(
        challenge.ends_with(r#"scope="files:read files:write files:stream""#),
        "{challenge}"
    );
    assert_eq!(world.calls(), 2);
}

#[tokio::test]
async fn lists_show_what_the_scopes_permit() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let list = |scope: &str| {
        let (world, token) = (world.clone(), issuer.token("ada", RESOURCE, scope));
        async move {
            let session = world.open(&token, "2025-11-25").await;
            let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
            world.legacy(&token, Some(&session), &list).await.1
        }
    };
    let (few, many) = (list("").await, list("files:read files:write").await);
    assert!(few.contains("whoami") && !few.contains("delete"), "{few}");
    assert!(
        many.contains("delete") && !many.contains("stream"),
        "{many}"
    );
    // A resource whose scopes are missing cannot be watched either.
    let token = issuer.token("ada", RESOURCE, "");
    let session = world.open(&token, "2025-11-25").await;
    let read = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "secret://key"}});
    assert_eq!(world.legacy(&token, Some(&session), &read).await.0, 403);
}

// spec: SEC-03
#[tokio::test]
async fn sessions_look_unknown_to_other_callers() {
    // spec: SEC-03
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let (ada, bob) = (
        issuer.token("ada", RESOURCE, ""),
        issuer.token("bob", RESOURCE, ""),
    );
    let session = world.open(&ada, "2025-11-25").await;
    let unknown = "11111111-1111-4111-8111-111111111111";
    let messages = [
        legacy_call(1, "whoami", json!({})),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}),
        json!({"jsonrpc": "2.0", "id": 7, "result": {}}),
    ];
    for message in &messages {
        let foreign = world.legacy(&bob, Some(&session), message).await;
        assert_eq!(foreign, world.legacy(&bob, Some(unknown), message).await);
        assert_eq!(foreign.0, 404);
    }
    for (method, resumed) in [
        (Method::GET, None),
        (Method::GET, Some("1")),
        (Method::DELETE, None),
    ] {
        let mut answers = Vec::new();
        for id in [&*session, unknown] {
            let mut request = Request::builder()
                .method(method.clone())
                .uri("/mcp")
                .header("host", "localhost")
                .header("accept", "text/event-stream")
                .header("mcp-session-id", id)
                .header(AUTHORIZATION, format!("Bearer {bob}"));
            if let Some(last) = resumed {
                request = request.header("last-event-id", last);
            }
            let (status, body, _) = world.send(request.body(Full::default()).unwrap()).await;
            answers.push((status, body));
        }
        assert_eq!(answers[0], answers[1], "{method}");
        assert_eq!(answers[0].0, 404, "{method}");
    }
    // A new token of the same subject goes on with the session.
    let mut claims = issuer.claims("ada", RESOURCE, "more");
    claims["jti"] = json!("refreshed");
    let refreshed = issuer.key().token(&claims);
    let (status, body, _) = world.legacy(&refreshed, Some(&session), &messages[0]).await;
    assert_eq!(status, 200, "{body}");
}

#[tokio::test]
async fn stream_ends_when_the_token_expires() {
    let issuer = Issuer::start().await;
    let world = World::new(ResourceServer::new(RESOURCE).issuer(issuer.url()));
    let mut claims = issuer.claims("ada", RESOURCE, "");
    claims["exp"] = json!(now() + 60);
    let token = issuer.key().token(&claims);
    let session = world.open(&token, "2025-11-25").await;
    let request = Request::get("/mcp")
        .header("host", "localhost")
        .header("accept", "text/event-stream")
        .header("mcp-session-id", &session)
        .header(AUTHORIZATION, format!("Bearer {token}"))
        .body(Full::default())
        .unwrap();
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let (status, ..) = world.send(request).await;
    let age = start.elapsed().as_secs();
    assert_eq!(status, 200);
    assert!((57..=61).contains(&age), "{age}");
}

#[tokio::test]
async fn opaque_tokens_are_asked_about_once() {
    let issuer = Issuer::start().await;
    let auth = ResourceServer::new(RESOURCE)
        .issuer(issuer.url())
        .introspection(Introspection::new("mcp-server", "s3cret"));
    let world = World::new(auth);
    let mut active = issuer.claims("ada", RESOURCE, "files:read");
    active["active"] = json!(true);
    let with = |name: &str, value: Value| {
        let mut answer = active.clone();
        answer[name] = value;
        answer
    };
    let answers = [
        ("good", active.clone(), 200),
        (
            "foreign",
            with("aud", json!("http://other.example/mcp")),
            401,
        ),
        ("inactive", with("active", json!(false)), 401),
        ("text", with("active", json!("true")), 401),
        ("old", with("exp", json!(now() - 1)), 401),
        ("issuer", with("iss", json!("http://other.example")), 401),
        ("unknown", json!({"active": false}), 401),
    ];
    for (token, answer, expected) in answers {
        issuer.0.opaque.lock().insert(token.to_owned(), answer);
        assert_eq!(world.whoami(token).await, expected, "{token}");
    }
    let asked = issuer.0.introspections.load(Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(world.whoami("good").await, 200);
        assert_eq!(world.whoami("inactive").await, 401);
    }
    assert_eq!(issuer.0.introspections.load(Ordering::SeqCst), asked);
    *issuer.0.failure.lock() = Some(StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(world.whoami("other").await, 503);
    *issuer.0.failure.lock() = None;
    assert_eq!(world.whoami("other").await, 401);
}

/// A client with a key for proofs.
struct Prover {
    key: Arc<Key>,
    token: String,
}

impl Prover {
    fn new(issuer: &Issuer) -> Self {
        let key = Key::new("proof");
        let mut claims = issuer.claims("ada", RESOURCE, "");
        let jwk = key.jwk();
        let (x, y) = (jwk["x"].as_str().unwrap(), jwk["y"].as_str().unwrap());
        let members = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let hash = ring::digest::digest(&ring::digest::SHA256, members.as_bytes());
        claims["cnf"] = json!({"jkt": encode(hash.as_ref())});
        Self {
            key,
            token: issuer.key().token(&claims),
        }
    }

    fn proof(&self, id: &str, nonce: Option<&str>) -> String {
        let hash = ring::digest::digest(&ring::digest::SHA256, self.token.as_bytes());
        let mut claims = json!({
            "jti": id, "htm": "POST", "htu": RESOURCE, "iat": now(), "ath": encode(hash.as_ref()),
        });
        if let Some(nonce) = nonce {
            claims["nonce"] = json!(nonce);
        }
        let header = json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": self.key.jwk()});
        self.key.sign(&header, &claims)
    }

    fn request(&self, scheme: &str, proof: Option<&str>) -> Request<Full<Bytes>> {
        let mut request = call(&format!("{scheme} {}", self.token), "whoami", json!({}));
        if let Some(proof) = proof {
            request.headers_mut().insert("dpop", proof.parse().unwrap());
        }
        request
    }
}

#[tokio::test]
async fn bound_tokens_need_a_fresh_proof_and_are_no_bearer_tokens() {
    // spec: DPOP-03
    let issuer = Issuer::start().await;
    let prover = Prover::new(&issuer);
    let bearer = issuer.token("ada", RESOURCE, "");
    for (policy, bound, unbound) in [
        (Dpop::Off, 401, 200),
        (Dpop::Optional, 200, 200),
        (Dpop::Required, 200, 401),
    ] {
        let world = World::new(
            ResourceServer::new(RESOURCE)
                .issuer(issuer.url())
                .dpop(policy),
        );
        let proof = prover.proof("1", None);
        let status = |request| async { world.send(request).await.0.as_u16() };
        assert_eq!(
            status(prover.request("DPoP", Some(&proof))).await,
            bound,
            "{policy:?}"
        );
        for request in [
            prover.request("DPoP", Some(&proof)),
            prover.request("DPoP", None),
            prover.request("Bearer", Some(&prover.proof("2", None))),
            prover.request("Bearer", None),
        ] {
            assert_eq!(status(request).await, 401, "{policy:?}");
        }
        assert_eq!(
            status(call(&format!("Bearer {bearer}"), "whoami", json!({}))).await,
            unbound
        );
        let unbound = call(&format!("DPoP {bearer}"), "whoami", json!({}));
        assert_eq!(status(unbound).await, 401, "{policy:?}");
    }
}

#[tokio::test]
async fn nonce_from_the_server_is_demanded_once() {
    let issuer = Issuer::start().await;
    let prover = Prover::new(&issuer);
    let auth = ResourceServer::new(RESOURCE)
        .issuer(issuer.url())
        .dpop(Dpop::Required)
        .dpop_nonces(&Secret::new("nonces"));
    let world = World::new(auth);
    let (status, _, head) = world
        .send(prover.request("DPoP", Some(&prover.proof("1", None))))
        .await;
    assert_eq!(status, 401);
    let challenge = head.headers()[WWW_AUTHENTICATE].to_str().unwrap();
    assert!(
        challenge.starts_with(r#"DPoP error="use_dpop_nonce""#),
        "{challenge}"
    );
    let nonce = head.headers()["dpop-nonce"].to_str().unwrap();
    let proof = prover.proof("2", Some(nonce));
    let (status, _, head) = world.send(prover.request("DPoP", Some(&proof))).await;
    assert_eq!(status, 200);
    assert!(head.headers().contains_key("dpop-nonce"));
}

#[tokio::test]
async fn tenants_have_their_own_issuers_and_servers() {
    let (first, second) = (Issuer::start().await, Issuer::start().await);
    let auth = ResourceServer::new(RESOURCE)
        .issuer(first.url())
        .issuer(second.url())
        .build()
        .unwrap();
    let endpoint = StreamableHttp::per_request(|head| {
        let caller = head.extensions.get::<mcp::core::Principal>();
        let issuer = caller
            .map(|caller| caller.issuer.clone())
            .unwrap_or_default();
        Server::new("tenant", "1.0.0").tool(Tool::new("whoami").handler(move || issuer.clone()))
    });
    let world = World {
        service: auth.protect(endpoint.clone()),
        endpoint,
        calls: Arc::default(),
    };
    for issuer in [&first, &second] {
        let token = issuer.token("ada", RESOURCE, "");
        let (status, body, _) = world.call(&token, "whoami", json!({})).await;
        assert_eq!(status, 200);
        assert!(body.contains(issuer.url()), "{body}");
    }
    // The key of one issuer does not sign for another one, and a token is for one resource.
    let claims = second.claims("ada", RESOURCE, "");
    assert_eq!(world.whoami(&first.key().token(&claims)).await, 401);
    let other = World::new(ResourceServer::new("http://localhost/other").issuer(first.url()));
    assert_eq!(other.whoami(&first.token("ada", RESOURCE, "")).await, 401);
    assert_eq!(
        other
            .whoami(&first.token("ada", "http://localhost/other", ""))
            .await,
        200
    );
}

// spec: AUTH-S-06
#[tokio::test]
async fn exchanged_tokens_are_remembered_for_each_caller() {
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(issuer.url(), "mcp-server", "s3cret").unwrap();
    let ask = async |token: AccessToken, exchange: TokenExchange, scope: &str| {
        let token = exchange
            .token(&token, "https://calendar.example", [scope])
            .await?;
        Ok::<_, ToolError>(token.expose().to_owned())
    };
    let calendar = move |Identity(token): Identity<AccessToken>,
                         State(exchange): State<TokenExchange>| async move {
        ask(token, exchange, "events").await
    };
    let offline = move |Identity(token): Identity<AccessToken>,
                        State(exchange): State<TokenExchange>| async move {
        ask(token, exchange, "offline").await
    };
    let server = Server::new("test", "1.0.0")
        .state(exchange)
        .tool(Tool::new("calendar").handler(calendar))
        .tool(Tool::new("offline").handler(offline));
    let endpoint = StreamableHttp::new(server);
    let auth = ResourceServer::new(RESOURCE).issuer(issuer.url());
    let kept = auth.clone().keep_access_token().build().unwrap();
    let world = |protection: &Protection| World {
        service: protection.protect(endpoint.clone()),
        endpoint: endpoint.clone(),
        calls: Arc::default(),
    };
    let with = world(&kept);
    let (ada, bob) = (
        issuer.token("ada", RESOURCE, ""),
        issuer.token("bob", RESOURCE, ""),
    );
    let equal = (0..20).map(|_| with.call(&ada, "calendar", json!({})));
    for (_, body, _) in futures_util::future::join_all(equal).await {
        assert!(body.contains("upstream-1"), "{body}");
    }
    for (token, expected) in [(&ada, "upstream-1"), (&bob, "upstream-2")] {
        let (_, body, _) = with.call(token, "calendar", json!({})).await;
        assert!(body.contains(expected), "{body}");
    }
    let exchanges = issuer.0.exchanges.lock().clone();
    assert_eq!(exchanges.len(), 2);
    assert_eq!(
        exchanges[0]["grant_type"],
        "urn:ietf:params:oauth:grant-type:token-exchange"
    );
    assert_eq!(exchanges[0]["subject_token"], ada);
    assert_eq!(exchanges[0]["resource"], "https://calendar.example");
    // One fetch is that of the check of tokens.
    assert_eq!(issuer.0.metadata_fetches.load(Ordering::SeqCst), 2);
    let (_, body, _) = with.call(&ada, "offline", json!({})).await;
    assert!(body.contains("issued_token_type"), "{body}");
    // Without the setting, handlers never see the token.
    let without = world(&auth.build().unwrap());
    let (_, body, _) = without.call(&ada, "calendar", json!({})).await;
    assert!(body.contains("authenticated caller"), "{body}");
}

/// Panics, waits forever, or accepts, depending on the token.
struct Moody;

#[async_trait::async_trait]
impl TokenVerifier for Moody {
    async fn verify(&self, token: &AccessToken) -> Result<VerifiedToken, VerifyError> {
        let mut verified = VerifiedToken::new("moody", "ada");
        verified.audiences = vec![RESOURCE.to_owned()];
        verified.expires_at = Some(now() + 60);
        match token.expose() {
            "panic" => panic!("test"),
            "hang" => std::future::pending().await,
            "unchecked" => verified.audiences.clear(),
            "eternal" => verified.expires_at = None,
            _ => {}
        }
        Ok(verified)
    }
}

#[tokio::test(start_paused = true)]
async fn mistakes_in_a_verifier_admit_nobody() {
    let auth = ResourceServer::new(RESOURCE)
        .authorization_server("https://login.example")
        .verifier(Moody);
    let world = World::new(auth.clone());
    for (token, expected) in [
        ("panic", 503),
        ("hang", 503),
        ("unchecked", 401),
        ("eternal", 401),
        ("good", 200),
    ] {
        assert_eq!(world.whoami(token).await, expected, "{token}");
    }
    // The claims do not fit the type of the program.
    let strict = World::new(auth.claims::<Vec<u8>>());
    assert_eq!(strict.whoami("good").await, 401);
}

#[tokio::test]
async fn fixed_tokens_are_for_this_machine() {
    let tokens = || StaticTokens::new().token("token-of-ada", "ada", ["files:read"]);
    let world = World::new(ResourceServer::new(RESOURCE).static_tokens(tokens()));
    assert_eq!(world.whoami("token-of-ada").await, 200);
    let (status, _, head) = world.call("token-of-eve", "whoami", json!({})).await;
    assert_eq!(status, 401);
    let challenge = head.headers()[WWW_AUTHENTICATE].to_str().unwrap();
    assert!(!challenge.contains("resource_metadata"), "{challenge}");
    let public = ResourceServer::new("https://mcp.example.com/mcp");
    assert!(public.clone().static_tokens(tokens()).build().is_err());
    assert!(
        public
            .static_tokens(tokens().allow_public())
            .build()
            .is_ok()
    );
}

#[test]
fn mistakes_in_settings_are_found_when_the_protection_is_built() {
    let server = || ResourceServer::new("https://mcp.example.com/mcp");
    let asked = || Introspection::new("mcp-server", "s3cret");
    let issuer = "https://login.example.com";
    for (wrong, expected) in [
        (server(), "no token could be accepted"),
        (
            ResourceServer::new("mcp.example.com").issuer(issuer),
            "is not a URL of a server",
        ),
        (
            ResourceServer::new("https://u@h/mcp").issuer(issuer),
            "is not a URL of a server",
        ),
        (
            ResourceServer::new("https://h/mcp#f").issuer(issuer),
            "is not a URL of a server",
        ),
        (
            server().issuer("login.example.com"),
            "is not a URL; write it as",
        ),
        (
            server().issuer("http://login.example.com"),
            "must begin with https",
        ),
        (
            server().issuer(issuer).scopes(["a b"]),
            "cannot be demanded as a scope",
        ),
        (
            server().issuer(issuer).required_scopes(["offline_access"]),
            "cannot be demanded as a scope",
        ),
        (
            server().issuer(issuer).algorithms([]),
            "no signature algorithm",
        ),
        // Settings that would be ignored.
        (
            server()
                .issuer(issuer)
                .issuer_with_keys(issuer, "https://keys.example"),
            "is set twice",
        ),
        (
            server()
                .issuer_with_keys(issuer, "https://keys.example")
                .issuer(issuer),
            "is set twice",
        ),
        (
            server().dpop_nonces(&Secret::new("nonces")).issuer(issuer),
            "add .dpop(…)",
        ),
        (
            server()
                .introspection(asked())
                .issuer(issuer)
                .issuer("https://other.example"),
            "asks one issuer",
        ),
        (
            server()
                .algorithms([Algorithm::Es256])
                .issuer(issuer)
                .introspection(asked()),
            "remove .algorithms(…)",
        ),
        (
            server()
                .introspection(asked())
                .issuer(issuer)
                .strict_token_type(),
            ".strict_token_type()",
        ),
    ] {
        let error = wrong.build().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(server().issuer(issuer).build().is_ok());
}
