//! Hosts with an HTTP client, a storage and tokens of their own, and probes without a login.

use std::collections::HashMap;
use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use http::header::LOCATION;
use http::{Request, Response, StatusCode};
use mcp::HttpChannel;
use mcp::prelude::*;
use mcp_auth::{
    AuthError, AuthStatus, Authorizer, CredentialStore, LoginSupport, ManualRedirect, MemoryStore,
    OAuth, Secret, StoreKey, StoreLock, StoredCredentials,
};
use mcp_core::ChannelError;
use parking_lot::Mutex;
use serde_json::json;
use tower_service::Service;

use crate::world::{REDIRECT_URI, World, reason};

/// The HTTP client of a host. It reaches servers that have no socket and whose names do not resolve, so a
/// request of another client would fail.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) world: World,
    sent: Arc<Mutex<Vec<String>>>,
    /// A host that cannot be reached.
    down: Option<&'static str>,
}

/// An error of the host's own type.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the tunnel is closed")]
pub(crate) struct TunnelClosed(u32);

impl Host {
    fn new() -> Self {
        Self::of(World::in_memory())
    }

    pub(crate) fn of(world: World) -> Self {
        Self {
            world,
            sent: Arc::default(),
            down: None,
        }
    }

    /// Settings of an interactive client over this HTTP client, whose user agrees to everything.
    pub(crate) fn interactive(&self) -> OAuth {
        let browser = self.clone();
        let redirect = ManualRedirect::new(REDIRECT_URI, move |page: String| {
            let world = browser.world.clone();
            async move {
                let request = Request::get(page).body(Bytes::new()).unwrap();
                let response = world.answer(request).await;
                let closed = || AuthError::Redirect("the page shows an error".to_owned());
                response.headers().get(LOCATION).ok_or_else(closed)?;
                Ok(response.headers()[LOCATION].to_str().unwrap().to_owned())
            }
        });
        let oauth = OAuth::interactive("test").redirect(redirect);
        oauth.http_client(self.clone())
    }

    async fn post(&self, authorizer: &Authorizer) -> Result<StatusCode, ChannelError> {
        let mut service = authorizer.service(self.clone());
        poll_fn(|cx| service.poll_ready(cx)).await?;
        let request = Request::post(&self.world.server);
        let request = request.body(Bytes::from_static(b"{}")).unwrap();
        Ok(service.call(request).await?.status())
    }

    /// Requests so far, and forgets them.
    fn take_sent(&self) -> Vec<String> {
        std::mem::take(&mut self.sent.lock())
    }
}

impl Service<Request<Bytes>> for Host {
    type Response = Response<Body>;
    type Error = TunnelClosed;
    type Future = BoxFuture<'static, Result<Response<Body>, TunnelClosed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), TunnelClosed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Bytes>) -> Self::Future {
        let sent = format!("{} {}", request.method(), request.uri());
        self.sent.lock().push(sent);
        let is_down = request.uri().host() == self.down;
        let world = self.world.clone();
        Box::pin(async move {
            if is_down {
                return Err(TunnelClosed(7));
            }
            Ok(world.answer(request).await)
        })
    }
}

#[tokio::test]
async fn every_request_uses_the_client_from_the_host() {
    let host = Host::new();
    let oauth = host.interactive();
    let authorizer = oauth.authorizer(&host.world.server).unwrap();
    assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    host.world.expire_access();
    assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    authorizer.logout().await.unwrap();
    let sent = host.take_sent();
    for (request, count) in [
        (
            "GET https://mcp.example/.well-known/oauth-protected-resource/mcp",
            2,
        ),
        (
            "GET https://login.example/.well-known/oauth-authorization-server",
            2,
        ),
        ("POST https://login.example/register", 1),
        ("POST https://login.example/token", 2),
        ("POST https://login.example/revoke", 1),
    ] {
        let found = sent.iter().filter(|sent| *sent == request).count();
        assert_eq!(found, count, "{request}: {sent:?}");
    }
    // A device, a grant without a user, and the identity provider of a company.
    let device = format!("{}/device", host.world.issuer);
    host.world
        .set(|inner| inner.extra = json!({"device_authorization_endpoint": device}));
    let shown = OAuth::device("test", |_| async { Ok(()) });
    for oauth in [shown, OAuth::client_credentials("service", "secret")] {
        let oauth = oauth.http_client(host.clone());
        let authorizer = oauth.authorizer(&host.world.server).unwrap();
        authorizer.login().await.unwrap();
        assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    }
    assert!(host.take_sent().contains(&format!("POST {device}")));
    host.world.assert_no_mistakes();
}

