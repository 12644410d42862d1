//! The second day of a login: what was accepted once is revoked, purged or out of reach.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mcp_auth::{AuthError, AuthStatus, ManualRedirect, MemoryStore, OAuth};
use serde_json::json;

use crate::world::{REDIRECT_URI, World, follow, reason};

/// Statuses and bodies of responses that come from something else than a token endpoint.
const NO_ANSWERS: [(u16, &str); 8] = [
    (403, "<html><title>Blocked</title>"),
    (404, "<html>"),
    (302, "{}"),
    (429, "<html>"),
    (500, "<html>"),
    (503, "{}"),
    (200, "<html>"),
    (400, r#"{"message":"bad gateway"}"#),
];

#[tokio::test]
async fn revoked_token_without_refresh_token_leads_to_a_login() {
    for lifetime in [Some(3600), None] {
        let world = World::start().await;
        world.set(|inner| {
            inner.lifetime = lifetime;
            inner.issues_refresh = false;
        });
        let oauth = world.interactive();
        world.login(&oauth).await;
        world.expire_access();
        let authorizer = world.login(&oauth).await;
        assert_eq!(world.inner.lock().logins.len(), 2);
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        // A token that the server accepts opens no page.
        authorizer.login().await.unwrap();
        assert_eq!(world.inner.lock().logins.len(), 2);
        world.assert_no_mistakes();
    }
}

#[tokio::test]
async fn login_refreshes_a_revoked_token() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    authorizer.login().await.unwrap();
    world.expire_access();
    authorizer.login().await.unwrap();
    assert_eq!((world.refreshes(), world.inner.lock().logins.len()), (1, 1));
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
}

#[tokio::test]
async fn login_does_not_succeed_with_a_token_that_the_server_refuses() {
    let world = World::start().await;
    world.set(|inner| inner.refuses_tokens = true);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    assert_eq!(world.inner.lock().logins.len(), 1);
}

// spec: AUTH-C-02
#[tokio::test]
async fn login_uses_metadata_and_scopes_from_the_challenge() {
    let world = World::start().await;
    let url = world.server.replace("/mcp", "/elsewhere");
    world.set(|inner| {
        inner.challenge_scope = Some("files:read");
        inner.challenge_extra = format!(", resource_metadata=\"{url}\"");
        inner.metadata_path = "/elsewhere";
    });
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    authorizer.login().await.unwrap();
    assert_eq!(world.inner.lock().logins, ["files:read offline_access"]);
    world.assert_no_mistakes();
}

#[tokio::test(start_paused = true)]
async fn refresh_without_an_answer_keeps_the_login() {
    for failure in NO_ANSWERS {
        let world = World::start().await;
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        world.expire_access();
        world.set(|inner| inner.token_failures = vec![failure; 3]);
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(error.is_transient(), "{failure:?}: {error}");
        assert_eq!(world.post(&authorizer).await.unwrap(), 200, "{failure:?}");
        assert_eq!(world.inner.lock().logins.len(), 1, "{failure:?}");
        world.assert_no_mistakes();
    }
}

