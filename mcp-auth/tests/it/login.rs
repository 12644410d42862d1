//! Logins of users.

use futures_util::StreamExt as _;
use mcp_auth::{AuthError, AuthEvent, AuthStatus, DocumentKind, MemoryStore, OAuth};
use serde_json::json;

use crate::world::{World, post, reason};

// spec: AUTH-C-01
#[tokio::test]
async fn refused_request_logs_in_and_is_sent_again() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(authorizer.status(), AuthStatus::LoggedOut);
    for _ in 0..3 {
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    }
    let inner = world.inner.lock();
    assert_eq!(inner.logins, ["basic offline_access"]);
    assert_eq!(inner.requests, 4);
    assert_eq!(inner.registrations, 1);
    assert!(matches!(
        authorizer.status(),
        AuthStatus::LoggedIn {
            refreshable: true,
            ..
        }
    ));
    drop(inner);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn parallel_requests_share_one_login() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let all = (0..50).map(|_| world.post(&authorizer));
    let all = futures_util::future::join_all(all).await;
    assert!(all.into_iter().all(|status| status.unwrap() == 200));
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn tokens_and_registration_survive_a_restart() {
    let world = World::start().await;
    let store = MemoryStore::new();
    let oauth = world.interactive().store(store);
    let first = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&first).await.unwrap(), 200);
    let second = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&second).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 1);
    assert_eq!(world.inner.lock().requests, 3);
    // A logout forgets the registration, too.
    second.logout().await.unwrap();
    assert_eq!(second.status(), AuthStatus::LoggedOut);
    assert_eq!(world.inner.lock().revoked.len(), 1);
    let third = oauth.authorizer(&world.server).unwrap();
    third.login().await.unwrap();
    assert_eq!(world.inner.lock().logins.len(), 2);
    assert_eq!(world.inner.lock().registrations, 2);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn another_account_has_its_own_tokens() {
    let world = World::start().await;
    let oauth = world.interactive().store(MemoryStore::new());
    for account in ["ann", "bob"] {
        let authorizer = oauth
            .clone()
            .account(account)
            .authorizer(&world.server)
            .unwrap();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    }
    assert_eq!(world.inner.lock().logins.len(), 2);
}

// spec: AUTH-C-21
#[tokio::test]
async fn callback_from_another_issuer_requests_no_token() {
    let world = World::start().await;
    for issuer in [
        "https://evil.example".to_owned(),
        format!("{}/", world.issuer),
    ] {
        world.set(|inner| inner.callback_issuer = Some(issuer));
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(matches!(error, AuthError::CallbackIssuer { .. }), "{error}");
    }
    assert!(world.inner.lock().token_requests.is_empty());
}

// spec: AUTH-C-07
#[tokio::test]
async fn metadata_from_another_issuer_is_not_used() {
    let world = World::start().await;
    world.set(|inner| inner.issuer = Some("https://attacker.example".to_owned()));
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::MetadataIssuer { .. }), "{error}");
    let inner = world.inner.lock();
    assert!(inner.logins.is_empty() && inner.registrations == 0);
}

#[tokio::test]
async fn metadata_for_another_resource_is_fatal() {
    let world = World::start().await;
    world.set(|inner| inner.resource = Some("https://evil.example/mcp".to_owned()));
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(
        matches!(error, AuthError::ResourceMismatch { .. }),
        "{error}"
    );
    assert!(world.inner.lock().logins.is_empty());
}

// spec: AUTH-C-19
#[tokio::test]
async fn resource_parameter_is_omitted_or_fixed() {
    let fixed = "https://other.example/mcp";
    for (oauth, expected) in [
        (OAuth::omit_resource as fn(OAuth) -> OAuth, None),
        (
            |oauth| oauth.resource("https://other.example/mcp"),
            Some(fixed),
        ),
    ] {
        let world = World::start().await;
        let authorizer = oauth(world.interactive())
            .authorizer(&world.server)
            .unwrap();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        world.expire_access();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        let inner = world.inner.lock();
        assert_eq!(inner.token_requests.len(), 2, "a login and a refresh");
        for form in &inner.token_requests {
            assert_eq!(form.get("resource").map(String::as_str), expected);
        }
        let sent = expected.unwrap_or_default();
        assert_eq!(
            inner.mistakes,
            [format!("resource of the login is {sent:?}")]
        );
    }
}

#[tokio::test]
async fn server_without_pkce_is_refused_unless_allowed() {
    let world = World::start().await;
    world.set(|inner| inner.extra = serde_json::json!({"code_challenge_methods_supported": null}));
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(
        matches!(error, AuthError::PkceUnsupported { .. }),
        "{error}"
    );
    let allowed = world.interactive().allow_missing_pkce(&world.issuer);
    let authorizer = allowed.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.assert_no_mistakes();
}

