//! The provider laboratory: a login at each provider of `tests/providers` by each way in, and the events of a
//! login's life.

use std::fmt::Write as _;
use std::future::ready;
use std::path::Path;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{Request, StatusCode};
use http_body_util::Full;
use mcp::gateway::{Gateway, GatewayServer};
use mcp::group::{EntryOAuth, Group, GroupConfig, ServerSpec, Variables};
use mcp::prelude::*;
use mcp::{ClientBuilder, HttpChannel, InProcess};
use mcp_auth::{AuthError, AuthStatus, ManualRedirect, MemoryStore, OAuth, ResourceServer, Scopes};
use serde_json::{Value, json};
use tower_service::Service;

use crate::facts::{Facts, READ, Refresh, Registration};
use crate::host::Host;
use crate::issuer::Key;
use crate::world::{REDIRECT_URI, Sign, World, follow};

/// A way to a protected server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// [`ClientBuilder::oauth`] and a connect.
    Connect,
    /// `Authorizer::login` before the connect.
    Login,
    /// An entry of an `mcp.json` in a group.
    Group,
    /// A server behind a gateway.
    Gateway,
    /// The host's own HTTP client.
    Host,
}

const WAYS: [Way; 5] = [
    Way::Connect,
    Way::Login,
    Way::Group,
    Way::Gateway,
    Way::Host,
];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect of a client",
            Self::Login => "`Authorizer::login`, then connect",
            Self::Group => "entry of an `mcp.json` in a group",
            Self::Gateway => "server behind a gateway",
            Self::Host => "the host's own HTTP client",
        }
    }
}

/// A user of one server. Each call is one of a new program, which finds the login in the store.
struct User {
    way: Way,
    world: World,
    store: MemoryStore,
    /// The members `oauth` of the server's entry.
    members: Value,
}

impl User {
    async fn new(facts: &Facts, way: Way) -> Self {
        let world = match way {
            Way::Host => World::in_memory_of(facts),
            _ => World::of(facts).await,
        };
        Self {
            way,
            members: world.members(),
            world,
            store: MemoryStore::new(),
        }
    }

    fn config(&self) -> GroupConfig {
        let entry = json!({"url": self.world.server, "oauth": self.members});
        let text = json!({"mcpServers": {"s": entry}}).to_string();
        GroupConfig::parse(&text, &Variables::new()).unwrap()
    }

    fn entry(&self) -> EntryOAuth {
        match self.config().servers.remove(0).spec {
            Ok(ServerSpec::Url { oauth, .. }) => oauth.unwrap(),
            other => panic!("{other:?}"),
        }
    }

    /// Settings without those of the entry. The program asks, because the user has not answered for an entry's issuer.
    fn base(&self) -> OAuth {
        let oauth = self.unconfirmed();
        if self.members.get("issuer").is_some() {
            oauth.confirm_login(|login| ready(login.is_other_endpoint))
        } else {
            oauth
        }
    }

    fn unconfirmed(&self) -> OAuth {
        let oauth = match self.way {
            Way::Host => Host::of(self.world.clone()).interactive(),
            _ => OAuth::interactive("test").redirect(ManualRedirect::new(REDIRECT_URI, follow)),
        };
        oauth.store(self.store.clone())
    }

    fn oauth(&self) -> OAuth {
        self.entry().apply(self.base())
    }

    /// Calls the tool of the server. Returns the error's text.
    async fn call(&self) -> Result<(), String> {
        let server = self.world.server.as_str();
        let text = |error: mcp::client::Error| error.to_string();
        match self.way {
            Way::Connect => {
                let client = Client::builder().oauth(self.oauth()).connect(server).await;
                ask(&client.map_err(text)?, "where").await
            }
            Way::Login => {
                let authorizer = self.oauth().authorizer(server).unwrap();
                let login = authorizer.login().await;
                login.map_err(|error| error.to_string())?;
                let client = Client::builder().authorizer(&authorizer);
                ask(&client.connect(server).await.map_err(text)?, "where").await
            }
            Way::Group => {
                let group = Group::builder()
                    .config(self.config(), Client::builder())
                    .oauth(self.base())
                    .build();
                let client = group.client("s").await.map_err(text)?;
                let asked = ask(&client, "where").await;
                group.close().await;
                asked
            }
            Way::Gateway => self.call_through_gateway().await,
            Way::Host => {
                let host = Host::of(self.world.clone());
                let authorizer = self.oauth().authorizer(server).unwrap();
                let channel = HttpChannel::with_service(server, authorizer.service(host)).unwrap();
                let client = Client::builder().connect(channel).await;
                ask(&client.map_err(text)?, "where").await
            }
        }
    }