#[tokio::test]
async fn error_contains_an_excerpt_from_the_answer() {
    let world = World::start().await;
    world.set(|inner| inner.token_failures = vec![NO_ANSWERS[0]]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = authorizer.login().await.unwrap_err().to_string();
    assert!(
        error.contains("403") && error.contains("(Blocked)"),
        "{error}"
    );
}

#[tokio::test]
async fn early_refresh_that_is_refused_keeps_the_access_token() {
    for (status, body) in [
        (400, "invalid_grant"),
        (403, "invalid_grant"),
        (200, "bad_refresh_token"),
        (401, "invalid_client"),
        (400, "unsupported_grant_type"),
    ] {
        let world = World::start().await;
        // The lifetime is too short to wait for the expiry: a refresh is due from the start.
        world.set(|inner| inner.lifetime = Some(3600));
        let store = MemoryStore::new();
        let oauth = world.interactive().store(store);
        let first = oauth.authorizer(&world.server).unwrap();
        assert_eq!(world.post(&first).await.unwrap(), 200);
        let mut credentials = world.credentials();
        credentials.expires_at = Some(now() + 30);
        let authorizer = oauth.authorizer(&world.server).unwrap();
        authorizer.import(credentials).await.unwrap();
        world.set(|inner| inner.token_failures = vec![(status, body)]);
        for _ in 0..3 {
            assert_eq!(
                world.post(&authorizer).await.unwrap(),
                200,
                "{status} {body}"
            );
        }
        let (logins, requests) = {
            let inner = world.inner.lock();
            (inner.logins.len(), inner.token_requests.len())
        };
        assert_eq!(logins, 1, "{status} {body}");
        assert_eq!(requests, 2, "{status} {body}: one refresh");
        let AuthStatus::LoggedIn { refreshable, .. } = authorizer.status() else {
            panic!("{status} {body}: logged out");
        };
        let ends = !matches!(body, "unsupported_grant_type");
        assert_eq!(refreshable, !ends, "{status} {body}");
        // The server's refusal of the access token leads to a login.
        world.expire_access();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        assert_eq!(world.inner.lock().logins.len(), 2, "{status} {body}");
    }
}

fn now() -> u64 {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs()
}

#[tokio::test(start_paused = true)]
async fn refused_refresh_is_not_repeated_for_a_minute() {
    let world = World::start().await;
    let blocked = Arc::new(AtomicBool::new(false));
    let oauth = OAuth::interactive("test").redirect({
        let blocked = Arc::clone(&blocked);
        ManualRedirect::new(REDIRECT_URI, move |page| {
            let is_blocked = blocked.load(Ordering::SeqCst);
            async move {
                if is_blocked {
                    return Err(AuthError::Redirect("no user is here".to_owned()));
                }
                follow(page).await
            }
        })
    });
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    blocked.store(true, Ordering::SeqCst);
    world.set(|inner| inner.token_failures = vec![(400, "invalid_scope")]);
    for _ in 0..3 {
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(matches!(error, AuthError::Redirect(_)), "{error}");
    }
    assert_eq!(world.refreshes(), 1);
    // The refresh token is kept, so that the next attempt succeeds.
    tokio::time::advance(std::time::Duration::from_secs(61)).await;
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.refreshes(), 2);
    assert_eq!(world.inner.lock().logins.len(), 1);
}

#[tokio::test]
async fn refused_refresh_leads_to_a_login() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_scope")]);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 2);
}

#[tokio::test]
async fn purged_registration_is_renewed_by_the_next_login() {
    for code in ["invalid_client", "unauthorized_client"] {
        let world = World::start().await;
        world.set(|inner| inner.unknown_client = Some(code));
        let oauth = world.interactive();
        world.login(&oauth).await;
        world.purge_clients();
        world.set(|inner| inner.issues_refresh = false);
        world.expire_access();
        world.set(|inner| inner.token_failures = vec![(400, "invalid_grant")]);
        let authorizer = oauth.authorizer(&world.server).unwrap();
        let error = authorizer.login().await.unwrap_err();
        assert!(matches!(error, AuthError::Denied(_)), "{error}");
        assert_eq!(world.inner.lock().registrations, 1);
        authorizer.login().await.unwrap();
        assert_eq!(world.inner.lock().registrations, 2);
        world.assert_no_mistakes();
    }
}

#[tokio::test]
async fn registration_is_renewed_after_a_login_without_an_answer() {
    let world = World::start().await;
    let store = MemoryStore::new();
    let silent = ManualRedirect::new(REDIRECT_URI, |_| async {
        Err(AuthError::Redirect(
            "the user has closed the page".to_owned(),
        ))
    });
    let interrupted = OAuth::interactive("test")
        .redirect(silent)
        .store(store.clone());
    let interrupted = interrupted.authorizer(&world.server).unwrap();
    interrupted.login().await.unwrap_err();
    assert_eq!(world.inner.lock().registrations, 1);
    let oauth = world.interactive().store(store);
    let authorizer = world.login(&oauth).await;
    assert_eq!(world.inner.lock().registrations, 2);
    // This one is known to be good.
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_grant")]);
    authorizer.login().await.unwrap();
    assert_eq!(world.inner.lock().logins.len(), 2);
    assert_eq!(world.inner.lock().registrations, 2);
}

