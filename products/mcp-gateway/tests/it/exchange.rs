//! Servers that are called in the name of the callers of a gateway.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Form, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use mcp::auth::{ResourceServer, StaticTokens, TokenExchange};
use mcp::core::Exchange;
use mcp::extension::{RawExtension, RequestError};
use mcp::gateway::config::GatewayConfig;
use mcp::gateway::{Gateway, GatewayError, GatewayServer};
use mcp::group::Variables;
use mcp::http::Serve;
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::types::{CacheHint, CompleteParams, CompletionReference, Meta, RawObject};
use mcp::{Principal, RequestMeta};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::kit::LogLines;

/// The token endpoint of an authorization server, and the requests that it has received.
#[derive(Clone, Default)]
struct Issuer {
    url: String,
    requests: Arc<Mutex<Vec<HashMap<String, String>>>>,
}

impl Issuer {
    async fn start() -> Self {
        let (listener, url) = listen("").await;
        let issuer = Self {
            url,
            ..Self::default()
        };
        let app = Router::new()
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        issuer
    }
}

async fn metadata(State(issuer): State<Issuer>) -> Json<Value> {
    let url = &issuer.url;
    Json(json!({"issuer": url, "token_endpoint": format!("{url}/token")}))
}

/// Gives `crm-of-NAME` for `gateway-of-NAME`, except to eve.
async fn token(
    State(issuer): State<Issuer>,
    Form(form): Form<HashMap<String, String>>,
) -> (StatusCode, Json<Value>) {
    let caller = form["subject_token"].strip_prefix("gateway-of-").unwrap();
    let answer = match caller {
        "eve" => {
            let error = json!({"error": "invalid_grant", "error_description": "eve-is-unknown"});
            (StatusCode::BAD_REQUEST, Json(error))
        }
        caller => {
            let token = json!({
                "access_token": format!("crm-of-{caller}"), "token_type": "Bearer", "expires_in": 300,
                "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
            });
            (StatusCode::OK, Json(token))
        }
    };
    issuer.requests.lock().push(form);
    answer
}

async fn listen(path: &str) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}{path}", listener.local_addr().unwrap());
    (listener, url)
}

fn tokens(prefix: &str) -> StaticTokens {
    let names = ["ada", "bob", "eve", "gateway", "mallory"];
    // The server behind the gateway does not know mallory.
    let names = match prefix {
        "crm" => &names[..4],
        _ => &names,
    };
    names.iter().fold(StaticTokens::new(), |tokens, name| {
        tokens.token(format!("{prefix}-of-{name}"), *name, ["use"])
    })
}

/// The arguments of the prompt.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Mail {
    to: String,
}

/// The server behind the gateway: its URL, and the subjects of the tokens of its requests. It takes no
/// other tokens than those that are for it.
struct Crm {
    url: String,
    callers: Arc<Mutex<Vec<String>>>,
    /// The caller, the parameters and the `_meta` of each notification.
    seen: Seen,
}

type Seen = Arc<Mutex<Vec<(String, String, Meta)>>>;

/// An extension whose notifications are recorded.
fn notes(seen: &Seen) -> RawExtension {
    let seen = seen.clone();
    RawExtension::new("com.example/notes", &json!({})).notifications(
        |method| method == "notifications/notes/seen",
        move |params: RawObject, Identity(caller): Identity<Principal>, meta: RequestMeta| {
            let note = (caller.subject, params.as_str().to_owned(), meta.0);
            seen.lock().push(note);
            async { Ok::<_, RequestError>(()) }
        },
    )
}

impl Crm {
    async fn start() -> Self {
        let callers: Arc<Mutex<Vec<_>>> = Arc::default();
        let (seen, notified) = (callers.clone(), Seen::default());
        let record = from_fn(move |exchange: Exchange, next: Next| {
            let caller: &Principal = exchange.extensions.get().unwrap();
            seen.lock().push(caller.subject.clone());
            async move { next.run(exchange).await }
        });
        let who = |Identity(caller): Identity<Principal>| caller.subject;
        let read = |Identity(caller): Identity<Principal>| caller.subject;
        let slow = async |Identity(caller): Identity<Principal>| caller.subject;
        let server = Server::new("crm", "1.0.0")
            .tool(Tool::new("who").handler(who))
            .tool(Tool::new("slow").handler(slow).task(TaskMode::Always))
            .tasks(Tasks::in_memory())
            .resource(Resource::new("crm://me").read(read))
            .resource(
                Resource::new("crm://cached")
                    .read(read)
                    .cache(CacheHint::public(Duration::from_secs(60))),
            )
            .prompt(
                Prompt::new("mail")
                    .handler(|Args(mail): Args<Mail>| mail.to)
                    .completion("to", |Identity(caller): Identity<Principal>, _: Prefix| {
                        vec![caller.subject]
                    }),
            )
            .extension(notes(&notified))
            .layer(record);
        let (listener, url) = listen("/mcp").await;
        let auth = ResourceServer::new(&url).static_tokens(tokens("crm"));
        tokio::spawn(Serve::new(server).authorize(auth).run(listener));
        Self {
            url,
            callers,
            seen: notified,
        }
    }

