//! Logins of connected clients.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use mcp::Group;
use mcp::auth::{AuthError, AuthStatus, Authorizer, OAuth};
use mcp::group::{GroupConfig, Variables};
use mcp::prelude::*;
use mcp::types::ClientCapabilities;
use mcp::{ClientBuilder, HttpChannel};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const CREDENTIALS: &str = "io.modelcontextprotocol/oauth-client-credentials";

/// The tokens of an authorization server.
#[derive(Clone, Default)]
struct Issued {
    valid: Arc<Mutex<HashSet<String>>>,
    count: Arc<Mutex<usize>>,
    /// The credentials and the form of each token request.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Issued {
    fn issue(&self) -> String {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        let token = format!("token-{count}");
        self.valid.lock().unwrap().insert(token.clone());
        token
    }

    fn count(&self) -> usize {
        *self.count.lock().unwrap()
    }

    fn valid(&self) -> usize {
        self.valid.lock().unwrap().len()
    }
}

/// An MCP server with authorization, and its authorization server at the same origin.
async fn start() -> (String, Issued) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let issued = Issued::default();
    let resource = json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]});
    let issuer = json!({
        "issuer": base,
        "token_endpoint": format!("{base}/token"),
        "revocation_endpoint": format!("{base}/revoke"),
        "token_endpoint_auth_methods_supported": ["client_secret_basic"],
    });
    let token = |State(issued): State<Issued>, headers: HeaderMap, form: String| async move {
        let credentials = headers[AUTHORIZATION].to_str().unwrap();
        let request = format!("{credentials} {form}");
        issued.requests.lock().unwrap().push(request);
        let token = issued.issue();
        respond(&json!({"access_token": token, "token_type": "Bearer", "expires_in": 3600}))
    };
    let revoke = |State(issued): State<Issued>, form: String| async move {
        let mut valid = issued.valid.lock().unwrap();
        valid.retain(|token| !form.contains(token));
    };
    let sent = |headers: Headers| {
        let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        format!("{:?} {:?}", value("authorization"), value("x-tenant"))
    };
    let server = Server::new("protected", "1.0.0")
        .tool(Tool::new("declared").handler(|client: ClientInfo| {
            client.capabilities().has_extension(CREDENTIALS).to_string()
        }))
        .tool(Tool::new("sent").handler(sent));
    let protected = Router::new()
        .route_service("/mcp", StreamableHttp::new(server))
        .layer(from_fn_with_state(issued.clone(), check));
    let app = Router::new()
        .route("/token", post(token))
        .route("/revoke", post(revoke))
        .with_state(issued.clone())
        .route(
            "/.well-known/oauth-protected-resource/mcp",
            get(move || async move { respond(&resource) }),
        )
        .route(
            "/.well-known/oauth-authorization-server",
            get(move || async move { respond(&issuer) }),
        )
        .merge(protected);
    tokio::spawn(async move { axum::serve(listener, app).await });
    (format!("{base}/mcp"), issued)
}

