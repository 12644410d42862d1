//! Settings of security: each one holds for every grant and in every order of the setters.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp::StreamableHttp;
use mcp::prelude::*;
use mcp_auth::{
    Algorithm, AuthError, AuthStatus, Dpop, Egress, Introspection, Limits, ManualRedirect,
    MemoryStore, OAuth, PrivateKey, ResourceServer, Zone,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};
use tower_service::Service;

use crate::issuer::{Issuer, now};
use crate::machine::{enterprise, identity_provider};
use crate::protected::call;
use crate::world::{Inner, REDIRECT_URI, World, follow, reason};

type Setter = Box<dyn Fn(OAuth) -> OAuth>;

/// A way to obtain tokens: its constructor, and the setters that a program adds.
struct Case {
    name: &'static str,
    start: Box<dyn Fn() -> OAuth>,
    setters: Vec<Setter>,
}

fn case(
    name: &'static str,
    start: impl Fn() -> OAuth + 'static,
    setters: impl IntoIterator<Item = Setter>,
) -> Case {
    Case {
        name,
        start: Box::new(start),
        setters: setters.into_iter().collect(),
    }
}

impl Case {
    /// The settings with `setter` at each position between the other setters.
    fn with(&self, setter: impl Fn(OAuth) -> OAuth) -> impl Iterator<Item = (String, OAuth)> {
        (0..=self.setters.len()).map(move |position| {
            let (before, after) = self.setters.split_at(position);
            let oauth = before.iter().fold((self.start)(), |oauth, set| set(oauth));
            let oauth = after.iter().fold(setter(oauth), |oauth, set| set(oauth));
            (format!("{} {position}", self.name), oauth)
        })
    }
}

fn key() -> PrivateKey {
    let algorithm = &ECDSA_P256_SHA256_FIXED_SIGNING;
    let der = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).unwrap();
    let body = STANDARD.encode(der.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
    PrivateKey::from_pem(&pem).unwrap()
}

fn workload() -> OAuth {
    OAuth::workload(|| async { Ok::<_, std::io::Error>("canary-assertion") })
}

/// Every grant with every kind of client.
fn grants(idp: &str) -> Vec<Case> {
    let redirect = || -> Setter {
        Box::new(|oauth| oauth.redirect(ManualRedirect::new(REDIRECT_URI, follow)))
    };
    let id = || -> Setter { Box::new(|oauth| oauth.client_id("given")) };
    let secret = || -> Setter { Box::new(|oauth| oauth.client_secret("given", "canary-secret")) };
    let signed = || -> Setter { Box::new(|oauth| oauth.client_key("given", key())) };
    let described = || -> Setter {
        Box::new(|oauth| oauth.client_metadata_url("https://app.example/client.json"))
    };
    let scopes = || -> Setter { Box::new(|oauth| oauth.scopes(["basic"])) };
    let interactive = || OAuth::interactive("test");
    let device = || OAuth::device("test", |_| std::future::ready(Ok(())));
    let idp = idp.to_owned();
    vec![
        case("interactive", interactive, [redirect()]),
        case("interactive id", interactive, [id(), redirect()]),
        case("interactive secret", interactive, [redirect(), secret()]),
        case("interactive key", interactive, [signed(), redirect()]),
        case(
            "interactive document",
            interactive,
            [redirect(), described()],
        ),
        case("device", device, [scopes()]),
        case("device secret", device, [secret()]),
        case(
            "client credentials",
            || OAuth::client_credentials("given", "canary-secret"),
            [scopes()],
        ),
        case(
            "client credentials, other secret",
            || OAuth::client_credentials("other", "canary-secret"),
            [secret(), scopes()],
        ),
        case(
            "client credentials jwt",
            || OAuth::client_credentials_jwt("given", key()),
            [scopes()],
        ),
        case("workload", workload, [scopes()]),
        case("workload id", workload, [id()]),
        case("workload secret", workload, [secret(), scopes()]),
        case("workload key", workload, [signed()]),
        case("enterprise", move || enterprise(idp.clone()), [scopes()]),
    ]
}

#[tokio::test]
async fn foreign_issuer_gets_no_request_in_any_grant() {
    let (world, foreign) = (World::start().await, World::start().await);
    let device = format!("{}/device", foreign.issuer);
    foreign.set(|inner| {
        inner.extra = json!({
            "device_authorization_endpoint": device,
            "client_id_metadata_document_supported": true,
        });
    });
    let claims = json!({"aud": world.issuer, "client_id": "mcp-client", "resource": world.server});
    let idp = identity_provider(claims).await;
    for case in grants(&idp) {
        for (name, oauth) in case.with(|oauth| oauth.issuer(&world.issuer)) {
            world.set(|inner| inner.authorization_servers = vec![foreign.issuer.clone()]);
            let authorizer = oauth.authorizer(&world.server).unwrap();
            let error = reason(world.post(&authorizer).await.unwrap_err());
            assert!(
                matches!(error, AuthError::ClientIssuer { .. }),
                "{name}: {error}"
            );
            assert!(error.to_string().contains(&foreign.issuer), "{error}");
            let paths = foreign.inner.lock().paths.clone();
            assert!(paths.is_empty(), "{name}: {paths:?}");
            // The same settings work with the right authorization server.
            world.set(|inner| {
                inner.authorization_servers = vec![foreign.issuer.clone(), world.issuer.clone()];
            });
            // The authorization server of these tests waits for a user, or does not know the key.
            let is_unknown = name.starts_with("device") || name.starts_with("interactive key");
            if !is_unknown {
                assert_eq!(world.post(&authorizer).await.unwrap(), 200, "{name}");
            }
        }
    }
    assert!(foreign.inner.lock().paths.is_empty());
    assert!(!world.inner.lock().token_requests.is_empty());
}