#[tokio::test]
async fn url_rules_hold_for_a_client_from_the_host() {
    for endpoint in [
        "https://10.0.0.1/token",
        "http://login.example/token",
        "https://169.254.169.254/token",
    ] {
        let host = Host::new();
        host.world
            .set(|inner| inner.extra = json!({"token_endpoint": endpoint}));
        let authorizer = host.interactive().authorizer(&host.world.server).unwrap();
        let error = reason(host.post(&authorizer).await.unwrap_err());
        assert!(matches!(error, AuthError::Egress { .. }), "{error}");
        let sent = host.take_sent();
        assert!(!sent.iter().any(|sent| sent.contains(endpoint)), "{sent:?}");
    }
}

/// Returns whether the error of the host is among the causes.
fn has_host_error(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| cause.downcast_ref() == Some(&TunnelClosed(7)))
}

#[tokio::test]
async fn errors_from_the_host_are_among_the_causes() {
    // The request of a login, and a request to the MCP server.
    for down in ["login.example", "mcp.example"] {
        let host = Host {
            down: Some(down),
            ..Host::new()
        };
        let channel = HttpChannel::with_service(&host.world.server, host.clone()).unwrap();
        let builder = Client::builder().oauth(host.interactive());
        let error = builder.connect(channel).await.unwrap_err();
        assert!(has_host_error(&error), "{down}: {error:?}");
        assert!(
            error.to_string().contains("the tunnel is closed"),
            "{error}"
        );
    }
    let host = Host {
        down: Some("login.example"),
        ..Host::new()
    };
    let probed = host.interactive().probe(&host.world.server).await;
    let error = probed.unwrap_err();
    assert!(error.is_transient() && has_host_error(&error), "{error}");
}

/// The storage of a host: a row for each server. It knows only what the host has always stored.
#[derive(Clone, Default)]
struct Rows {
    rows: Arc<Mutex<HashMap<String, Row>>>,
    others: MemoryStore,
}

#[derive(Clone)]
struct Row {
    issuer: String,
    client: String,
    access: String,
    refresh: Option<String>,
    expires_at: Option<u64>,
}

#[async_trait]
impl CredentialStore for Rows {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        let Some(server) = key.server() else {
            return self.others.load(key).await;
        };
        let Some(row) = self.rows.lock().get(server).cloned() else {
            return Ok(None);
        };
        let mut credentials = StoredCredentials::new(row.issuer, row.client, row.access);
        credentials.refresh_token = row.refresh.map(Secret::new);
        credentials.expires_at = row.expires_at;
        Secret::try_from(&credentials).map(Some)
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        let Some(server) = key.server() else {
            return self.others.save(key, record).await;
        };
        let credentials = StoredCredentials::try_from(record)?;
        let refresh = credentials.refresh_token.as_ref();
        let row = Row {
            issuer: credentials.issuer,
            client: credentials.client_id,
            access: credentials.access_token.expose().to_owned(),
            refresh: refresh.map(|token| token.expose().to_owned()),
            expires_at: credentials.expires_at,
        };
        self.rows.lock().insert(server.to_owned(), row);
        Ok(())
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        match key.server() {
            Some(server) => drop(self.rows.lock().remove(server)),
            None => self.others.remove(key).await?,
        }
        Ok(())
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.others.lock(key, timeout).await
    }
}

/// Logs in once. Returns the storage with the tokens, as another program has left it.
async fn filled(host: &Host) -> Rows {
    let rows = Rows::default();
    let oauth = host.interactive().store(rows.clone());
    let authorizer = oauth.authorizer(&host.world.server).unwrap();
    authorizer.login().await.unwrap();
    host.take_sent();
    rows
}

impl Rows {
    fn row(&self, host: &Host) -> Row {
        self.rows.lock()[&host.world.server].clone()
    }
}

