//! A client for `cargo xtask interop`: logs in at a foreign authorization server in every way.
//!
//! `auth-client SERVER ISSUER FLOW` prints `ok FLOW` or `no FLOW: ERROR`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "prints its findings"
)]

mod pages;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use http_body_util::BodyExt as _;
use mcp::HttpClient;
use mcp::auth::{
    AuthError, AuthEvent, AuthStatus, Authorizer, Dpop, LoopbackRedirect, MemoryStore, OAuth,
    PrivateKey,
};
use mcp::prelude::*;
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tower::ServiceExt as _;

/// Timeout of a flow. The authorization server demands 5 seconds between polls of a device.
const LIMIT: Duration = Duration::from_secs(60);
/// Longer than the lifetime of short tokens, 2 seconds.
const PAUSE: Duration = Duration::from_millis(2500);

type CheckResult = Result<(), Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [server, issuer, flow] = &arguments[..] else {
        eprintln!("usage: auth-client SERVER ISSUER FLOW");
        return ExitCode::FAILURE;
    };
    match timeout(LIMIT, run(server, issuer, flow)).await {
        Ok(Ok(())) => println!("ok {flow}"),
        Ok(Err(error)) => println!("no {flow}: {error}"),
        Err(_) => println!("no {flow}: timeout after {} s", LIMIT.as_secs()),
    }
    ExitCode::SUCCESS
}

async fn run(server: &str, issuer: &str, flow: &str) -> CheckResult {
    match flow {
        "login" => login(server).await,
        "browser" => browser(server).await,
        "dpop" => dpop(server).await,
        "refresh" => refresh(server, interactive("interop short")).await,
        "given" => refresh(server, interactive("interop").client_id("given")).await,
        "revocation" => revocation(server).await,
        "device" => device(server).await,
        "client_secret" => {
            machine(
                server,
                OAuth::client_credentials("service", "interop-service"),
            )
            .await
        }
        "private_key_jwt" => {
            let key = PrivateKey::from_pem(&fetch(&format!("{issuer}/test-key")).await?)?;
            machine(
                server,
                OAuth::client_credentials_jwt("signing-service", key),
            )
            .await
        }
        "protected" => protected(server, Dpop::Off).await,
        "proof" => protected(server, Dpop::Required).await,
        _ => Err("unknown flow".into()),
    }
}

/// A user with a browser. The redirect goes to the listener of the client.
fn interactive(name: &str) -> OAuth {
    OAuth::interactive(name).redirect(LoopbackRedirect::new().open_with(|page| {
        // The page is open until the redirect is answered.
        tokio::spawn(async move {
            if let Err(error) = pages::log_in(page).await {
                eprintln!("{error}");
            }
        });
        std::future::ready(Ok::<_, AuthError>(()))
    }))
}

/// Registration, PKCE, `iss` and `resource`. A logout forgets the registration, so there are two.
async fn login(server: &str) -> CheckResult {
    let oauth = interactive("interop").store(MemoryStore::new());
    let events = oauth.events();
    let client = Client::builder()
        .oauth(oauth.clone())
        .connect(server)
        .await?;
    token(&client).await?;
    client.logout().await?;
    client.login().await?;
    token(&client).await?;
    client.close().await?;
    drop((client, oauth));
    let events = all(events).await;
    let count =
        |wanted: fn(&AuthEvent) -> bool| events.iter().filter(|event| wanted(event)).count();
    let registrations = count(|event| matches!(event, AuthEvent::Registered { .. }));
    let logins = count(|event| matches!(event, AuthEvent::Authorized { .. }));
    match (registrations, logins) {
        (2, 2) => Ok(()),
        _ => Err(format!("{registrations} registrations and {logins} logins: {events:?}").into()),
    }
}

/// The settings that a program gets by default: the page is opened by the browser of the user, and its
/// redirect arrives at the listener.
async fn browser(server: &str) -> CheckResult {
    let client = Client::builder()
        .oauth(OAuth::interactive("interop browser"))
        .connect(server)
        .await?;
    match token(&client).await?.as_str() {
        "" => Err("the call had no token".into()),
        _ => Ok(client.close().await?),
    }
}

/// Tokens that are bound to a key. The second client continues with the stored key: the refresh token is
/// bound to it, too. Both servers demand nonces, which change in between.
async fn dpop(server: &str) -> CheckResult {
    let oauth = interactive("interop dpop short").store(MemoryStore::new());
    let oauth = oauth.dpop(Dpop::Required);
    let events = oauth.events();
    for _ in 0..2 {
        let builder = Client::builder().oauth(oauth.clone());
        let client = builder.connect(server).await?;
        for _ in 0..12 {
            client.call("test_simple_text", ()).await?;
        }
        sleep(PAUSE).await;
        client.call("test_simple_text", ()).await?;
        client.close().await?;
    }
    drop(oauth);
    let events = all(events).await;
    let count = |wanted: fn(&&AuthEvent) -> bool| events.iter().filter(wanted).count();
    let logins = count(|event| matches!(event, AuthEvent::LoginStarted { .. }));
    let refreshes = count(|event| matches!(event, AuthEvent::Refreshed { .. }));
    match (logins, refreshes) {
        (1, 2..) => Ok(()),
        _ => Err(format!("{logins} logins, {refreshes} refreshes: {events:?}").into()),
    }
}

