//! Secrets appear in no log, error, event or `Debug` output.

use std::io;
use std::sync::Arc;

use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use mcp::StreamableHttp;
use mcp::prelude::*;
use mcp_auth::{
    AccessToken, AuthError, CredentialStore, Dpop, Introspection, MemoryStore, OAuth,
    ResourceServer, Secret, StaticTokens, StoreKey, StoreLock, TokenExchange, VerifiedToken,
};
use parking_lot::Mutex;
use serde_json::Value;
use tracing_subscriber::fmt::MakeWriter;

use crate::issuer::Issuer;
use crate::protected::call;
use crate::world::World;

#[derive(Clone, Default)]
pub(crate) struct Log(pub(crate) Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// A store that keeps a copy of every record.
#[derive(Clone, Default)]
struct Copying {
    store: MemoryStore,
    records: Arc<Mutex<Vec<Value>>>,
}

#[async_trait]
impl CredentialStore for Copying {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        self.store.load(key).await
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        let copy = serde_json::from_str(record.expose()).unwrap();
        self.records.lock().push(copy);
        self.store.save(key, record).await
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        self.store.remove(key).await
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.store.lock(key, timeout).await
    }
}

/// The values of the members of objects with these names.
fn members<'a>(objects: &'a [Value], names: &'a [&str]) -> impl Iterator<Item = &'a str> {
    let values = objects
        .iter()
        .flat_map(|one| names.iter().map(|name| &one[*name]));
    values.filter_map(Value::as_str)
}

// spec: EMA-05
#[tokio::test]
async fn whole_flow_at_trace_level_shows_no_secret() {
    let log = Log::default();
    // The log of the other tests counts, too: a subscriber of one thread would miss events whose
    // first use is on another thread.
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let world = World::start().await;
    let oauth = world.interactive().client_secret("given", "canary-secret");
    let mut shown = format!("{oauth:?}");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_grant"); 2]);
    let error = world.post(&authorizer).await.unwrap_err();
    shown.push_str(&format!(
        "{error:?} {error} {authorizer:?} {:?}",
        authorizer.status()
    ));
    shown.push_str(&format!("{:?}", Secret::new("canary")));
    let service = authorizer.service(());
    shown.push_str(&format!("{service:?}"));
    authorizer.logout().await.unwrap();

    let machine = OAuth::client_credentials("service", "canary-secret");
    let machine = machine.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&machine).await.unwrap(), 200);
    shown.push_str(&format!("{machine:?}"));

    // Tokens that are bound to a key: the login, a nonce, a refresh, and the stored key.
    let bound = World::start().await;
    bound.set(|inner| {
        inner.dpop = true;
        inner.nonce = Some("canary-nonce".to_owned());
    });
    let store = Copying::default();
    let oauth = bound
        .interactive()
        .dpop(Dpop::Required)
        .store(store.clone());
    let mut events = oauth.events();
    for _ in 0..2 {
        let authorizer = oauth.authorizer(&bound.server).unwrap();
        assert_eq!(bound.post(&authorizer).await.unwrap(), 200);
        bound.expire_access();
        assert_eq!(bound.post(&authorizer).await.unwrap(), 200);
        shown.push_str(&format!("{authorizer:?} {:?}", authorizer.status()));
    }
    shown.push_str(&format!("{oauth:?}"));
    drop(oauth);
    while let Ok(Some(event)) = tokio::time::timeout(Duration::ZERO, events.next()).await {
        shown.push_str(&format!("{event:?}"));
    }
    assert!(shown.contains("Refreshed"), "{shown}");
    let records = store.records.lock().clone();
    let keys = members(&records, &["proof_key"]).count();
    let tokens = members(&records, &["access_token", "refresh_token"]).count();
    assert!(keys >= 3 && tokens >= 6, "{keys} keys, {tokens} tokens");

    let requests = [world.inner.lock(), bound.inner.lock()]
        .map(|inner| inner.token_requests.clone())
        .concat();
    let requests: Vec<Value> = requests
        .into_iter()
        .map(|form| serde_json::json!(form))
        .collect();
    let sent = ["code", "code_verifier", "refresh_token", "client_secret"];
    assert!(members(&requests, &sent).count() > 6);
    shown.push_str(&protected_server().await);

    let log = String::from_utf8(log.0.lock().clone()).unwrap();
    assert!(log.contains("Authorized"), "{log}");
    let secrets = members(&records, &["proof_key", "access_token", "refresh_token"]);
    for secret in secrets.chain(members(&requests, &sent)) {
        assert!(
            !secret.is_empty() && !log.contains(secret) && !shown.contains(secret),
            "{secret}"
        );
    }
    for text in [&shown, &log] {
        assert!(!text.contains("canary"), "{text}");
        let secret = "Y2FuYXJ5"; // "canary" in Base64
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn hostile_descriptions_stay_on_one_line() {
    let world = World::start().await;
    world.set(|inner| inner.token_failures = vec![(400, "bad\r\nINFO fake line\u{1b}[2J")]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = authorizer.login().await.unwrap_err();
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    let text = format!("{error} {error:?}");
    assert!(!text.contains(['\r', '\n', '\u{1b}']), "{text}");
}

/// Sends tokens to a protected server. Returns the `Debug` output of its parts.
async fn protected_server() -> String {
    let issuer = Issuer::start().await;
    let tokens = StaticTokens::new().token("canary-fixed", "ada", ["a"]);
    let mut shown = format!("{tokens:?}");
    let auth = ResourceServer::new("http://localhost/mcp")
        .issuer(issuer.url())
        .introspection(Introspection::new("mcp-server", "s3cret"))
        .static_tokens(tokens)
        .keep_access_token()
        .dpop(Dpop::Optional)
        .dpop_nonces(&Secret::new("canary-nonces"));
    shown.push_str(&format!("{auth:?}"));
    let protection = auth.build().unwrap();
    let show =
        |Identity(token): Identity<AccessToken>,
         Identity(who): Identity,
         Headers(headers): Headers| { format!("{token:?} {who:?} {headers:?}") };
    let server = Server::new("test", "1.0.0").tool(Tool::new("show").handler(show));
    let endpoint = StreamableHttp::new(server);
    for token in ["canary-fixed", "canary-unknown", "canary invalid"] {
        for scheme in ["Bearer", "DPoP", "Basic"] {
            let mut request = call(&format!("{scheme} {token}"), "show", serde_json::json!({}));
            request
                .headers_mut()
                .insert("dpop", "canary.proof".parse().unwrap());
            let mut service = protection.protect(endpoint.clone());
            let response = tower_service::Service::call(&mut service, request)
                .await
                .unwrap();
            let (head, body) = response.into_parts();
            let body = http_body_util::BodyExt::collect(body)
                .await
                .unwrap()
                .to_bytes();
            shown.push_str(&format!("{:?} {body:?}", head.headers));
        }
    }
    let exchange = TokenExchange::new(issuer.url(), "mcp-server", "canary-secret").unwrap();
    let introspection = Introspection::new("mcp-server", "canary-secret");
    let verified = VerifiedToken::new("issuer", "ada");
    shown.push_str(&format!(
        "{protection:?} {exchange:?} {introspection:?} {verified:?}"
    ));
    shown
}
