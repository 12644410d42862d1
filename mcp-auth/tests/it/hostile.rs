//! Servers that hang, lie, or answer too much.

use mcp_auth::{AuthError, Egress, LoopbackRedirect, OAuth};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::world::{World, reason};

/// A server that sends `start` and then nothing more, or as much as it can.
async fn hostile(start: &'static str, endless: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let Ok((mut stream, _)) = listener.accept().await else {
                return;
            };
            tokio::spawn(async move {
                let _ = stream.write_all(start.as_bytes()).await;
                while endless && stream.write_all(&[b' '; 4096]).await.is_ok() {}
                std::future::pending::<()>().await;
            });
        }
    });
    url
}

#[tokio::test(start_paused = true)]
async fn silent_authorization_server_ends_in_a_typed_error() {
    for start in ["", "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{"] {
        let world = World::start().await;
        let silent = hostile(start, false).await;
        world.set(|inner| inner.authorization_servers = vec![silent]);
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(error.is_transient(), "{error}");
        // The client is still usable.
        world.set(|inner| inner.authorization_servers = vec![world.issuer.clone()]);
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    }
}

#[tokio::test]
async fn endless_response_is_cut() {
    let world = World::start().await;
    let endless = hostile("HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n", true).await;
    world.set(|inner| inner.authorization_servers = vec![endless]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::TooLarge { .. }), "{error}");
}

// spec: AUTH-C-29, AUTH-C-34
#[tokio::test]
async fn endpoints_with_other_schemes_and_networks_are_refused() {
    for (name, url) in [
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "file:///etc/passwd"),
        ("token_endpoint", "http://169.254.169.254/token"),
        ("registration_endpoint", "http://login.example/register"),
    ] {
        let world = World::start().await;
        world.set(|inner| inner.extra = json!({name: url}));
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(
            matches!(error, AuthError::Egress { .. }),
            "{name} {url}: {error}"
        );
        assert!(world.inner.lock().logins.is_empty());
    }
}

#[tokio::test]
async fn issuer_with_control_characters_is_refused() {
    let world = World::start().await;
    let issuer = format!("{}\n", world.issuer);
    world.set(|inner| {
        inner.authorization_servers = vec![issuer.clone()];
        inner.issuer = Some(issuer.clone());
    });
    let error = world.interactive().probe(&world.server).await.unwrap_err();
    assert!(matches!(error, AuthError::Malformed { .. }), "{error}");
}

#[tokio::test]
async fn redirected_token_request_is_not_followed() {
    let world = World::start().await;
    world.set(|inner| inner.token_failures = vec![(307, "")]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    assert_eq!(world.inner.lock().token_requests.len(), 1);
}

#[tokio::test]
async fn token_that_is_always_refused_leads_to_one_login() {
    let world = World::start().await;
    world.set(|inner| inner.refuses_tokens = true);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    for _ in 0..3 {
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(matches!(error, AuthError::TokenRefused { .. }), "{error}");
    }
    assert_eq!(world.inner.lock().logins.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn user_who_never_answers_ends_the_login() {
    let world = World::start().await;
    let redirect = LoopbackRedirect::new().open_with(|_| async { Ok(()) });
    let oauth = OAuth::interactive("test").redirect(redirect);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(
        matches!(error, AuthError::Timeout { seconds: 300, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn tokens_need_https_or_loopback() {
    let oauth = OAuth::interactive("test");
    for url in [
        "http://mcp.example/mcp",
        "http://10.0.0.1/mcp",
        "https://169.254.169.254/mcp",
    ] {
        let error = oauth.authorizer(url).unwrap_err();
        assert!(matches!(error, AuthError::Egress { .. }), "{url}: {error}");
    }
    for url in [
        "https://mcp.example/mcp",
        "http://localhost:1/mcp",
        "https://10.0.0.1/mcp",
    ] {
        assert!(oauth.authorizer(url).is_ok(), "{url}");
    }
    let error = oauth.authorizer("mcp.example").unwrap_err();
    assert!(matches!(error, AuthError::Settings(_)), "{error}");
    let egress = Egress::default().allow_origin("http://10.0.0.1").unwrap();
    assert!(
        oauth
            .egress(egress)
            .authorizer("http://10.0.0.1/mcp")
            .is_ok()
    );
}
