//! Grants without a user, and proofs of possession.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use mcp_auth::{AuthError, Dpop, EnterpriseIdp, MemoryStore, OAuth, PrivateKey};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};

use crate::world::{World, reason};

// spec: CC-01
#[tokio::test]
async fn client_secret_gets_a_token_and_renews_it() {
    let world = World::start().await;
    let oauth = OAuth::client_credentials("service", "canary-secret");
    let authorizer = oauth.authorizer(&world.server).unwrap();
    for _ in 0..2 {
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        world.expire_access();
    }
    let inner = world.inner.lock();
    assert!(inner.logins.is_empty());
    assert_eq!(inner.token_requests.len(), 2);
    let form = &inner.token_requests[0];
    assert_eq!(form["grant_type"], "client_credentials");
    assert_eq!(form["basic"], "canary-secret");
    assert_eq!(form["resource"], world.server);
    assert_eq!(form["scope"], "basic");
}

// spec: CC-01
#[tokio::test]
async fn client_key_signs_an_assertion_for_the_issuer() {
    let world = World::start().await;
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let body = STANDARD.encode(key.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    let key = PrivateKey::from_pem(&pem).unwrap().key_id("k1");
    let oauth = OAuth::client_credentials_jwt("service", key);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let inner = world.inner.lock();
    let form = &inner.token_requests[0];
    assert!(!form.contains_key("client_id") && !form.contains_key("client_secret"));
    let parts: Vec<Value> = form["client_assertion"]
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap())
        .collect();
    assert_eq!(parts[0], json!({"typ": "JWT", "alg": "ES256", "kid": "k1"}));
    assert_eq!(parts[1]["iss"], "service");
    assert_eq!(parts[1]["sub"], "service");
    assert_eq!(parts[1]["aud"], world.issuer.as_str());
    assert_eq!(
        parts[1]["exp"].as_u64(),
        parts[1]["iat"].as_u64().map(|iat| iat + 60)
    );
}

// spec: WIF-01, WIF-02
#[tokio::test]
async fn workload_reads_its_assertion_for_each_exchange() {
    let world = World::start().await;
    let reads = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&reads);
    let oauth = OAuth::workload(move || {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, std::io::Error>(format!("canary-assertion-{number}\n")) }
    })
    .issuer(&world.issuer);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    for _ in 0..2 {
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
        world.expire_access();
    }
    let inner = world.inner.lock();
    let sent: Vec<_> = inner
        .token_requests
        .iter()
        .map(|form| &form["assertion"])
        .collect();
    assert_eq!(sent, ["canary-assertion-0", "canary-assertion-1"]);
    assert!(!inner.token_requests[0].contains_key("scope"));
    assert!(!inner.token_requests[0].contains_key("client_id"));
}

#[tokio::test]
async fn refused_assertion_is_not_tried_again() {
    let world = World::start().await;
    let oauth = OAuth::workload(|| async { Ok::<_, std::io::Error>("expired".to_owned()) });
    let oauth = oauth.issuer(&world.issuer);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::TokenRejected(_)), "{error}");
    assert_eq!(world.inner.lock().token_requests.len(), 1);
    assert!(world.inner.lock().logins.is_empty());
}

// spec: DPOP-01, DPOP-02
#[tokio::test]
async fn proofs_are_new_and_bound_to_token_and_nonce() {
    let world = World::start().await;
    world.set(|inner| {
        inner.dpop = true;
        inner.nonce = Some("nonce-1".to_owned());
    });
    let oauth = world.interactive().dpop(Dpop::Required);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    for _ in 0..3 {
        assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    }
    // A refresh keeps the key.
    world.expire_access();
    world.set(|inner| inner.nonce = Some("nonce-2".to_owned()));
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn server_without_proofs_is_refused_or_accepted_by_the_setting() {
    let world = World::start().await;
    let required = world.interactive().dpop(Dpop::Required);
    let authorizer = required.authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::NoDpop { .. }), "{error}");
    let preferred = world.interactive().dpop(Dpop::Optional);
    let authorizer = preferred.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn refreshed_or_stored_bearer_token_fails_if_proof_is_required() {
    let world = World::start().await;
    let store = MemoryStore::new();
    let bearer = world.interactive().store(store.clone());
    let login = bearer.authorizer(&world.server).unwrap().login().await;
    login.unwrap();
    world.set(|inner| inner.dpop = true);
    let required = bearer.dpop(Dpop::Required);
    let authorizer = required.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(
        world.inner.lock().logins.len(),
        2,
        "the stored token is not used"
    );
    world.expire_access();
    world.set(|inner| inner.dpop = false);
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::NoDpop { .. }), "{error}");
    assert_eq!(world.refreshes(), 1);
}