// spec: AUTH-C-08, AUTH-C-16
#[tokio::test]
async fn new_authorization_server_gets_no_old_credentials() {
    // spec: AUTH-C-15
    let (old, new) = (World::start().await, World::start().await);
    let authorizer = old.interactive().authorizer(&old.server).unwrap();
    assert_eq!(old.post(&authorizer).await.unwrap(), 200);
    let old_requests = old.inner.lock().token_requests.len();
    old.set(|inner| {
        inner.authorization_servers = vec![new.issuer.clone()];
        inner.refuses_tokens = true;
    });
    // The endpoint of the old world accepts no token, so the call fails after the login.
    let error = reason(old.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    let inner = new.inner.lock();
    assert_eq!(inner.registrations, 1);
    assert_eq!(inner.logins.len(), 1);
    let is_own = |form: &std::collections::HashMap<String, String>| {
        form["grant_type"] == "authorization_code"
    };
    assert!(inner.token_requests.iter().all(is_own));
    assert_eq!(old.inner.lock().token_requests.len(), old_requests);
}

// spec: AUTH-C-15
#[tokio::test]
async fn given_client_is_bound_to_its_issuer() {
    let (world, other) = (World::start().await, World::start().await);
    let oauth = world.interactive().client_secret("given", "canary-secret");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(
        world.inner.lock().token_requests[0]["basic"],
        "canary-secret"
    );
    assert_eq!(world.inner.lock().registrations, 0);
    world.set(|inner| {
        inner.authorization_servers = vec![other.issuer.clone()];
        inner.refuses_tokens = true;
    });
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::ClientIssuer { .. }), "{error}");
    assert!(other.inner.lock().token_requests.is_empty());
}

#[tokio::test]
async fn client_metadata_url_is_preferred_to_registration() {
    let world = World::start().await;
    world.set(|inner| {
        inner.extra = serde_json::json!({"client_id_metadata_document_supported": true})
    });
    let oauth = world
        .interactive()
        .client_metadata_url("https://app.example/client.json");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let inner = world.inner.lock();
    assert_eq!(inner.registrations, 0);
    assert_eq!(
        inner.token_requests[0]["client_id"],
        "https://app.example/client.json"
    );
}

#[tokio::test]
async fn server_without_registration_needs_a_client_id() {
    let world = World::start().await;
    world.set(|inner| inner.registration = false);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::NoClient { .. }), "{error}");
}

#[tokio::test]
async fn refused_registration_has_its_own_error() {
    // spec: AUTH-C-14
    let world = World::start().await;
    let refusing = format!("{}/refuses", world.issuer);
    world.set(|inner| inner.extra = json!({"registration_endpoint": refusing}));
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(
        matches!(error, AuthError::RegistrationRejected(_)),
        "{error}"
    );
    assert!(world.inner.lock().logins.is_empty());
}

#[tokio::test]
async fn server_at_2025_03_26_is_its_own_authorization_server() {
    // spec: AUTH-C-33
    // Without metadata, the endpoints have fixed paths.
    for (is_published, expected) in [(false, "/register"), (true, "/own/register")] {
        let (sender, mut paths) = tokio::sync::mpsc::unbounded_channel();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let endpoint = |name: &str| format!("{origin}/own/{name}");
        let metadata = json!({
            "issuer": origin,
            "authorization_endpoint": endpoint("authorize"),
            "token_endpoint": endpoint("token"),
            "registration_endpoint": endpoint("register"),
            "response_types_supported": ["code"],
        });
        let app = axum::Router::new().fallback(move |request: axum::extract::Request| {
            let (status, body) = match request.uri().path() {
                "/mcp" => (401, String::new()),
                "/.well-known/oauth-authorization-server" if is_published => {
                    (200, metadata.to_string())
                }
                path => {
                    if !path.starts_with("/.well-known/") {
                        sender.send(path.to_owned()).unwrap();
                    }
                    (404, String::new())
                }
            };
            async move { (http::StatusCode::from_u16(status).unwrap(), body) }
        });
        tokio::spawn(async move { axum::serve(listener, app).await });
        let world = World::start().await;
        let authorizer = world.interactive().authorizer(format!("{origin}/mcp"));
        assert!(authorizer.unwrap().login().await.is_err());
        assert_eq!(paths.recv().await.unwrap(), expected);
    }
}

// spec: AUTH-C-28
#[tokio::test]
async fn token_is_sent_to_the_server_only() {
    let (world, other) = (World::start().await, World::start().await);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    other.set(|inner| inner.challenge_scope = None);
    assert_eq!(post(&authorizer, &other.server).await.unwrap(), 401);
    assert_eq!(other.inner.lock().paths, ["/mcp"]);
    assert_eq!(other.inner.lock().logins.len(), 0);
}