/// Tokens that expire are refreshed, each time with the latest refresh token: the authorization server
/// ends the login when one is used twice.
async fn refresh(server: &str, oauth: OAuth) -> CheckResult {
    let events = oauth.events();
    let client = Client::builder().oauth(oauth).connect(server).await?;
    let mut tokens = vec![token(&client).await?];
    for _ in 0..3 {
        sleep(PAUSE).await;
        let calls = (0..5).map(|_| token(&client));
        for token in futures_util::future::try_join_all(calls).await? {
            if !tokens.contains(&token) {
                tokens.push(token);
            }
        }
    }
    client.logout().await?;
    client.close().await?;
    drop(client);
    let events = all(events).await;
    let logins = |event: &&AuthEvent| matches!(event, AuthEvent::LoginStarted { .. });
    let refreshed = |event: &&AuthEvent| matches!(event, AuthEvent::Refreshed { .. });
    let (logins, refreshes) = (
        events.iter().filter(logins).count(),
        events.iter().filter(refreshed).count(),
    );
    // The first connection may refresh, too.
    if logins == 1 && tokens.len() >= 4 && (3..=8).contains(&refreshes) {
        Ok(())
    } else {
        let tokens = tokens.len();
        Err(format!("{logins} logins, {refreshes} refreshes, {tokens} tokens").into())
    }
}

/// A token of a client that has logged out is refused.
async fn revocation(server: &str) -> CheckResult {
    let client = Client::builder()
        .oauth(interactive("interop"))
        .connect(server)
        .await?;
    let token = token(&client).await?;
    let same = || Client::builder().bearer_token(&token).connect(server);
    same().await?.close().await?;
    client.logout().await?;
    if client.authorizer().map(Authorizer::status) != Some(AuthStatus::LoggedOut) {
        return Err("the client has a token after the logout".into());
    }
    match same().await {
        Ok(_) => Err("the server accepts a revoked token".into()),
        Err(error) if error.is_auth() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A user who logs in on another device.
async fn device(server: &str) -> CheckResult {
    let oauth = OAuth::device("interop device", |login| async move {
        let page = login.verification_uri_complete;
        pages::log_in(page.unwrap_or(login.verification_uri)).await
    });
    let authorizer = oauth.authorizer(server)?;
    authorizer.login().await?;
    let client = Client::builder().authorizer(&authorizer);
    let client = client.connect(authorizer.server()).await?;
    token(&client).await?;
    Ok(client.close().await?)
}

/// A program without a user.
async fn machine(server: &str, oauth: OAuth) -> CheckResult {
    let client = Client::builder().oauth(oauth).connect(server).await?;
    let first = token(&client).await?;
    client.logout().await?;
    let second = token(&client).await?;
    client.close().await?;
    if first == second {
        Err("the token is the same after a logout".into())
    } else {
        Ok(())
    }
}

/// Our protected server: a second login for the scope of one tool. With `BROWSER`, that program shows
/// the pages of both logins.
async fn protected(server: &str, dpop: Dpop) -> CheckResult {
    let oauth = match std::env::var_os("BROWSER") {
        Some(_) => OAuth::interactive("interop"),
        None => interactive("interop"),
    };
    let oauth = oauth.dpop(dpop);
    let client = Client::builder().oauth(oauth).connect(server).await?;
    let scopes = async || -> Result<String, mcp::Error> {
        let caller: Value = serde_json::from_str(&client.call("test_whoami", ()).await?.text())?;
        Ok(caller["scopes"].to_string())
    };
    let first = scopes().await?;
    client.call("test_simple_text", ()).await?;
    let second = scopes().await?;
    client.close().await?;
    match (first.as_str(), second.contains("mcp:write")) {
        (r#"["mcp:use"]"#, true) => Ok(()),
        _ => Err(format!("the scopes are {first}, then {second}").into()),
    }
}

/// Calls the tool that returns the token of the call.
async fn token(client: &Client) -> Result<String, mcp::Error> {
    Ok(client.call("token", ()).await?.text())
}

/// Returns the events of clients that were dropped.
async fn all(mut events: impl Stream<Item = AuthEvent> + Unpin) -> Vec<AuthEvent> {
    let mut list = Vec::new();
    while let Ok(Some(event)) = timeout(Duration::from_millis(200), events.next()).await {
        list.push(event);
    }
    list
}

async fn fetch(url: &str) -> Result<String, Box<dyn Error + Send + Sync>> {
    let request = http::Request::get(url).body(Bytes::new())?;
    let response = HttpClient::new()?.oneshot(request).await?;
    let body = response.into_body().collect().await?.to_bytes();
    Ok(String::from_utf8(body.to_vec())?)
}