    /// The scopes of the stored login.
    async fn stored_scopes(&self) -> Scopes {
        let authorizer = self.oauth().authorizer(&self.world.server).unwrap();
        authorizer.login().await.unwrap();
        match authorizer.status() {
            AuthStatus::LoggedIn { scopes, .. } => scopes,
            status => panic!("{status:?}"),
        }
    }

    async fn call_through_gateway(&self) -> Result<(), String> {
        let oauth = self.oauth();
        let spec = self.config().servers.remove(0).spec.unwrap();
        let ServerSpec::Url { url, .. } = spec else {
            panic!("{spec:?}");
        };
        let server = GatewayServer::new("s", move |client: ClientBuilder| {
            let (oauth, url) = (oauth.clone(), url.clone());
            async move { client.oauth(oauth).connect(url).await }
        });
        let opened = Gateway::new("gateway", "1.0.0").server(server).connect();
        let opened = opened.await.map_err(|error| error.to_string())?;
        let client = Client::connect(InProcess(opened.server)).await.unwrap();
        let asked = ask(&client, "s__where").await;
        opened.group.close().await;
        asked
    }

    fn pages(&self) -> usize {
        self.world.inner.lock().logins.len()
    }
}

async fn ask(client: &Client, tool: &str) -> Result<(), String> {
    let answer = client.call(tool, ()).await;
    let answer = answer.map_err(|error| error.to_string())?;
    match answer.text().as_str() {
        "here" => Ok(()),
        other => Err(other.to_owned()),
    }
}

/// An event in the life of a login.
struct Event {
    name: &'static str,
    must: &'static str,
    happens: fn(&World, &Facts),
    /// The calls until one succeeds, and the login pages until then.
    then: fn(&Facts) -> (usize, usize),
}

fn refreshes(facts: &Facts) -> bool {
    facts.refresh != Refresh::None
}