    /// The server behind a gateway, whose lists have the token of the gateway itself.
    fn behind(&self, mode: &ConnectMode, exchange: &TokenExchange) -> GatewayServer {
        let (url, mode) = (self.url.clone(), mode.clone());
        let server = GatewayServer::new("crm", move |client| {
            let client = client.mode(mode.clone()).bearer_token("crm-of-gateway");
            client.connect(url.clone())
        });
        server.token_exchange(exchange.clone(), &self.url, ["contacts", "mail"])
    }
}

/// Serves a gateway, whose handlers may have the tokens of callers.
async fn serve(gateway: Gateway, keeps_tokens: bool) -> String {
    let opened = gateway.connect().await.unwrap();
    let (listener, url) = listen("/mcp").await;
    let auth = ResourceServer::new(&url).static_tokens(tokens("gateway"));
    let auth = if keeps_tokens {
        auth.keep_access_token()
    } else {
        auth
    };
    tokio::spawn(Serve::new(opened.server).authorize(auth).run(listener));
    url
}

async fn client(url: &str, name: &str) -> Client {
    let builder = Client::builder().bearer_token(format!("gateway-of-{name}"));
    builder.connect(url).await.unwrap()
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn calls_carry_a_token_for_their_caller() {
    // spec: AUTH-S-06
    let lines = LogLines::default();
    let _guard = lines.record();
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(&issuer.url, "gateway", "s3cret").unwrap();
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let crm = Crm::start().await;
        let gateway = Gateway::new("gateway", "1.0.0");
        let gateway = gateway.server(crm.behind(&mode, &exchange));
        let url = serve(gateway, true).await;
        for name in ["ada", "bob", "ada"] {
            let client = client(&url, name).await;
            let who = client.call("crm__who", ()).await.unwrap();
            assert_eq!(who.text(), name, "{mode:?}");
            let read = client.read_resource("crm://me").await.unwrap();
            assert_eq!(read.text(), name, "{mode:?}");
            let reference = CompletionReference::prompt("crm__mail");
            let completed = client.complete(CompleteParams::new(reference, "to", ""));
            assert_eq!(completed.await.unwrap().completion.values, [name]);
            client
                .get_prompt("crm__mail", json!({"to": "x"}))
                .await
                .unwrap();
        }
        let seen = crm.callers.lock().clone();
        let count = |name: &str| seen.iter().filter(|call| **call == name).count();
        assert_eq!((count("ada"), count("bob")), (8, 4), "{seen:?}");
        // Lists have no caller.
        assert_eq!(count("gateway"), seen.len() - 12, "{seen:?}");
        assert!(count("gateway") >= 3, "{seen:?}");

        let eve = client(&url, "eve").await;
        let refused = eve.call("crm__who", ()).await.unwrap_err().to_string();
        assert!(refused.contains("gives the gateway no token"), "{refused}");
        assert!(!refused.contains("eve-is-unknown"), "{refused}");
        let mallory = client(&url, "mallory").await;
        let refused = mallory.call("crm__who", ()).await.unwrap_err().to_string();
        let expected = "the server \"crm\" refuses the credentials of this caller";
        assert!(refused.contains(expected), "{mode:?}: {refused}");
    }
    let requests = issuer.requests.lock().clone();
    // One for each caller and server, and those of eve.
    let callers: Vec<_> = requests
        .iter()
        .map(|request| &*request["subject_token"])
        .collect();
    let once = ["ada", "bob", "eve", "mallory"].map(|name| format!("gateway-of-{name}"));
    assert_eq!(callers, [once.clone(), once].concat());
    assert_eq!(requests[0]["scope"], "contacts mail");
    assert!(requests[0]["resource"].starts_with("http://127.0.0.1:"));
    let log = lines.text();
    assert!(log.contains("eve-is-unknown"), "{log}");
    assert!(!log.contains("crm-of-") && !log.contains("s3cret"), "{log}");
}

/// The gateway reads for all callers with one client, whose cache must not answer one caller with what another has read.
#[tokio::test]
async fn cached_result_for_one_caller_does_not_reach_another() {
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(&issuer.url, "gateway", "s3cret").unwrap();
    let crm = Crm::start().await;
    let gateway = Gateway::new("gateway", "1.0.0");
    let gateway = gateway.server(crm.behind(&ConnectMode::Auto, &exchange));
    let url = serve(gateway, true).await;
    for name in ["ada", "bob", "ada"] {
        let client = client(&url, name).await;
        let read = client.read_resource("crm://cached").await.unwrap();
        assert_eq!(read.text(), name);
    }
    let callers = crm.callers.lock();
    assert_eq!(callers.iter().filter(|name| **name == "ada").count(), 1);
}

