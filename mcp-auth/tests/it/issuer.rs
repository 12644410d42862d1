//! An issuer of tokens: metadata, keys, introspection and token exchange, with counters.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A key of the issuer: EC P-256. With an empty id, the key and its tokens have none.
pub(crate) struct Key {
    pub(crate) id: String,
    pair: EcdsaKeyPair,
}

impl Key {
    pub(crate) fn new(id: &str) -> Arc<Self> {
        let random = SystemRandom::new();
        let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
        let der = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Arc::new(Self {
            id: id.to_owned(),
            pair: EcdsaKeyPair::from_pkcs8(algorithm, der.as_ref(), &random).unwrap(),
        })
    }

    pub(crate) fn public_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    pub(crate) fn jwk(&self) -> Value {
        let point = self.public_bytes();
        let mut jwk = json!({
            "kty": "EC", "crv": "P-256", "use": "sig",
            "x": encode(&point[1..33]), "y": encode(&point[33..65]),
        });
        if !self.id.is_empty() {
            jwk["kid"] = json!(self.id);
        }
        jwk
    }

    /// Signs any header and claims with ES256.
    pub(crate) fn sign(&self, header: &Value, claims: &Value) -> String {
        let input = signing_input(header, claims);
        let signature = self.pair.sign(&SystemRandom::new(), input.as_bytes());
        format!("{input}.{}", encode(signature.unwrap().as_ref()))
    }

    /// Signs an access token.
    pub(crate) fn token(&self, claims: &Value) -> String {
        let mut header = json!({"alg": "ES256", "typ": "at+jwt"});
        if !self.id.is_empty() {
            header["kid"] = json!(self.id);
        }
        self.sign(&header, claims)
    }
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn signing_input(header: &Value, claims: &Value) -> String {
    format!(
        "{}.{}",
        encode(header.to_string()),
        encode(claims.to_string())
    )
}

pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

pub(crate) struct Inner {
    pub(crate) url: String,
    pub(crate) keys: Mutex<Vec<Arc<Key>>>,
    /// Answers of the introspection endpoint, by token.
    pub(crate) opaque: Mutex<HashMap<String, Value>>,
    /// Status of all answers, if they fail.
    pub(crate) failure: Mutex<Option<StatusCode>>,
    pub(crate) metadata_fetches: AtomicUsize,
    pub(crate) key_fetches: AtomicUsize,
    pub(crate) introspections: AtomicUsize,
    pub(crate) exchanges: Mutex<Vec<HashMap<String, String>>>,
}

/// The issuer on a free port of this machine.
#[derive(Clone)]
pub(crate) struct Issuer(pub(crate) Arc<Inner>);

impl Issuer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let issuer = Self(Arc::new(Inner {
            url,
            keys: Mutex::new(vec![Key::new("first")]),
            opaque: Mutex::default(),
            failure: Mutex::default(),
            metadata_fetches: AtomicUsize::new(0),
            key_fetches: AtomicUsize::new(0),
            introspections: AtomicUsize::new(0),
            exchanges: Mutex::default(),
        }));
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/keys", get(keys))
            .route("/introspect", post(introspect))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        issuer
    }

    pub(crate) fn url(&self) -> &str {
        &self.0.url
    }

    pub(crate) fn key(&self) -> Arc<Key> {
        self.0.keys.lock()[0].clone()
    }

    pub(crate) fn key_fetches(&self) -> usize {
        self.0.key_fetches.load(Ordering::SeqCst)
    }

    /// The claims of a token of `subject` for `resource`.
    pub(crate) fn claims(&self, subject: &str, resource: &str, scope: &str) -> Value {
        json!({
            "iss": self.url(), "sub": subject, "aud": resource, "client_id": "agent",
            "scope": scope, "iat": now(), "exp": now() + 600,
        })
    }

    pub(crate) fn token(&self, subject: &str, resource: &str, scope: &str) -> String {
        self.key().token(&self.claims(subject, resource, scope))
    }
}

async fn metadata(State(issuer): State<Issuer>) -> String {
    issuer.0.metadata_fetches.fetch_add(1, Ordering::SeqCst);
    let url = issuer.url();
    json!({
        "issuer": url, "jwks_uri": format!("{url}/keys"), "token_endpoint": format!("{url}/token"),
        "introspection_endpoint": format!("{url}/introspect"),
    })
    .to_string()
}

async fn keys(State(issuer): State<Issuer>) -> Result<String, StatusCode> {
    issuer.0.key_fetches.fetch_add(1, Ordering::SeqCst);
    // Callers that arrive meanwhile share this answer.
    tokio::task::yield_now().await;
    if let Some(status) = *issuer.0.failure.lock() {
        return Err(status);
    }
    let keys: Vec<Value> = issuer.0.keys.lock().iter().map(|key| key.jwk()).collect();
    Ok(json!({"keys": keys}).to_string())
}

async fn introspect(
    State(issuer): State<Issuer>,
    headers: HeaderMap,
    body: String,
) -> Result<String, StatusCode> {
    issuer.0.introspections.fetch_add(1, Ordering::SeqCst);
    if let Some(status) = *issuer.0.failure.lock() {
        return Err(status);
    }
    // mcp-server:s3cret
    assert_eq!(headers["authorization"], "Basic bWNwLXNlcnZlcjpzM2NyZXQ=");
    let form = form(&body);
    let opaque = issuer.0.opaque.lock();
    let answer = opaque.get(&form["token"]).cloned();
    Ok(answer.unwrap_or(json!({"active": false})).to_string())
}

async fn token(State(issuer): State<Issuer>, body: String) -> String {
    // Callers that arrive meanwhile share this answer.
    tokio::task::yield_now().await;
    let form = form(&body);
    let kind = if form.get("scope").is_some_and(|scope| scope == "offline") {
        "refresh_token"
    } else {
        "access_token"
    };
    let mut exchanges = issuer.0.exchanges.lock();
    exchanges.push(form);
    let token = format!("upstream-{}", exchanges.len());
    json!({
        "access_token": token, "token_type": "Bearer", "expires_in": 300,
        "issued_token_type": format!("urn:ietf:params:oauth:token-type:{kind}"),
    })
    .to_string()
}

fn form(body: &str) -> HashMap<String, String> {
    url::form_urlencoded::parse(body.as_bytes())
        .into_owned()
        .collect()
}