#[tokio::test]
async fn host_tokens_are_used_refreshed_and_written_back() {
    let host = Host::new();
    let rows = filled(&host).await;
    let oauth = host.interactive().store(rows.clone());
    let first = rows.row(&host);
    let authorizer = oauth.authorizer(&host.world.server).unwrap();
    assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    // A token that is valid needs nothing else.
    assert_eq!(host.take_sent(), ["POST https://mcp.example/mcp"]);
    for _ in 0..2 {
        host.world.expire_access();
        let before = rows.row(&host);
        assert_eq!(host.post(&authorizer).await.unwrap(), 200);
        let after = rows.row(&host);
        assert_ne!(before.access, after.access);
        assert_ne!(before.refresh, after.refresh);
        assert_eq!(after.issuer, host.world.issuer);
        assert_eq!(after.client, first.client);
    }
    // A program that starts with an expired token refreshes it before its first request.
    let server = host.world.server.clone();
    rows.rows.lock().get_mut(&server).unwrap().expires_at = Some(1);
    let restarted = oauth.authorizer(&server).unwrap();
    assert_eq!(host.post(&restarted).await.unwrap(), 200);
    assert_eq!(host.world.refreshes(), 3);
    {
        let inner = host.world.inner.lock();
        let mut refreshes = inner.token_requests.iter().skip(1);
        assert!(
            refreshes.all(|form| form["resource"] == server && form["client_id"] == first.client)
        );
        assert_eq!((inner.logins.len(), inner.registrations), (1, 1));
    }
    restarted.logout().await.unwrap();
    assert!(rows.rows.lock().is_empty());
    assert_eq!(host.world.inner.lock().revoked.len(), 1);
    host.world.assert_no_mistakes();
}

#[tokio::test]
async fn refresh_token_from_the_host_goes_only_to_its_issuer() {
    let host = Host::new();
    let rows = filled(&host).await;
    // The MCP server names another authorization server now, which the user logs in to.
    let server = host.world.server.clone();
    let known = rows.row(&host);
    let other = Row {
        issuer: "https://login.other.example".to_owned(),
        expires_at: Some(1),
        ..known
    };
    rows.rows.lock().insert(server.clone(), other);
    let oauth = host.interactive().store(rows.clone());
    let authorizer = oauth.authorizer(&server).unwrap();
    host.world.expire_access();
    assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    assert_eq!(host.world.refreshes(), 0);
    assert_eq!(host.world.inner.lock().logins.len(), 2);
    assert_eq!(rows.row(&host).issuer, host.world.issuer);
}

#[tokio::test]
async fn import_saves_tokens_and_uses_them() {
    let host = Host::new();
    let row = filled(&host).await.row(&host);
    let brought = || {
        let mut credentials = StoredCredentials::new(&row.issuer, &row.client, row.access.as_str());
        credentials.refresh_token = row.refresh.clone().map(Secret::new);
        credentials.scopes = ["basic"].into_iter().collect();
        credentials
    };
    let store = MemoryStore::new();
    let oauth = host.interactive().store(store);
    let authorizer = oauth.authorizer(&host.world.server).unwrap();
    authorizer.import(brought()).await.unwrap();
    let AuthStatus::LoggedIn {
        issuer,
        scopes,
        refreshable: true,
        ..
    } = authorizer.status()
    else {
        panic!("{:?}", authorizer.status());
    };
    assert_eq!(
        (issuer, scopes.to_string()),
        (row.issuer.clone(), "basic".to_owned())
    );
    assert_eq!(host.post(&authorizer).await.unwrap(), 200);
    assert_eq!(host.take_sent(), ["POST https://mcp.example/mcp"]);
    // The next program finds them in the store, and refreshes them.
    host.world.expire_access();
    let next = oauth.authorizer(&host.world.server).unwrap();
    assert_eq!(host.post(&next).await.unwrap(), 200);
    assert_eq!(
        (host.world.refreshes(), host.world.inner.lock().logins.len()),
        (1, 1)
    );

    let refused: [(OAuth, StoredCredentials); 4] = [
        (
            host.interactive().issuer("https://login.other.example"),
            brought(),
        ),
        (host.interactive().client_id("another"), brought()),
        (OAuth::token(|| async { Ok::<_, String>("t") }), brought()),
        (
            host.interactive(),
            StoredCredentials::new("https://login.example", "a", "b c"),
        ),
    ];
    for (oauth, credentials) in refused {
        let authorizer = oauth.authorizer(&host.world.server).unwrap();
        let error = authorizer.import(credentials).await.unwrap_err();
        assert!(!error.to_string().contains("canary"), "{error}");
        assert!(!matches!(authorizer.status(), AuthStatus::LoggedIn { .. }));
    }
}