#[tokio::test]
async fn logout_without_tokens_forgets_the_registration() {
    let world = World::start().await;
    let oauth = world.interactive();
    world.login(&oauth).await;
    world.expire_access();
    world.purge_clients();
    let authorizer = oauth.authorizer(&world.server).unwrap();
    for _ in 0..2 {
        authorizer.logout().await.unwrap();
    }
    authorizer.login().await.unwrap();
    assert_eq!(world.inner.lock().registrations, 2);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn client_id_from_the_settings_is_never_replaced() {
    let world = World::start().await;
    let oauth = world.interactive().client_id("given");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    world.set(|inner| inner.token_failures = vec![(401, "invalid_client")]);
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    authorizer.login().await.unwrap();
    authorizer.logout().await.unwrap();
    authorizer.login().await.unwrap();
    let inner = world.inner.lock();
    assert_eq!(inner.registrations, 0);
    assert!(
        inner
            .token_requests
            .iter()
            .all(|form| form["client_id"] == "given")
    );
}

#[tokio::test]
async fn registered_secret_is_in_the_form_where_both_methods_are_listed() {
    for (listed, returned, asked, is_basic) in [
        (
            vec!["client_secret_post", "client_secret_basic"],
            json!({}),
            "client_secret_post",
            false,
        ),
        (
            vec!["client_secret_basic", "client_secret_post"],
            json!({}),
            "client_secret_post",
            false,
        ),
        (
            vec!["client_secret_basic"],
            json!({}),
            "client_secret_basic",
            true,
        ),
        (
            vec!["client_secret_basic", "client_secret_post"],
            json!({"token_endpoint_auth_method": "client_secret_basic"}),
            "client_secret_post",
            true,
        ),
    ] {
        let world = World::start().await;
        let mut registered = returned.clone();
        registered["client_secret"] = json!("canary-secret");
        registered["client_secret_expires_at"] = json!("0");
        world.set(|inner| {
            inner.methods = listed;
            inner.registered = registered;
        });
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        authorizer.login().await.unwrap();
        let inner = world.inner.lock();
        assert_eq!(inner.asked_method, asked);
        let form = &inner.token_requests[0];
        assert_eq!(form.contains_key("basic"), is_basic, "{form:?}");
        assert_eq!(form.contains_key("client_secret"), !is_basic, "{form:?}");
        assert_eq!(form["client_id"], "client-1");
    }
}

#[tokio::test]
async fn fixed_token_server_is_named_as_such() {
    let app = axum::Router::new().fallback(|uri: http::Uri| async move {
        match uri.path() {
            "/mcp" => http::StatusCode::UNAUTHORIZED,
            _ => http::StatusCode::NOT_FOUND,
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let authorizer = OAuth::interactive("test").authorizer(&server).unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::NoMetadata { .. }), "{error}");
}

#[tokio::test]
async fn secret_for_a_fixed_client_is_sent_as_configured() {
    for (method, is_basic) in [("client_secret_post", false), ("client_secret_basic", true)] {
        let world = World::start().await;
        world.set(|inner| inner.methods = vec!["client_secret_basic", "client_secret_post"]);
        // Before the secret, and after it.
        let before = world.interactive().auth_method(method);
        let before = before.client_secret("given", "canary-secret");
        let after = world.interactive().client_secret("given", "canary-secret");
        for oauth in [before, after.auth_method(method)] {
            world.login(&oauth).await;
            let inner = world.inner.lock();
            let form = inner.token_requests.last().unwrap();
            assert_eq!(form.contains_key("basic"), is_basic, "{method}: {form:?}");
        }
        for invalid in [
            world.interactive().auth_method(method),
            world.interactive().client_id("given").auth_method(method),
            world
                .interactive()
                .client_secret("given", "s")
                .auth_method("none"),
        ] {
            let error = invalid.authorizer(&world.server).unwrap_err();
            assert!(error.to_string().contains(".auth_method(…)"), "{error}");
        }
    }
}

/// A program without a client id finds the login of one that has it, and logs in again as the same client.
#[tokio::test]
async fn login_by_a_given_client_is_found_and_renewed_without_id() {
    let world = World::start().await;
    let oauth = world.interactive();
    let given = oauth.clone().client_id("given");
    world.login(&given).await;
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_grant")]);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let inner = world.inner.lock();
    assert_eq!((inner.logins.len(), inner.registrations), (2, 0));
    let is_given = |form: &std::collections::HashMap<String, String>| form["client_id"] == "given";
    assert!(inner.token_requests.iter().all(is_given));
}

#[tokio::test]
async fn redirect_uses_the_uri_from_the_settings() {
    let world = World::start().await;
    let uri = "http://localhost:8765/oauth/callback";
    let oauth = world.interactive().client_id("given").redirect_uri(uri);
    world.login(&oauth).await;
    assert_eq!(world.inner.lock().token_requests[0]["redirect_uri"], uri);
    let remote = OAuth::interactive("test").redirect_uri("https://evil.example/callback");
    let error = remote.authorizer(&world.server).unwrap_err();
    assert!(matches!(error, AuthError::Settings(_)), "{error}");
}