/// An identity provider that issues one assertion.
pub(crate) async fn identity_provider(claims: Value) -> String {
    let encode = |value: Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = encode(json!({"typ": "oauth-id-jag+jwt", "alg": "ES256"}));
    let assertion = format!("{header}.{}.c2ln", encode(claims));
    let answer = json!({
        "issued_token_type": "urn:ietf:params:oauth:token-type:id-jag",
        "access_token": assertion,
        "token_type": "N_A",
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/token", listener.local_addr().unwrap());
    let app = axum::Router::new().fallback(move |form: String| async move {
        let form: HashMap<String, String> = url::form_urlencoded::parse(form.as_bytes())
            .into_owned()
            .collect();
        let is_exchange = [
            (
                "grant_type",
                "urn:ietf:params:oauth:grant-type:token-exchange",
            ),
            (
                "requested_token_type",
                "urn:ietf:params:oauth:token-type:id-jag",
            ),
            ("subject_token", "canary-id-token"),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:id_token",
            ),
            ("client_id", "idp-client"),
        ];
        let has = |(name, value): (&str, &str)| form.get(name).is_some_and(|own| own == value);
        let has_audience = form
            .get("audience")
            .is_some_and(|own| own.starts_with("http"));
        let refused = json!({"error": "invalid_request"}).to_string();
        match is_exchange.into_iter().all(has) && has_audience {
            true => (http::StatusCode::OK, answer.to_string()),
            false => (http::StatusCode::BAD_REQUEST, refused),
        }
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

pub(crate) fn enterprise(idp: String) -> OAuth {
    let id_token = || async { Ok::<_, std::io::Error>("canary-id-token".to_owned()) };
    let idp = EnterpriseIdp::new(idp, "idp-client", id_token);
    OAuth::enterprise(idp).client_secret("mcp-client", "canary-secret")
}

// spec: EMA-02, EMA-03
#[tokio::test]
async fn enterprise_assertion_is_redeemed_without_a_login() {
    let world = World::start().await;
    let claims = json!({"aud": world.issuer, "client_id": "mcp-client", "resource": world.server});
    let oauth = enterprise(identity_provider(claims).await);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let inner = world.inner.lock();
    let form = &inner.token_requests[0];
    assert_eq!(
        form["grant_type"],
        "urn:ietf:params:oauth:grant-type:jwt-bearer"
    );
    assert_eq!(form["basic"], "canary-secret");
    assert!(!form.contains_key("resource") && !form.contains_key("scope"));
    assert!(inner.logins.is_empty());
}

#[tokio::test]
async fn enterprise_assertion_for_another_server_is_not_redeemed() {
    let world = World::start().await;
    for claims in [
        json!({"aud": "https://evil.example", "client_id": "mcp-client"}),
        json!({"aud": world.issuer, "client_id": "other"}),
        json!({"aud": world.issuer, "client_id": "mcp-client", "resource": "https://evil.example"}),
    ] {
        let oauth = enterprise(identity_provider(claims).await);
        let authorizer = oauth.authorizer(&world.server).unwrap();
        let error = reason(world.post(&authorizer).await.unwrap_err());
        assert!(matches!(error, AuthError::Malformed { .. }), "{error}");
    }
    assert!(world.inner.lock().token_requests.is_empty());
}