#[tokio::test]
async fn damaged_record_is_an_error_without_its_text() {
    for record in ["", "{}", r#"{"version":"canary"}"#, "canary"] {
        let error = StoredCredentials::try_from(&Secret::new(record)).unwrap_err();
        assert!(matches!(error, AuthError::Store(_)), "{error}");
        assert!(!error.to_string().contains("canary"), "{error}");
    }
    let mut credentials = StoredCredentials::new("https://h", "c", "canary");
    credentials.refresh_token = Some(Secret::new("canary"));
    assert!(!format!("{credentials:?}").contains("canary"));
}

#[tokio::test]
async fn probe_tells_what_a_server_supports_without_a_login() {
    for (is_open, publishes_nothing) in [(false, false), (true, false), (false, true), (true, true)]
    {
        let host = Host::new();
        host.world.set(|inner| {
            inner.is_open = is_open;
            inner.publishes_nothing = publishes_nothing;
            inner.extra = json!({"client_id_metadata_document_supported": true});
        });
        let support = host.interactive().probe(&host.world.server).await.unwrap();
        match (is_open, publishes_nothing) {
            (true, true) => assert_eq!(support, LoginSupport::None),
            (false, true) => assert_eq!(support, LoginSupport::TokenOnly),
            (_, false) => {
                let LoginSupport::Login {
                    is_required,
                    issuer,
                    scopes,
                    registers_clients: true,
                    accepts_metadata_url: true,
                    offers_device_login: false,
                    ..
                } = support
                else {
                    panic!("{support:?}");
                };
                assert_eq!((is_required, issuer), (!is_open, host.world.issuer.clone()));
                // Those of the challenge.
                let expected = if is_open { "" } else { "basic offline_access" };
                assert_eq!(scopes.to_string(), expected);
            }
        }
        let inner = host.world.inner.lock();
        assert_eq!((inner.registrations, inner.logins.len()), (0, 0));
        assert!(inner.token_requests.is_empty());
        assert_eq!(inner.requests, 1);
    }
    // What a login would refuse is an error.
    let host = Host::new();
    host.world
        .set(|inner| inner.resource = Some("https://evil.example".to_owned()));
    let error = host
        .interactive()
        .probe(&host.world.server)
        .await
        .unwrap_err();
    assert!(
        matches!(error, AuthError::ResourceMismatch { .. }),
        "{error}"
    );
    let error = host.interactive().probe("http://mcp.example/mcp").await;
    assert!(matches!(error, Err(AuthError::Egress { .. })), "{error:?}");
}

#[tokio::test]
async fn error_reports_that_the_host_token_was_refused() {
    let host = Host::new();
    let channel = HttpChannel::with_service(&host.world.server, host.clone()).unwrap();
    let oauth = OAuth::token(|| async { Ok::<_, String>("canary-old") });
    let error = Client::builder()
        .oauth(oauth)
        .connect(channel)
        .await
        .unwrap_err();
    assert!(error.is_auth() && !error.may_have_run(), "{error}");
    let Some(AuthError::TokenRefused { token, challenge }) = error.authorization() else {
        panic!("{error:?}");
    };
    assert!(token.matches("canary-old"));
    let scope = challenge
        .as_ref()
        .and_then(|challenge| challenge.scope.as_ref());
    assert_eq!(scope.map(ToString::to_string).as_deref(), Some("basic"));
    assert!(!format!("{error} {error:?}").contains("canary"));
}

/// The error with all its causes, as programs print it.
fn texts(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(|cause| format!("{cause} {cause:?} {cause:#?}\n"))
        .collect()
}

#[tokio::test]
async fn refused_tokens_are_in_no_text() {
    let host = Host::new();
    host.world.set(|inner| inner.refuses_tokens = true);
    let own = OAuth::token(|| async { Ok::<_, String>("canary-own") });
    for (oauth, expected) in [(own, "canary-own"), (host.interactive(), "canary-access")] {
        let mut events = oauth.events();
        let channel = HttpChannel::with_service(&host.world.server, host.clone()).unwrap();
        let error = Client::builder().oauth(oauth).connect(channel).await;
        let error = error.unwrap_err();
        let Some(AuthError::TokenRefused { token, challenge }) = error.authorization() else {
            panic!("{error:?}");
        };
        assert!(token.expose().starts_with(expected));
        assert!(challenge.is_some());
        let mut shown = texts(&error);
        let authorization = error.authorization().unwrap();
        shown.push_str(&texts(authorization));
        while let Some(Some(event)) = events.next().now_or_never() {
            shown.push_str(&format!("{event:?} {event:#?}\n"));
        }
        assert!(shown.contains("refuses the token"), "{shown}");
        assert!(!shown.contains("canary"), "{shown}");
    }
}