#[tokio::test]
async fn issuer_holds_for_servers_without_metadata() {
    let app = axum::Router::new().fallback(|request: axum::extract::Request| async move {
        let is_call = request.uri().path() == "/mcp";
        assert!(
            is_call || request.uri().path().starts_with("/.well-known/"),
            "{}",
            request.uri()
        );
        if is_call {
            http::StatusCode::UNAUTHORIZED
        } else {
            http::StatusCode::NOT_FOUND
        }
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    for oauth in [
        workload().issuer("https://login.example"),
        OAuth::client_credentials("given", "canary-secret").issuer("https://login.example"),
    ] {
        let error = oauth
            .authorizer(&server)
            .unwrap()
            .login()
            .await
            .unwrap_err();
        assert!(matches!(error, AuthError::ClientIssuer { .. }), "{error}");
    }
}

#[tokio::test]
async fn stored_tokens_of_a_foreign_issuer_are_not_used() {
    let (world, foreign) = (World::start().await, World::start().await);
    world.set(|inner| {
        inner.authorization_servers = vec![foreign.issuer.clone()];
        // The endpoint knows no tokens of the other world.
        inner.is_open = true;
    });
    let oauth = world
        .interactive()
        .store(MemoryStore::new())
        .client_secret("given", "canary-secret");
    let before = oauth.authorizer(&world.server).unwrap();
    before.login().await.unwrap();
    assert_eq!(foreign.inner.lock().token_requests.len(), 1);

    world.set(|inner| {
        inner.authorization_servers = vec![world.issuer.clone()];
        inner.is_open = false;
    });
    let pinned = oauth.issuer(&world.issuer);
    let authorizer = world.login(&pinned).await;
    let AuthStatus::LoggedIn { issuer, .. } = authorizer.status() else {
        panic!("{:?}", authorizer.status());
    };
    assert_eq!(issuer, world.issuer);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    authorizer.logout().await.unwrap();
    let inner = foreign.inner.lock();
    assert_eq!(inner.token_requests.len(), 1);
    assert!(inner.revoked.is_empty());
}

#[test]
fn settings_without_effect_are_refused() {
    let token = || OAuth::token(|| async { Ok::<_, std::io::Error>("token") });
    for (oauth, expected) in [
        (workload(), "add .issuer(…)"),
        (workload().client_id("given"), "add .issuer(…)"),
        (workload().issuer("login.example"), "must be a URL"),
        (
            token().issuer("https://login.example"),
            ".issuer(…) has no effect",
        ),
        (token().client_id("given"), ".client_id(…) has no effect"),
        (token().dpop(Dpop::Optional), ".dpop(…) has no effect"),
    ] {
        let error = oauth.authorizer("https://mcp.example/mcp").unwrap_err();
        assert!(matches!(error, AuthError::Settings(_)), "{error}");
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// A setting that ends a login, and the error.
struct Strict {
    name: &'static str,
    set: fn(OAuth) -> OAuth,
    prepare: fn(&mut Inner, &str),
    is_expected: fn(&AuthError) -> bool,
}

const STRICT: &[Strict] = &[
    Strict {
        name: "issuer",
        set: |oauth| oauth.issuer("https://login.example"),
        prepare: |_, _| {},
        is_expected: |error| matches!(error, AuthError::ClientIssuer { .. }),
    },
    Strict {
        name: "dpop",
        set: |oauth| oauth.dpop(Dpop::Required),
        prepare: |_, _| {},
        is_expected: |error| matches!(error, AuthError::NoDpop { .. }),
    },
    Strict {
        name: "egress",
        set: |oauth| oauth.egress(Egress::default().zone(Zone::Public)),
        prepare: |_, _| {},
        is_expected: |error| matches!(error, AuthError::Egress { .. }),
    },
    Strict {
        name: "limits",
        set: |oauth| {
            let mut limits = Limits::default();
            limits.body = 16;
            oauth.limits(limits)
        },
        prepare: |_, _| {},
        is_expected: |error| matches!(error, AuthError::TooLarge { .. }),
    },
    Strict {
        name: "confirm_login",
        set: |oauth| oauth.confirm_login(|_| std::future::ready(false)),
        prepare: |_, _| {},
        is_expected: |error| matches!(error, AuthError::NotConfirmed { .. }),
    },
    Strict {
        name: "max_scopes",
        set: |oauth| oauth.max_scopes(["basic"]),
        prepare: |inner, _| inner.demanded = Some("admin"),
        is_expected: |error| matches!(error, AuthError::ScopeNotAllowed { .. }),
    },
    Strict {
        name: "legacy_endpoints",
        set: |oauth| oauth.legacy_endpoints(false),
        prepare: |inner, _| inner.publishes_nothing = true,
        is_expected: |error| matches!(error, AuthError::NoMetadata { .. }),
    },
];

#[tokio::test]
async fn strict_client_settings_hold_in_every_order() {
    let neutral: Vec<Setter> = vec![
        Box::new(|oauth| oauth.redirect(ManualRedirect::new(REDIRECT_URI, follow))),
        Box::new(|oauth| oauth.client_secret("given", "canary-secret")),
        Box::new(|oauth| oauth.client_metadata_url("https://app.example/client.json")),
        Box::new(|oauth| oauth.scopes(["basic"]).offline_access(false)),
        Box::new(|oauth| oauth.store(MemoryStore::new()).account("ann")),
        Box::new(|oauth| oauth.allow_missing_pkce("https://other.example")),
    ];
    let case = case("interactive", || OAuth::interactive("test"), neutral);
    for strict in STRICT {
        let world = World::start().await;
        world.set(|inner| (strict.prepare)(inner, &world.issuer));
        for (name, oauth) in case.with(strict.set) {
            let error = match oauth.authorizer(&world.server) {
                Ok(authorizer) => reason(world.post(&authorizer).await.unwrap_err()),
                Err(error) => error,
            };
            let name = format!("{} in {name}", strict.name);
            assert!((strict.is_expected)(&error), "{name}: {error}");
        }
    }
    let world = World::start().await;
    for (name, oauth) in case.with(|oauth| oauth) {
        let authorizer = oauth.authorizer(&world.server).unwrap();
        assert_eq!(world.post(&authorizer).await.unwrap(), 200, "{name}");
    }
}

type ServerSetter = fn(ResourceServer) -> ResourceServer;

const RESOURCE: &str = "http://localhost/mcp";

/// A setting that refuses a token, the claims in which that token differs, and the status.
type ServerStrict = (&'static str, ServerSetter, fn() -> Value, u16);

const SERVER_STRICT: &[ServerStrict] = &[
    (
        "algorithms",
        |auth| auth.algorithms([Algorithm::Rs256]),
        || json!({}),
        401,
    ),
    (
        "strict_token_type",
        ResourceServer::strict_token_type,
        || json!({}),
        401,
    ),
    (
        "required_scopes",
        |auth| auth.required_scopes(["files:write"]),
        || json!({}),
        403,
    ),
    (
        "scope_claims",
        |auth| auth.scope_claims(["roles"]),
        || json!({}),
        403,
    ),
    (
        "clock_skew",
        |auth| auth.clock_skew(0),
        || json!({"iat": now() + 20}),
        401,
    ),
    ("dpop", |auth| auth.dpop(Dpop::Required), || json!({}), 401),
    (
        "introspection",
        |auth| auth.introspection(Introspection::new("mcp-server", "s3cret")),
        || json!({}),
        401,
    ),
];

#[tokio::test]
async fn strict_server_settings_hold_in_every_order() {
    let issuer = Issuer::start().await;
    let url = issuer.url().to_owned();
    let neutral: Vec<Box<dyn Fn(ResourceServer) -> ResourceServer>> = vec![
        Box::new(move |auth| auth.issuer(url.clone())),
        Box::new(|auth| auth.audience("api://mcp").scopes(["files:read"])),
        Box::new(|auth| auth.scope_implies("admin", ["files:read"])),
        Box::new(|auth| auth.suggested_scopes(["files:read"]).owns_origin()),
        Box::new(|auth| auth.limits(Limits::default()).egress(Egress::default())),
        Box::new(|auth| auth.keep_access_token().name("files")),
    ];
    let status = async |strict: ServerSetter, position: usize, change: &Value| {
        let (before, after) = neutral.split_at(position);
        let auth = ResourceServer::new(RESOURCE);
        let auth = before.iter().fold(auth, |auth, set| set(auth));
        let auth = after.iter().fold(strict(auth), |auth, set| set(auth));
        let tool = Tool::new("read").handler(|| "read").scopes(["files:read"]);
        let endpoint = StreamableHttp::new(Server::new("s", "1").tool(tool));
        let mut service = auth.build().unwrap().protect(endpoint);
        let mut claims = issuer.claims("ada", RESOURCE, "files:read");
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
        }
        let header = json!({"alg": "ES256", "typ": "JWT", "kid": "first"});
        let token = issuer.key().sign(&header, &claims);
        let request = call(&format!("Bearer {token}"), "read", json!({}));
        service.call(request).await.unwrap().status().as_u16()
    };
    for position in 0..=neutral.len() {
        for (name, strict, change, expected) in SERVER_STRICT {
            let found = status(*strict, position, &change()).await;
            assert_eq!(found, *expected, "{name} at {position}");
            assert_eq!(
                status(|auth| auth, position, &change()).await,
                200,
                "{name}"
            );
        }
    }
}