/// The token endpoint gives answers that are none, as often as a refresh is tried.
fn fails(world: &World, facts: &Facts, failure: (u16, &'static str)) {
    world.expire_access();
    let times = if refreshes(facts) { 3 } else { 1 };
    world.set(|inner| inner.token_failures = vec![failure; times]);
}

/// A refresh is answered, then a login page helps. Without refresh tokens, the login gets that answer.
fn after_a_refusal(facts: &Facts) -> (usize, usize) {
    if refreshes(facts) { (1, 1) } else { (2, 2) }
}

fn after_no_answer(facts: &Facts) -> (usize, usize) {
    if refreshes(facts) { (2, 0) } else { (2, 2) }
}

const EVENTS: [Event; 13] = [
    Event {
        name: "access token revoked",
        must: "it is refreshed, or the page opens",
        happens: |world, _| world.expire_access(),
        then: |facts| if refreshes(facts) { (1, 0) } else { (1, 1) },
    },
    Event {
        name: "login revoked",
        must: "the page opens",
        happens: |world, _| world.revoke_all(),
        then: |_| (1, 1),
    },
    Event {
        name: "registration purged",
        must: "the client registers once more, and the page opens; a client id of the user stays",
        happens: |world, _| {
            world.revoke_all();
            world.purge_clients();
        },
        then: |_| (1, 1),
    },
    Event {
        name: "refresh answered by 403 and a page",
        must: "the call can be tried again, and the login stays",
        happens: |world, facts| fails(world, facts, (403, "<html>")),
        then: after_no_answer,
    },
    Event {
        name: "refresh answered by 404",
        must: "the same",
        happens: |world, facts| fails(world, facts, (404, "{}")),
        then: after_no_answer,
    },
    Event {
        name: "refresh answered by 429",
        must: "the same",
        happens: |world, facts| fails(world, facts, (429, "<html>")),
        then: after_no_answer,
    },
    Event {
        name: "refresh answered by 503",
        must: "the same",
        happens: |world, facts| fails(world, facts, (503, "<html>")),
        then: after_no_answer,
    },
    Event {
        name: "connection cut during a refresh",
        must: "the same",
        happens: |world, facts| fails(world, facts, (0, "")),
        then: after_no_answer,
    },
    Event {
        name: "refresh answered by `invalid_grant` with 403",
        must: "the page opens",
        happens: |world, _| {
            world.expire_access();
            world.set(|inner| inner.token_failures = vec![(403, "invalid_grant")]);
        },
        then: after_a_refusal,
    },
    Event {
        name: "refresh answered by `invalid_client`",
        must: "as for a purged registration",
        happens: |world, _| {
            world.expire_access();
            world.set(|inner| inner.token_failures = vec![(401, "invalid_client")]);
        },
        then: after_a_refusal,
    },
    Event {
        name: "refresh answered by another OAuth error",
        must: "the page opens",
        happens: |world, _| {
            world.expire_access();
            world.set(|inner| inner.token_failures = vec![(400, "invalid_scope")]);
        },
        then: after_a_refusal,
    },
    Event {
        name: "challenge with other metadata and scopes",
        must: "they are used for the page",
        happens: |world, _| {
            world.revoke_all();
            let url = format!("{}/elsewhere", world.server.trim_end_matches("/mcp"));
            world.set(|inner| {
                inner.challenge_scope = Some("files:read");
                inner.challenge_extra = format!(", resource_metadata=\"{url}\"");
                inner.metadata_path = "/elsewhere";
            });
        },
        then: |_| (1, 1),
    },
    Event {
        name: "further scope demanded (step-up)",
        must: "the page opens once",
        happens: |world, _| world.set(|inner| inner.demanded = Some("write")),
        then: |_| (1, 1),
    },
];

/// Lets an event happen to a user who is logged in, and calls until a call succeeds.
async fn live_through(event: &Event, facts: &Facts, way: Way) {
    let context = format!("{}, {way:?}: {}", facts.provider, event.name);
    let user = User::new(facts, way).await;
    let first = user.call().await;
    first.unwrap_or_else(|error| panic!("{context}: {error}"));
    let before = user.pages();
    (event.happens)(&user.world, facts);
    let expected = match (event.then)(facts) {
        // A user who asks for a login gets the page, also if a refresh has no answer.
        (2, 0) if way == Way::Login => (1, 1),
        expected => expected,
    };
    let mut errors = Vec::new();
    while let Err(error) = user.call().await {
        errors.push(error);
        assert!(errors.len() < 3, "{context}: {errors:?}");
    }
    let pages = user.pages() - before;
    // A gateway starts its servers again by itself.
    let calls = match way {
        Way::Gateway => expected.0,
        _ => errors.len() + 1,
    };
    assert_eq!((calls, pages), expected, "{context}: {errors:?}");
    if event.name.starts_with("challenge") {
        let scopes = user.world.inner.lock().logins.last().cloned().unwrap();
        assert!(scopes.contains("files:read"), "{context}: {scopes}");
    }
    // The login is whole again.
    user.call()
        .await
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    assert_eq!(user.pages() - before, pages, "{context}");
    user.world.assert_no_mistakes();
}

#[tokio::test]
async fn every_way_in_logs_in_at_every_provider() {
    for facts in Facts::all() {
        for way in WAYS {
            let user = User::new(&facts, way).await;
            for _ in 0..2 {
                let called = user.call().await;
                called.unwrap_or_else(|error| panic!("{}, {way:?}: {error}", facts.provider));
            }
            assert_eq!(user.pages(), 1, "{}, {way:?}", facts.provider);
            user.world.assert_no_mistakes();
            let scopes = user.stored_scopes().await;
            assert!(
                scopes.contains("basic"),
                "{}, {way:?}: {scopes}",
                facts.provider
            );
        }
    }
}

#[tokio::test]
async fn issuer_in_an_entry_does_not_vouch_for_other_sites() {
    for facts in Facts::all().iter().filter(|facts| facts.elsewhere) {
        let user = User::new(facts, Way::Login).await;
        let server = user.world.server.as_str();
        let log_in = async |oauth: OAuth| oauth.authorizer(server).unwrap().login().await;
        let named = user.unconfirmed().issuer(&user.world.issuer);
        for refused in [
            user.unconfirmed(),
            named.clone().issuer("https://a.example"),
        ] {
            let error = log_in(user.entry().apply(refused)).await.unwrap_err();
            assert!(
                matches!(error, AuthError::ForeignEndpoint { .. }),
                "{}: {error}",
                facts.provider
            );
        }
        assert_eq!(user.pages(), 0);
        // The program has named the same one.
        log_in(user.entry().apply(named)).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn every_event_ends_well_at_every_provider() {
    for facts in Facts::all() {
        for event in &EVENTS {
            live_through(event, &facts, Way::Connect).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_event_ends_well_by_every_way_in() {
    for facts in Facts::three() {
        for event in &EVENTS {
            for way in WAYS {
                live_through(event, &facts, way).await;
            }
        }
    }
}

#[tokio::test]
async fn programs_at_once_refresh_once_at_every_provider() {
    for facts in Facts::all().iter().filter(|facts| refreshes(facts)) {
        let user = User::new(facts, Way::Connect).await;
        user.call().await.unwrap();
        user.world.expire_access();
        let (one, other) = tokio::join!(user.call(), user.call());
        one.and(other)
            .unwrap_or_else(|error| panic!("{}: {error}", facts.provider));
        assert_eq!(
            (user.world.refreshes(), user.pages()),
            (1, 1),
            "{}",
            facts.provider
        );
        user.world.assert_no_mistakes();
    }
}

#[tokio::test]
async fn accounts_at_one_server_are_kept_apart_at_every_provider() {
    for facts in Facts::all() {
        let mut user = User::new(&facts, Way::Connect).await;
        for (account, pages) in [("ada", 1), ("bob", 2), ("ada", 2), ("bob", 2)] {
            user.members["account"] = json!(account);
            user.call().await.unwrap();
            assert_eq!(user.pages(), pages, "{}: {account}", facts.provider);
        }
    }
}

/// The authorization server replaces its signing key: the protected server fetches the new one for a refreshed
/// token, refuses tokens of the old one from then on, and no page opens.
#[tokio::test]
async fn replaced_key_is_fetched_at_every_provider() {
    for facts in Facts::all() {
        let name = &facts.provider;
        let user = User::new(&facts, Way::Connect).await;
        let sign_with = |id: &str| {
            let key = Key::new(id);
            let keys = json!({"keys": [key.jwk()]});
            let sign: Sign = Arc::new(move |claims| key.token(claims));
            user.world.set(|inner| inner.signing = Some((keys, sign)));
        };
        sign_with("first");
        let auth = ResourceServer::new(&user.world.server).issuer(&user.world.issuer);
        let service = auth.build().unwrap().protect(user.world.mcp.clone());
        let status = async |token: &str| {
            let request = Request::post("/mcp").header("authorization", format!("Bearer {token}"));
            let request = request.body(Full::new(Bytes::from_static(b"{}"))).unwrap();
            service.clone().call(request).await.unwrap().status()
        };
        user.call().await.unwrap();
        let old = user.world.inner.lock().last_access.clone();
        assert_ne!(status(&old).await, StatusCode::UNAUTHORIZED, "{name}");
        sign_with("second");
        user.world.expire_access();
        user.call().await.unwrap();
        let new = user.world.inner.lock().last_access.clone();
        assert_ne!(status(&new).await, StatusCode::UNAUTHORIZED, "{name}");
        assert_eq!(status(&old).await, StatusCode::UNAUTHORIZED, "{name}");
        let pages = if refreshes(&facts) { 1 } else { 2 };
        assert_eq!(user.pages(), pages, "{name}");
        user.world.assert_no_mistakes();
    }
}

/// A clock that is wrong by five minutes, to either side.
#[tokio::test]
async fn wrong_clock_opens_no_page_at_any_provider() {
    for facts in Facts::all().iter().filter(|facts| refreshes(facts)) {
        for shift in [-300, 300] {
            let user = User::new(facts, Way::Connect).await;
            user.call().await.unwrap();
            let server = user.world.server.as_str();
            let authorizer = user.oauth().authorizer(server).unwrap();
            let mut credentials = user.world.credentials();
            if !facts.registers() {
                credentials.client_id = crate::world::GIVEN.to_owned();
            }
            credentials.client_secret = facts
                .registered
                .get("client_secret")
                .map(|_| "canary-secret".into());
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            credentials.expires_at = Some(now.unwrap().as_secs().saturating_add_signed(shift));
            authorizer.import(credentials).await.unwrap();
            user.call()
                .await
                .unwrap_or_else(|error| panic!("{}: {error}", facts.provider));
            assert_eq!(user.pages(), 1, "{} {shift}", facts.provider);
        }
    }
}

/// Each fact names its source, or is marked.
#[test]
fn facts_have_sources_or_are_marked() {
    let explained = ["provider", "read", "unverified"];
    for (facts, (path, file)) in Facts::all().iter().zip(Facts::files()) {
        assert!(!facts.read.is_empty(), "{}", path.display());
        for fact in file.as_object().unwrap().keys() {
            let is_marked = facts.unverified.contains(fact);
            let is_explained = explained.contains(&fact.as_str()) || facts.is_read(fact);
            assert!(is_marked != is_explained, "{}: {fact}", path.display());
        }
    }
}

#[test]
fn page_about_providers_and_events_is_up_to_date() {
    let mut page = format!(
        "## Providers\n\nEach file of `mcp-auth/tests/providers` is a model of one provider. Each fact names the public \
         source in which it was read ({READ}). A fact without one is named, and has a question mark; a report that differs \
         corrects the file. The settings are members of `oauth` in an `mcp.json`, and flags of `mcp login`.\n\n\
         | provider | settings | what differs | sources |\n|---|---|---|---|\n",
    );
    for facts in Facts::all() {
        let sources = facts.read.keys().map(|url| {
            let shown = url.trim_start_matches("https://").trim_end_matches('/');
            let host = shown.split('/').next().unwrap();
            format!("[{host}]({url})")
        });
        let mut sources = sources.collect::<Vec<_>>().join(", ");
        if !facts.unverified.is_empty() {
            let names = facts.unverified.iter().map(|fact| format!("`{fact}`"));
            let names = names.collect::<Vec<_>>().join(", ");
            write!(sources, "; without a source: {names}").unwrap();
        }
        let (provider, settings, differs) = (&facts.provider, settings(&facts), differs(&facts));
        writeln!(page, "| {provider} | {settings} | {differs} | {sources} |").unwrap();
    }
    page.push_str(
        "\n## Ways to log in\n\nA user logs in at each provider by each way, and calls a tool twice.\n\n\
         | way | each provider | each event |\n|---|---|---|\n",
    );
    for way in WAYS {
        let name = way.name();
        writeln!(page, "| {name} | yes | three providers that differ |").unwrap();
    }
    page.push_str("| `mcp login` | yes | three events at three providers |\n");
    let providers = Facts::all();
    writeln!(
        page,
        "\n## Events of a login\n\nEach event happens at each of the {} providers. The numbers are the calls until one \
         succeeds, and the login pages until then.\n\n| event | then | calls, pages |\n|---|---|---|",
        providers.len()
    )
    .unwrap();
    for event in &EVENTS {
        let (name, must) = (event.name, event.must);
        writeln!(
            page,
            "| {name} | {must} | {} |",
            outcomes(event, &providers)
        )
        .unwrap();
    }
    for (name, must) in [
        ("signing key replaced", "the server fetches the keys"),
        ("two programs refresh at once", "one refresh"),
        ("clock wrong by five minutes", "no page opens"),
        ("two accounts at one server", "`account` keeps them apart"),
    ] {
        writeln!(page, "| {name} | {must} | |").unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/world.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (start, end) = (
        "<!-- providers: written by `UPDATE_PAGES=1 cargo test -p omnimcp-auth providers` -->\n\n",
        "\n<!-- end of providers -->\n",
    );
    let section = format!("{start}{page}{end}");
    let current = text
        .find(start)
        .map(|at| (at, text.find(end).unwrap() + end.len()));
    if current.is_some_and(|(from, to)| text[from..to] == section) {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_PAGES").is_some(),
        "docs/world.md is out of date"
    );
    let updated = match current {
        Some((from, to)) => format!("{}{section}{}", &text[..from], &text[to..]),
        None => format!("{text}\n{section}"),
    };
    std::fs::write(&path, updated).unwrap();
}

/// Returns the calls and pages of an event, with the providers where they differ from those of most.
fn outcomes(event: &Event, providers: &[Facts]) -> String {
    let mut groups: Vec<((usize, usize), Vec<&str>)> = Vec::new();
    for facts in providers {
        let outcome = (event.then)(facts);
        match groups.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, names)) => names.push(&facts.provider),
            None => groups.push((outcome, vec![&facts.provider])),
        }
    }
    groups.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    let shown = groups.iter().enumerate().map(|(index, (outcome, names))| {
        let (calls, pages) = outcome;
        match index {
            0 => format!("{calls}, {pages}"),
            _ => format!("{calls}, {pages} ({})", names.join(", ")),
        }
    });
    shown.collect::<Vec<_>>().join("; ")
}

/// Returns the settings that a provider needs from its user.
fn settings(facts: &Facts) -> String {
    let mut all = Vec::new();
    if !facts.registers() {
        all.push("`clientId`");
    }
    if facts.secret {
        all.push("`clientSecret`");
    }
    if !facts.registers() && (facts.localhost || facts.exact_redirect) {
        all.push("`redirectUri`");
    }
    if facts.hides_pkce {
        all.push("`allowMissingPkce`");
    }
    if facts.refuses_resource {
        all.push("`omitResource`");
    }
    if facts.elsewhere {
        all.push("`issuer`");
    }
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}

fn differs(facts: &Facts) -> String {
    let all = [
        (
            facts.registration == Registration::Refused,
            "registration",
            "registers programs that it knows",
        ),
        (facts.openid, "openid", "metadata of OpenID Connect"),
        (
            facts.issuer_slash,
            "issuer_slash",
            "the issuer ends in a slash",
        ),
        (
            facts.elsewhere,
            "elsewhere",
            "token endpoint at another site",
        ),
        (facts.hides_pkce, "hides_pkce", "does not announce PKCE"),
        (
            facts.refuses_resource,
            "refuses_resource",
            "refuses `resource`",
        ),
        (
            facts.localhost,
            "localhost",
            "redirects to `localhost`, with any port",
        ),
        (
            facts.exact_redirect,
            "exact_redirect",
            "redirects with the registered port",
        ),
        (facts.id_in_form, "id_in_form", "client id in the form"),
        (
            facts.one_method,
            "one_method",
            "no client id in the form beside other authentication",
        ),
        (facts.commas, "commas", "scopes separated by commas"),
        (
            facts.token_type.is_some(),
            "token_type",
            "a token type of its own",
        ),
        (facts.iss, "iss", "`iss` in redirects"),
        (
            facts.refresh == Refresh::Keeps,
            "refresh",
            "a refresh token is used again",
        ),
        (
            facts.refresh == Refresh::Renews,
            "refresh",
            "old refresh tokens stay valid",
        ),
        (
            facts.refresh == Refresh::None,
            "refresh",
            "no refresh token",
        ),
        (
            facts.refusal.status != 400,
            "refusal",
            "refuses refresh tokens with a status of its own",
        ),
    ];
    let all = all
        .into_iter()
        .filter(|(is_so, ..)| *is_so)
        .map(|(_, fact, text)| {
            let mark = if facts.is_read(fact) { "" } else { " (?)" };
            format!("{text}{mark}")
        });
    all.collect::<Vec<_>>().join("; ")
}
