//! Server cards over HTTP: published by `Serve`, found by `discover_domain`.

use axum::Router;
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::response::IntoResponse;
use axum::routing::get;
use http::StatusCode;
use mcp::http::client::{DiscoveryError, discover_domain, fetch_card};
use mcp::prelude::*;
use mcp::types::ext::server_card::{CardRemote, ServerCard};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const CATALOG: &str = "/.well-known/ai-catalog.json";

fn card() -> ServerCard {
    ServerCard::new("com.example/docs", "1.0.0", "Documents")
        .remote(CardRemote::streamable_http("https://mcp.example.com/mcp"))
}

async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let domain = listener.local_addr().unwrap().to_string();
    (listener, domain)
}

/// Serves routes. Returns the domain.
async fn web(app: Router) -> String {
    let (listener, domain) = listener().await;
    tokio::spawn(axum::serve(listener, app).into_future());
    domain
}

fn json_route(document: Value) -> axum::routing::MethodRouter {
    get(move || {
        let body = document.to_string();
        async move { ([(CONTENT_TYPE, "application/json")], body) }
    })
}

fn entry(url: &str) -> Value {
    json!({"identifier": url, "type": "application/mcp-server-card+json", "url": url})
}

#[tokio::test]
async fn card_for_a_served_server_is_found() {
    let (listener, domain) = listener().await;
    let server = Server::new("docs", "1.0.0");
    let serve = mcp::http::Serve::new(server)
        .card(card())
        .shutdown_on(std::future::pending());
    tokio::spawn(serve.run(listener));
    let found = discover_domain(&domain).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].identifier, "urn:air:example.com:mcp:docs");
    assert_eq!(*found[0].card.as_ref().unwrap(), card());
    let url = format!("http://{domain}/mcp/server-card");
    assert_eq!(fetch_card(&url).await.unwrap(), card());
    // The endpoint itself still answers.
    let client = Client::connect(format!("http://{domain}/mcp"))
        .await
        .unwrap();
    assert_eq!(client.server_info().unwrap().name, "docs");
}

#[tokio::test]
async fn invalid_card_is_an_error_at_start() {
    let (listener, _) = listener().await;
    let card = ServerCard::new("docs", "1", "d");
    let error = mcp::http::Serve::new(Server::new("docs", "1"))
        .card(card)
        .run(listener)
        .await
        .unwrap_err();
    assert!(error.to_string().contains("`name` must be like"), "{error}");
}

#[tokio::test]
async fn cards_in_a_catalog_do_not_affect_each_other() {
    let (listener, domain) = listener().await;
    let own = |path: &str| format!("http://{domain}{path}");
    let catalog = json!({"specVersion": "1.0", "entries": [
        entry(&own("/good")),
        entry("http://169.254.169.254/latest"),
        entry("https://other.example/card"),
        entry(&own("/moved")),
        entry(&own("/invalid")),
        entry(&own("/large")),
        {"identifier": "other", "type": "application/a2a-agent-card+json", "url": "x"},
        {"identifier": "none", "type": "application/mcp-server-card+json"},
    ]});
    let moved = || async { (StatusCode::FOUND, [(LOCATION, "/good")]).into_response() };
    let app = Router::new()
        .route(CATALOG, json_route(catalog))
        .route("/good", json_route(serde_json::to_value(card()).unwrap()))
        .route("/moved", get(moved))
        .route(
            "/invalid",
            json_route(json!({"$schema": "s", "name": "x", "version": "1", "description": "d"})),
        )
        .route("/large", json_route(json!("x".repeat(300 * 1024))));
    tokio::spawn(axum::serve(listener, app).into_future());
    let found = discover_domain(&domain).await.unwrap();
    let outcomes: Vec<_> = found.iter().map(|server| server.card.as_ref()).collect();
    assert_eq!(outcomes.len(), 7);
    assert_eq!(*outcomes[0].unwrap(), card());
    let failed = |index: usize| outcomes[index].unwrap_err();
    assert!(matches!(failed(1), DiscoveryError::InvalidDomain(_)));
    assert!(matches!(failed(2), DiscoveryError::OtherHost(_)));
    assert!(matches!(
        failed(3),
        DiscoveryError::Status { status: 302, .. }
    ));
    assert!(matches!(failed(4), DiscoveryError::InvalidCard { .. }));
    assert!(matches!(failed(5), DiscoveryError::Request { .. }));
    assert!(matches!(failed(6), DiscoveryError::Malformed { .. }));
}

