//! Known security advisories of MCP SDKs and tools, as far as this crate decides them.

use std::sync::Arc;

use axum::http::header::{AUTHORIZATION, HOST};
use axum::http::{Request, StatusCode};
use bytes::Bytes;
use http_body_util::Full;
use mcp::prelude::*;
use mcp::{StreamableHttp, auth::ResourceServer};
use mcp_auth::{AuthError, Authorizer, LoginPrompt, OAuth};
use parking_lot::Mutex;
use serde_json::json;
use tower_service::Service;

use crate::issuer::Issuer;
use crate::protected::call;
use crate::world::{World, reason};

/// GHSA-33f5-2c5q-wgwj (CVE-2026-63127): a client did not compare the `resource` of the metadata with the
/// server, and obtained a token for another server.
#[tokio::test]
async fn ghsa_33f5_metadata_for_another_resource_gets_no_login() {
    let world = World::start().await;
    let origin = world.server.trim_end_matches("/mcp").to_owned();
    let machine = || OAuth::client_credentials("service", "canary-secret");
    for resource in [
        "https://mcp.bank.example/mcp".to_owned(),
        format!("{}/mcp", world.issuer),
        format!("{origin}/mc"),
        format!("{origin}/mcp/other"),
        format!("{origin}/other"),
        format!("{origin}/mcp#f"),
        world.server.replace("http://", "https://"),
        world.server.replace("http://", "http://user@"),
        String::new(),
    ] {
        world.set(|inner| inner.resource = Some(resource.clone()));
        for oauth in [
            world.interactive(),
            machine(),
            machine().issuer(&world.issuer),
        ] {
            let authorizer = oauth.authorizer(&world.server).unwrap();
            let error = reason(world.post(&authorizer).await.unwrap_err());
            assert!(
                matches!(error, AuthError::ResourceMismatch { .. }),
                "{resource}: {error}"
            );
        }
    }
    let inner = world.inner.lock();
    assert!(inner.logins.is_empty() && inner.token_requests.is_empty());
    assert_eq!(inner.registrations, 0);
}

/// An MCP server with an authorization server that names the login page of a bank. The bank sends no
/// `iss`, and its redirect has that of the attacker here.
async fn mix_up() -> (World, World) {
    let (evil, bank) = (World::start().await, World::start().await);
    let page = format!("{}/authorize", bank.issuer);
    evil.set(|inner| inner.extra = json!({"authorization_endpoint": page}));
    bank.set(|inner| inner.callback_issuer = Some(evil.issuer.clone()));
    (evil, bank)
}

async fn failure(world: &World, oauth: OAuth) -> AuthError {
    let authorizer = oauth.authorizer(&world.server).unwrap();
    reason(world.post(&authorizer).await.unwrap_err())
}