fn respond(body: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn check(State(issued): State<Issued>, request: Request, next: Next) -> Response {
    let header = request.headers().get(AUTHORIZATION);
    let token = header.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let is_valid = token.is_some_and(|token| issued.valid.lock().unwrap().contains(token));
    if is_valid {
        next.run(request).await
    } else {
        StatusCode::UNAUTHORIZED.into_response()
    }
}

fn machine() -> OAuth {
    OAuth::client_credentials("service", "secret")
}

#[tokio::test]
async fn connected_client_logs_out_and_in() {
    let (url, issued) = start().await;
    let client = Client::builder()
        .oauth(machine())
        .connect(&url)
        .await
        .unwrap();
    let status = |client: &Client| client.authorizer().map(Authorizer::status);
    let is_logged_in =
        |client: &Client| matches!(status(client), Some(AuthStatus::LoggedIn { .. }));
    assert!(is_logged_in(&client.clone()));
    client.list_tools().await.unwrap();
    client.login().await.unwrap();
    assert_eq!(issued.count(), 1);

    client.logout().await.unwrap();
    assert_eq!(status(&client), Some(AuthStatus::LoggedOut));
    assert_eq!(issued.valid(), 0);

    client.login().await.unwrap();
    assert!(is_logged_in(&client));
    assert_eq!(issued.count(), 2);
    client.logout().await.unwrap();
    // A call that needs authorization logs in again.
    client.call("declared", ()).await.unwrap();
    assert_eq!(issued.count(), 3);
    client.close().await.unwrap();
}

#[tokio::test]
async fn extension_for_the_grant_is_declared() {
    let (url, _issued) = start().await;
    let authorizer = machine().authorizer(&url).unwrap();
    let own: ClientBuilder = Client::builder().extension(("com.example/own", ()));
    for mode in [ConnectMode::Auto, ConnectMode::Legacy] {
        let builder = own.clone().authorizer(&authorizer).mode(mode);
        let client = builder.connect(&url).await.unwrap();
        assert_eq!(client.call("declared", ()).await.unwrap().text(), "true");
        client.close().await.unwrap();
    }
    let interactive = OAuth::interactive("agent").authorizer(&url).unwrap();
    assert_eq!(interactive.extension_id(), None);
}

#[tokio::test]
async fn client_without_authorization_has_no_status() {
    let (url, issued) = start().await;
    let token = issued.issue();
    let builder = Client::builder().bearer_token(token);
    let channel = HttpChannel::new(&url).unwrap();
    let client = builder.connect(channel).await.unwrap();
    assert!(client.authorizer().is_none());
    assert_eq!(client.call("declared", ()).await.unwrap().text(), "false");
    for error in [
        client.login().await.unwrap_err(),
        client.logout().await.unwrap_err(),
    ] {
        let reason = error.authorization();
        assert!(matches!(reason, Some(AuthError::Settings(_))), "{error}");
    }
    client.close().await.unwrap();
}

type Setter = Box<dyn Fn(ClientBuilder) -> ClientBuilder>;

/// Connects with the settings in rotated orders, forwards and backwards, and returns what the server receives. Of any two
/// settings, each is set before the other in one of the orders.
async fn sent_in_both_orders_of_two(url: &str, setters: &[Setter]) -> HashSet<String> {
    let mut sent = HashSet::new();
    let mut pairs = HashSet::new();
    for first in 0..setters.len() {
        for reversed in [false, true] {
            let mut order: Vec<usize> = (0..setters.len()).collect();
            order.rotate_left(first);
            if reversed {
                order.reverse();
            }
            for (at, earlier) in order.iter().enumerate() {
                pairs.extend(order[at + 1..].iter().map(|later| (*earlier, *later)));
            }
            let builder = order
                .into_iter()
                .fold(Client::builder(), |builder, at| setters[at](builder));
            let client = builder.connect(url).await.unwrap();
            let declared = client.call("declared", ()).await.unwrap().text();
            let headers = client.call("sent", ()).await.unwrap().text();
            sent.insert(format!("{declared} {headers}"));
            client.close().await.unwrap();
        }
    }
    assert_eq!(pairs.len(), setters.len() * (setters.len() - 1));
    sent
}

#[tokio::test]
async fn security_settings_hold_in_both_orders_of_two() {
    let (url, issued) = start().await;
    let caller = issued.issue();
    let authorizer = machine().authorizer(&url).unwrap();
    authorizer.login().await.unwrap();
    let login = || -> Setter {
        let authorizer = authorizer.clone();
        Box::new(move |builder| builder.authorizer(&authorizer))
    };
    let others = || -> [Setter; 3] {
        [
            Box::new(|builder| builder.header("x-tenant", "acme")),
            Box::new(|builder| builder.capabilities(ClientCapabilities::default())),
            Box::new(|builder| builder.timeout(Duration::from_secs(20)).principal("ada")),
        ]
    };
    let mut setters = vec![login()];
    setters.extend(others());
    let sent = sent_in_both_orders_of_two(&url, &setters).await;
    let expected = r#"true Some("Bearer token-2") Some("acme")"#;
    assert_eq!(sent, HashSet::from([expected.to_owned()]));

    // The token of the caller wins over the login, the header and the other token.
    let credentials = HeaderValue::try_from(format!("Bearer {caller}")).unwrap();
    let mut setters: Vec<Setter> = vec![
        login(),
        Box::new(move |builder| builder.authorization(credentials.clone())),
        Box::new(|builder| builder.bearer_token("other")),
    ];
    setters.extend(others());
    let sent = sent_in_both_orders_of_two(&url, &setters).await;
    let expected = r#"true Some("Bearer token-1") Some("acme")"#;
    assert_eq!(sent, HashSet::from([expected.to_owned()]));
}

#[tokio::test]
async fn login_holds_over_a_channel_with_settings() {
    let (url, issued) = start().await;
    let channel = HttpChannel::new(&url).unwrap();
    let channel = channel.header("x-tenant", "acme").unwrap();
    let builder = Client::builder().oauth(machine());
    let client = builder.connect(channel).await.unwrap();
    let sent = client.call("sent", ()).await.unwrap().text();
    assert_eq!(sent, r#"Some("Bearer token-1") Some("acme")"#);
    assert_eq!(issued.count(), 1);
    client.close().await.unwrap();
}

#[tokio::test]
async fn target_without_http_refuses_a_login() {
    let builder = || Client::builder().oauth(machine());
    let server = || Server::new("local", "1.0.0");
    let mark = std::env::temp_dir().join(format!("mcp-login-{}", std::process::id()));
    let command = mcp::ServerCommand::new("touch").args([mark.as_os_str()]);
    let (reader, writer) = tokio::io::split(tokio::io::empty());
    for (connected, peer) in [
        (builder().connect(command).await, "a command"),
        (builder().connect(Io(reader, writer)).await, "a pipe"),
        (
            builder().connect(mcp::InProcess(server())).await,
            "a server in this process",
        ),
    ] {
        let error = connected.unwrap_err();
        let reason = error.authorization();
        assert!(matches!(reason, Some(AuthError::Settings(_))), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("needs a URL") && text.contains(peer),
            "{text}"
        );
    }
    assert!(!mark.exists(), "the command was started");
}

#[tokio::test]
async fn authorizer_for_another_server_is_refused() {
    let (url, issued) = start().await;
    let authorizer = machine().authorizer(&url).unwrap();
    let other = url.replace("/mcp", "/other?key=hidden");
    let builder = Client::builder().authorizer(&authorizer);
    let error = builder.connect(&other).await.unwrap_err();
    let reason = error.authorization();
    assert!(matches!(reason, Some(AuthError::Settings(_))), "{error}");
    assert!(!error.to_string().contains("hidden"), "{error}");
    assert_eq!(issued.count(), 0);
}

fn config(file: &Value) -> GroupConfig {
    GroupConfig::parse(&file.to_string(), &Variables::new()).unwrap()
}

#[tokio::test]
async fn group_logs_in_to_its_servers_over_http_only() {
    let (url, issued) = start().await;
    let issuer = url.strip_suffix("/mcp").unwrap();
    let token = issued.issue();
    let file = json!({"mcpServers": {
        "file": {"url": url},
        "header": {"url": url, "headers": {"Authorization": format!("Bearer {token}")}},
        "command": {"command": "mcp-no-such-program"},
    }});
    // The order of the calls does not matter.
    let group = Group::builder()
        .target("url", url.clone(), Client::builder())
        .oauth(machine().issuer(issuer))
        .config(config(&file), Client::builder())
        .target(
            "process",
            mcp::InProcess(Server::new("local", "1.0.0")),
            Client::builder(),
        )
        .build();
    let sent = async |server: &str| {
        let client = group.client(server).await.unwrap();
        client.call("sent", ()).await.unwrap().text()
    };
    for server in ["url", "file"] {
        assert_eq!(sent(server).await, r#"Some("Bearer token-2") None"#);
    }
    assert_eq!(sent("header").await, r#"Some("Bearer token-1") None"#);
    let process = group.client("process").await.unwrap();
    assert!(process.authorizer().is_none());
    let error = group.client("command").await.unwrap_err();
    assert!(error.authorization().is_none(), "{error}");
    // A server that starts again uses its token.
    group.client("url").await.unwrap().close().await.unwrap();
    let starts_again = async || group.client("url").await.is_ok();
    while !starts_again().await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(issued.count(), 2);
    group.close().await;
    // A login of the file's client is for its servers with a URL as well.
    let group = Group::builder()
        .config(
            config(&file),
            Client::builder().oauth(machine().issuer(issuer)),
        )
        .build();
    assert!(group.client("file").await.is_ok());
    let error = group.client("command").await.unwrap_err();
    assert!(error.authorization().is_none(), "{error}");
}

#[tokio::test]
async fn entry_in_a_file_has_its_own_registration() {
    let (url, issued) = start().await;
    let oauth = json!({"clientId": "registered", "clientSecret": "s3cret", "scopes": "notes"});
    let file = json!({"mcpServers": {"a": {"url": url, "oauth": oauth}, "b": {"url": url}}});
    let group = Group::builder()
        .config(config(&file), Client::builder())
        .oauth(machine())
        .build();
    assert!(group.client("a").await.is_ok());
    let requests = issued.requests.lock().unwrap().clone();
    let [request] = requests.as_slice() else {
        panic!("{requests:?}");
    };
    assert!(
        request.starts_with("Basic cmVnaXN0ZXJlZDpzM2NyZXQ= "),
        "{request}"
    );
    assert!(request.contains("scope=notes"), "{request}");
    // The secret of the group goes to an authorization server that the program names.
    for oauth in [
        machine(),
        OAuth::token(|| async { Ok::<_, String>("t0ken") }),
    ] {
        let group = Group::builder()
            .target("b", url.clone(), Client::builder())
            .oauth(oauth)
            .build();
        let error = group.client("b").await.unwrap_err();
        let reason = error.authorization();
        assert!(matches!(reason, Some(AuthError::Settings(_))), "{error}");
    }
    let error = group.client("b").await.unwrap_err();
    assert!(error.to_string().contains("add .issuer(…)"), "{error}");
    assert_eq!(issued.count(), 1);
}