#[tokio::test]
async fn catalog_at_the_older_path_is_read() {
    let card = serde_json::to_value(card()).unwrap();
    let catalog = json!({"specVersion": "draft", "entries": [
        {"identifier": "a", "type": "application/mcp-server-card+json", "data": card},
    ]});
    let domain =
        web(Router::new().route("/.well-known/mcp/catalog.json", json_route(catalog))).await;
    let found = discover_domain(&domain).await.unwrap();
    assert!(found[0].card.is_ok());
}

#[tokio::test]
async fn domain_without_catalog_is_an_error() {
    let domain = web(Router::new()).await;
    let error = discover_domain(&domain).await.unwrap_err();
    assert!(
        matches!(error, DiscoveryError::Status { status: 404, .. }),
        "{error}"
    );
    let page = Router::new().route(CATALOG, get(|| async { "<html>" }));
    let error = discover_domain(&web(page).await).await.unwrap_err();
    assert!(
        error.to_string().contains("content type is not JSON"),
        "{error}"
    );
    for domain in ["", "example.com/x", "user@example.com"] {
        let error = discover_domain(domain).await.unwrap_err();
        assert!(matches!(error, DiscoveryError::InvalidDomain(_)), "{error}");
    }
}

/// Requests a document without a token. Returns the status and the body.
#[cfg(feature = "auth")]
async fn fetch(url: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let (domain, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = tokio::net::TcpStream::connect(domain).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {domain}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap();
    (status.parse().unwrap(), body.to_owned())
}

#[cfg(feature = "auth")]
#[tokio::test]
async fn protected_server_has_a_public_card_and_a_private_endpoint() {
    use mcp::auth::{ResourceServer, StaticTokens};
    use mcp::http::server::CardService;

    let resource = |domain: &str| {
        let tokens = StaticTokens::new().token("secret", "ada", ["read"]);
        ResourceServer::new(format!("http://{domain}/mcp")).static_tokens(tokens)
    };
    // Once by this library's server, and once in a web application.
    let (plain, own_domain) = listener().await;
    let serve = mcp::http::Serve::new(Server::new("docs", "1.0.0"))
        .authorize(resource(&own_domain))
        .card(card())
        .shutdown_on(std::future::pending());
    tokio::spawn(serve.run(plain));
    let (in_app, app_domain) = listener().await;
    let auth = resource(&app_domain).build().unwrap();
    let cards = CardService::new(&card(), "/mcp").unwrap();
    let endpoint = StreamableHttp::new(Server::new("docs", "1.0.0"));
    let app = cards
        .paths()
        .iter()
        .fold(Router::new(), |app, path| {
            app.route_service(path, cards.clone())
        })
        .route_service("/mcp", auth.protect(endpoint));
    tokio::spawn(axum::serve(in_app, app).into_future());

    for domain in [own_domain, app_domain] {
        let url = |path: &str| format!("http://{domain}{path}");
        let (status, catalog) = fetch(&url(CATALOG)).await;
        assert_eq!(status, 200);
        assert!(catalog.contains("com.example/docs"), "{catalog}");
        let (status, body) = fetch(&url("/mcp/server-card")).await;
        assert_eq!(status, 200);
        let found: ServerCard = serde_json::from_str(&body).unwrap();
        assert_eq!(found, card());
        let found = discover_domain(&domain).await.unwrap();
        assert_eq!(*found[0].card.as_ref().unwrap(), card());
        assert_eq!(fetch(&url("/mcp")).await.0, 401);
        let refused = Client::connect(url("/mcp")).await.unwrap_err();
        assert!(refused.to_string().contains("401"), "{refused}");
        let builder = Client::builder().bearer_token("secret");
        let client = builder.connect(url("/mcp")).await.unwrap();
        assert_eq!(client.server_info().unwrap().name, "docs");
    }
}