/// GHSA-6x8h-498w-gv8c: an authorization server named another one's login page and its own token
/// endpoint, which received the login's code and verifier.
#[tokio::test]
async fn ghsa_6x8h_code_stays_at_the_site_with_the_login_page() {
    let (evil, bank) = mix_up().await;
    let error = failure(&evil, evil.interactive()).await;
    let AuthError::ForeignEndpoint {
        issuer,
        endpoint,
        url,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((issuer, *endpoint), (&evil.issuer, "login page"));
    assert_eq!(*url, format!("{}/authorize", bank.issuer));

    // A user who is asked learns the parties.
    let asked = Arc::<Mutex<Vec<LoginPrompt>>>::default();
    let seen = Arc::clone(&asked);
    let oauth = evil.interactive().confirm_login(move |login| {
        seen.lock().push(login);
        std::future::ready(false)
    });
    let error = failure(&evil, oauth).await;
    assert!(matches!(error, AuthError::NotConfirmed { .. }), "{error}");
    let asked = asked.lock();
    assert_eq!(
        (&asked[0].server, &asked[0].issuer),
        (&evil.server, &evil.issuer)
    );
    assert_eq!(format!("http://{}", asked[0].login_host), bank.issuer);
    assert_eq!(asked[0].token_endpoint, format!("{}/token", evil.issuer));
    assert!(asked[0].is_other_issuer && asked[0].is_other_endpoint);
    assert!(bank.inner.lock().paths.is_empty());
    let inner = evil.inner.lock();
    assert!(inner.token_requests.is_empty());
    assert_eq!(inner.registrations, 0);
}

/// GHSA-6x8h-498w-gv8c with the endpoints swapped, and for a login on another device.
#[tokio::test]
async fn ghsa_6x8h_foreign_endpoints_are_refused_in_other_grants() {
    let (evil, bank) = (World::start().await, World::start().await);
    let device = || OAuth::device("test", |_| std::future::ready(Ok(())));
    let machine = || OAuth::client_credentials("service", "canary-secret");
    let url = |world: &World, path: &str| format!("{}/{path}", world.issuer);
    for (extra, oauth, expected) in [
        (
            json!({"token_endpoint": url(&bank, "token")}),
            evil.interactive(),
            "token endpoint",
        ),
        (
            json!({"token_endpoint": url(&bank, "token")}),
            machine(),
            "token endpoint",
        ),
        (
            json!({
                "token_endpoint": url(&bank, "token"),
                "device_authorization_endpoint": url(&evil, "device"),
            }),
            device(),
            "token endpoint",
        ),
        (
            json!({"device_authorization_endpoint": url(&bank, "device")}),
            device(),
            "device authorization endpoint",
        ),
        (
            json!({"device_authorization_endpoint": url(&evil, "device")}),
            device(),
            "login page",
        ),
    ] {
        evil.set(|inner| {
            inner.extra = extra.clone();
            inner.device_page = Some(url(&bank, "activate"));
        });
        let error = failure(&evil, oauth).await;
        assert!(
            matches!(&error, AuthError::ForeignEndpoint { endpoint, .. } if *endpoint == expected),
            "{extra}: {error}"
        );
    }
    assert!(bank.inner.lock().paths.is_empty());
    assert!(evil.inner.lock().token_requests.is_empty());
}

/// Endpoints at other sites are used if the program trusts the issuer or confirms the login.
#[tokio::test]
async fn endpoints_at_other_sites_are_used_if_trusted_or_confirmed() {
    let (server, login) = mix_up().await;
    let token = format!("{}/token", login.issuer);
    let page = format!("{}/authorize", login.issuer);
    server.set(|inner| {
        // The endpoint knows no tokens of the other world.
        inner.is_open = true;
        inner.extra = json!({
            "authorization_endpoint": page, "token_endpoint": token,
            "registration_endpoint": format!("{}/register", login.issuer),
        });
    });
    for oauth in [
        server.interactive().issuer(&server.issuer),
        server
            .interactive()
            .confirm_login(|login| async move { login.is_other_endpoint }),
    ] {
        let logins = login.inner.lock().logins.len();
        let authorizer = oauth.authorizer(&server.server).unwrap();
        authorizer.login().await.unwrap();
        assert_eq!(login.inner.lock().logins.len(), logins + 1);
    }
    let machine = OAuth::client_credentials("service", "canary-secret").issuer(&server.issuer);
    machine
        .authorizer(&server.server)
        .unwrap()
        .login()
        .await
        .unwrap();
    assert_eq!(login.inner.lock().token_requests.len(), 3);
}

/// GHSA-9g45-5xwm-f3wc: a client sent its headers again to the target of a redirect at another origin.
#[tokio::test]
async fn ghsa_9g45_redirects_get_no_secret() {
    let other = World::start().await;
    for path in ["/register", "/token", "/revoke", "/mcp"] {
        let world = World::start().await;
        let login: Authorizer = world.interactive().authorizer(&world.server).unwrap();
        if matches!(path, "/revoke" | "/mcp") {
            assert_eq!(world.post(&login).await.unwrap(), 200);
        }
        let target = format!("{}{path}", other.issuer);
        world.set(|inner| inner.redirects = Some((path, target)));
        let secret = OAuth::client_credentials("service", "canary-secret");
        let secret = secret.authorizer(&world.server).unwrap();
        let _ = world.post(&secret).await;
        let _ = world.post(&login).await;
        let _ = login.logout().await;
        let paths = other.inner.lock().paths.clone();
        assert!(paths.is_empty(), "{path}: {paths:?}");
    }
}

fn initialize(token: Option<&str>, host: &str) -> Request<Full<Bytes>> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }});
    let mut request = Request::post("/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header(HOST, host);
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    request.body(Full::from(body.to_string())).unwrap()
}

/// GHSA-9pj6-vhgr-3mwh (CVE-2026-63128): requests without a login left sessions in the table of a server,
/// until its memory was full. GHSA-89vp-x53w-74fx (CVE-2026-42559): a request for another host was served.
#[tokio::test]
async fn ghsa_9pj6_requests_without_a_valid_token_open_no_session() {
    let issuer = Issuer::start().await;
    let resource = "http://localhost/mcp";
    let protection = ResourceServer::new(resource)
        .issuer(issuer.url())
        .build()
        .unwrap();
    let server = Server::new("s", "1").tool(Tool::new("whoami").handler(|| "ok"));
    let endpoint = StreamableHttp::new(server);
    let mut service = protection.protect(endpoint.clone());
    let token = issuer.token("ada", resource, "");
    let foreign = issuer.token("ada", "https://mcp.bank.example/mcp", "");
    for _ in 0..200 {
        for token in [None, Some("guessed"), Some(foreign.as_str())] {
            let response = service.call(initialize(token, "localhost")).await.unwrap();
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        }
        let response = service
            .call(initialize(Some(&token), "evil.example"))
            .await
            .unwrap();
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
    }
    assert_eq!(endpoint.metrics().sessions, 0);
    let response = service
        .call(initialize(Some(&token), "localhost"))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(endpoint.metrics().sessions, 1);
    let called = service.call(call(&format!("Bearer {token}"), "whoami", json!({})));
    assert_eq!(called.await.unwrap().status(), StatusCode::OK);
}