#[tokio::test]
async fn task_belongs_to_its_caller_at_the_server() {
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(&issuer.url, "gateway", "s3cret").unwrap();
    let crm = Crm::start().await;
    let gateway = Gateway::new("gateway", "1.0.0");
    let gateway = gateway.server(crm.behind(&ConnectMode::Auto, &exchange));
    let url = serve(gateway, true).await;
    for name in ["ada", "bob"] {
        let client = Client::builder().tasks();
        let client = client.bearer_token(format!("gateway-of-{name}"));
        let client = client.connect(&url).await.unwrap();
        let task = client.call("crm__slow", ()).start().await.unwrap();
        assert!(task.id().is_some());
        assert_eq!(task.result().await.unwrap().text(), name);
    }
}

#[tokio::test]
async fn notifications_carry_the_caller_token_and_metadata() {
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(&issuer.url, "gateway", "s3cret").unwrap();
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let crm = Crm::start().await;
        let behind = crm.behind(&mode, &exchange);
        let behind = behind.extension("com.example/notes", ["notifications/notes/*"]);
        let gateway = Gateway::new("gateway", "1.0.0").server(behind);
        let url = serve(gateway, true).await;
        for (name, front) in [("ada", ConnectMode::Auto), ("bob", ConnectMode::Legacy)] {
            let client = Client::builder()
                .mode(front)
                .extension(("com.example/notes", ()));
            let client = client.bearer_token(format!("gateway-of-{name}"));
            let client = client.connect(&url).await.unwrap();
            let note = client.notify("notifications/notes/seen", json!({"page": name}));
            let note = note
                .meta("traceparent", trace)
                .meta("com.example/region", "north");
            // The client cannot set keys of the protocol.
            note.meta("progressToken", 7).await.unwrap();
            let arrived = async {
                while !crm.seen.lock().iter().any(|(caller, ..)| caller == name) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            };
            let arrived = tokio::time::timeout(Duration::from_secs(10), arrived).await;
            assert!(arrived.is_ok(), "{mode:?} {name}: {:?}", crm.seen.lock());
        }
        let seen = crm.seen.lock().clone();
        assert_eq!(seen.len(), 2);
        for (caller, params, meta) in seen {
            assert_eq!(params, format!(r#"{{"page":"{caller}"}}"#));
            assert_eq!(
                meta.get::<String>("traceparent").unwrap(),
                trace,
                "{mode:?}"
            );
            assert_eq!(meta.get::<String>("com.example/region").unwrap(), "north");
            assert!(!meta.contains_key("progressToken"));
        }
    }
}

#[tokio::test]
async fn callers_without_a_token_are_refused() {
    let issuer = Issuer::start().await;
    let exchange = TokenExchange::new(&issuer.url, "gateway", "s3cret").unwrap();
    let crm = Crm::start().await;
    let gateway = Gateway::new("gateway", "1.0.0");
    let gateway = gateway.server(crm.behind(&ConnectMode::Auto, &exchange));
    let url = serve(gateway, false).await;
    let ada = client(&url, "ada").await;
    let refused = ada.call("crm__who", ()).await.unwrap_err().to_string();
    assert!(refused.contains("log in to the gateway"), "{refused}");
    assert!(issuer.requests.lock().is_empty());
}

#[tokio::test]
async fn token_exchange_in_a_file_gets_tokens_for_the_server_url() {
    let (issuer, crm) = (Issuer::start().await, Crm::start().await);
    let (login, url) = (&issuer.url, &crm.url);
    let config = GatewayConfig::parse(&format!(
        r#"
        [servers.crm]
        url = "{url}"
        headers = {{ Authorization = "Bearer crm-of-gateway" }}
        token_exchange = {{ issuer = "{login}", client_id = "gateway", client_secret = "${{SECRET}}" }}
        "#
    ));
    let config = config.unwrap();
    let variables = Variables::new().env("SECRET", "s3cret");
    let gateway = config.gateway(
        &variables,
        |client, spec| client.connect(spec),
        mcp::HttpClient::new().unwrap(),
    );
    let gateway = gateway.unwrap();
    let shown = format!("{gateway:?} {config:?}");
    assert!(
        !shown.contains("s3cret") && !shown.contains("crm-of"),
        "{shown}"
    );
    let ada = client(&serve(gateway, true).await, "ada").await;
    let who = ada.call("crm__who", ()).await.unwrap();
    assert_eq!(who.text(), "ada");
    let requests = issuer.requests.lock().clone();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0]["resource"], *url);
    assert!(!requests[0].contains_key("scope"));
}

#[tokio::test]
async fn callers_share_no_session() {
    let exchange = TokenExchange::new("https://login.example.com", "gateway", "s3cret").unwrap();
    let crm = GatewayServer::new("crm", |client| client.connect("http://127.0.0.1:9/mcp"));
    let crm = crm.token_exchange(exchange, "http://127.0.0.1:9/mcp", ["use"]);
    let opened = Gateway::new("gateway", "1.0.0").server(crm.share_sessions());
    let Err(GatewayError::SharedSession { server, .. }) = opened.connect().await.map(drop) else {
        panic!("the settings contradict each other");
    };
    assert_eq!(&*server, "crm");
}