#[tokio::test]
async fn forgotten_registration_is_renewed_once() {
    let world = World::start().await;
    world.set(|inner| inner.token_failures = vec![(401, "invalid_client")]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().registrations, 2);
    world.set(|inner| inner.token_failures = vec![(401, "invalid_client"); 2]);
    let again = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&again).await.unwrap_err());
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    assert_eq!(world.inner.lock().registrations, 4);
}

#[tokio::test]
async fn events_tell_the_steps() {
    let world = World::start().await;
    let oauth = world.interactive();
    let mut events = oauth.events();
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "Authorized") {
        let event: AuthEvent = events.next().await.unwrap();
        let text = format!("{event:?}");
        assert!(!text.contains("canary"), "{text}");
        if let AuthEvent::Fetched { document } = &event {
            let contents = &document.contents;
            assert!(!contents.contains("canary"), "{contents}");
            let member = match document.kind {
                DocumentKind::Resource => "authorization_servers",
                DocumentKind::Server => "token_endpoint",
                _ => "client_id",
            };
            assert!(contents.contains(member), "{contents}");
        }
        if let AuthEvent::LoginStarted {
            server,
            issuer,
            page,
            ..
        } = &event
        {
            assert_eq!((server, issuer), (&world.server, &world.issuer));
            assert_eq!(*page, format!("{}/authorize", world.issuer));
        }
        names.push(text.split(' ').next().unwrap().to_owned());
    }
    assert_eq!(
        names,
        [
            "Challenged",
            "Fetched",
            "Fetched",
            "Discovered",
            "Fetched",
            "Registered",
            "LoginStarted",
            "Authorized"
        ]
    );
    drop((oauth, authorizer));
    for _ in 0..2 {
        assert!(events.next().await.is_none());
    }
}

// spec: AUTH-C-27, HTTP-C-13
#[tokio::test]
async fn token_from_the_program_is_read_for_each_request() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    world.post(&authorizer).await.unwrap();
    let counter = world.inner.lock().counter;
    let own = OAuth::token(move || {
        let token = format!("canary-access-{}", counter - 1);
        async move { Ok::<_, std::io::Error>(token) }
    });
    let own = own.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&own).await.unwrap(), 200);
    world.set(|inner| inner.refuses_tokens = true);
    let refused = reason(world.post(&own).await.unwrap_err());
    assert!(
        matches!(refused, AuthError::TokenRefused { .. }),
        "{refused}"
    );
    assert_eq!(own.status(), AuthStatus::External);
    assert_eq!(world.inner.lock().logins.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn login_on_another_device_waits_for_the_user() {
    let world = World::start().await;
    let endpoint = format!("{}/device", world.issuer);
    world.set(|inner| {
        inner.extra = serde_json::json!({"device_authorization_endpoint": endpoint});
        inner.token_failures = vec![
            (400, "authorization_pending"),
            (400, "slow_down"),
            (503, ""),
        ];
    });
    let (shown, seen) = std::sync::mpsc::channel();
    let oauth = OAuth::device("test", move |login| {
        shown
            .send(format!("{} {}", login.verification_uri, login.user_code))
            .unwrap();
        assert!(!format!("{login:?}").contains("ABCD"));
        std::future::ready(Ok(()))
    });
    let authorizer = oauth.authorizer(&world.server).unwrap();
    let start = tokio::time::Instant::now();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    // 5 s, 5 s, 10 s after slow_down, 20 s after the failure.
    assert_eq!(start.elapsed().as_secs(), 40);
    assert_eq!(
        seen.try_recv().unwrap(),
        format!("{}/activate ABCD", world.issuer)
    );
    world.set(|inner| inner.token_failures = vec![(400, "access_denied")]);
    authorizer.logout().await.unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::Denied(_)), "{error}");
    assert_eq!(world.inner.lock().registrations, 2);
    world.assert_no_mistakes();
}

#[tokio::test(start_paused = true)]
async fn device_page_cannot_rewrite_the_terminal() {
    let world = World::start().await;
    let endpoint = format!("{}/device", world.issuer);
    world.set(|inner| {
        inner.extra = serde_json::json!({"device_authorization_endpoint": endpoint});
        inner.device_page = Some(format!(
            "{}/a\u{1b}[2J\nhttps://evil.example/",
            world.issuer
        ));
    });
    let (shown, seen) = std::sync::mpsc::channel();
    let oauth = OAuth::device("test", move |login| {
        shown.send(login.verification_uri).unwrap();
        std::future::ready(Ok(()))
    });
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let page = seen.try_recv().unwrap();
    assert!(!page.contains(char::is_control), "{page:?}");
}

#[tokio::test]
async fn server_without_device_login_is_an_error() {
    let world = World::start().await;
    let oauth = OAuth::device("test", |_| std::future::ready(Ok(())));
    let authorizer = oauth.authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::Malformed { .. }), "{error}");
}
