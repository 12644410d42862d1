//! The extension of `src/budget.rs` behind a gateway that does not know it.

use std::sync::Arc;
use std::time::Duration;

use examples::budget::{Budget, Charged, Credits, GetBudget};
use mcp::gateway::{Gateway, GatewayError, GatewayServer};
use mcp::prelude::*;
use mcp::{ConnectMode, Io, StdioServer};
use mcp_testing::Pair;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(10);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

fn press() -> Server {
    Server::new("press", "1.0.0")
        .tool(Tool::new("print").handler(|| "printed"))
        .extension(Budget::of_server(1))
}

/// The transport between the gateway and the server.
#[derive(Debug, Clone, Copy)]
enum Back {
    Http,
    Pipe,
}

/// The server behind the gateway, which calls it in one era.
async fn behind(server: Server, back: Back, era: ConnectMode) -> GatewayServer {
    let server = match back {
        Back::Http => {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}/mcp", listener.local_addr().unwrap());
            tokio::spawn(async { drop(mcp::serve_http(server, listener).await) });
            GatewayServer::new("press", move |client| {
                client.mode(era.clone()).connect(url.clone())
            })
        }
        Back::Pipe => {
            let server = Arc::new(server);
            GatewayServer::new("press", move |client| {
                let (ours, theirs) = tokio::io::duplex(64 * 1024);
                let (reader, writer) = tokio::io::split(theirs);
                let server = StdioServer::new(server.clone());
                tokio::spawn(async move { drop(server.run_over(reader, writer).await) });
                let (reader, writer) = tokio::io::split(ours);
                client.mode(era.clone()).connect(Io(reader, writer))
            })
        }
    };
    server.extension(<Budget as mcp::extension::Extension>::ID, ["budget/*"])
}

async fn open(server: GatewayServer) -> Server {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.connect().await.unwrap();
    opened.server.check().unwrap();
    opened.server
}

/// Uses the request of each direction, the notification, the layer and the tool of the extension.
async fn use_extension(client: &Client, mut left: tokio::sync::watch::Receiver<u32>) {
    client.discover_if_needed().await;
    let budget = client.extension::<Budget>().unwrap();
    assert_eq!(budget.settings().credits, 1);
    left.mark_unchanged();
    let printed = client.call("press__print", ()).await.unwrap();
    assert_eq!(printed.text(), "printed");
    let notified = timeout(LIMIT, left.changed()).await;
    notified.unwrap().unwrap();
    assert_eq!(*left.borrow(), 0);
    let refused = client.call("press__print", ()).await.unwrap_err();
    assert!(
        refused.to_string().contains("no credits are left"),
        "{refused}"
    );
    let topped_up = client.call("press__top_up", ()).await.unwrap();
    assert_eq!(topped_up.text(), "3 credits");
    assert_eq!(budget.request::<GetBudget>(&()).await.unwrap().credits, 3);
}

trait DiscoverIfNeeded {
    async fn discover_if_needed(&self);
}

impl DiscoverIfNeeded for Client {
    async fn discover_if_needed(&self) {
        if self.server_capabilities().is_none() {
            self.discover().await.unwrap();
        }
    }
}

#[tokio::test]
async fn extension_passes_a_gateway_in_both_eras_over_http_and_pipes() {
    for back in [Back::Http, Back::Pipe] {
        for back_era in ERAS {
            for front in [Pair::http, Pair::stdio, Pair::messages] {
                for version in [None, Some(ProtocolVersion::V2025_11_25)] {
                    let server = behind(press(), back, back_era.clone()).await;
                    let (budget, left) = Budget::of_client(3);
                    let client = Client::builder().extension(budget);
                    let mut pair = front(open(server).await).client(client);
                    if let Some(version) = version {
                        pair = pair.revision(version);
                    }
                    let connected = pair.connect().await.unwrap();
                    let using = timeout(LIMIT, use_extension(&connected.client, left)).await;
                    using.unwrap_or_else(|_| panic!("{back:?} {back_era:?} {version:?}"));
                    connected.close().await.unwrap();
                }
            }
        }
    }
}

#[tokio::test]
async fn client_without_the_extension_gets_the_error_from_the_server() {
    for back in [Back::Http, Back::Pipe] {
        for era in ERAS {
            let server = open(behind(press(), back, era.clone()).await).await;
            let connected = Pair::http(server).connect().await.unwrap();
            let request = connected.client.request("budget/get", ());
            let error = timeout(LIMIT, request.into_future()).await.unwrap();
            let error = error.unwrap_err();
            // Legacy servers have no error code for it.
            let error = error.fault().unwrap().to_string();
            assert!(
                error.contains("does not declare"),
                "{back:?} {era:?}: {error}"
            );
            connected.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn broadcast_from_a_server_reaches_clients_at_the_gateway() {
    for back in [Back::Http, Back::Pipe] {
        for era in ERAS {
            let press = press();
            let broadcaster = press.broadcaster();
            let gateway = open(behind(press, back, era.clone()).await).await;
            let (budget, mut left) = Budget::of_client(3);
            let client = Client::builder().extension(budget);
            let pair = Pair::stdio(gateway).client(client);
            let connected = pair.revision(ProtocolVersion::V2025_11_25).connect().await;
            let connected = connected.unwrap();
            left.mark_unchanged();
            // The gateway has subscribed when its client receives the first notification.
            let notified = async {
                loop {
                    broadcaster.send::<Charged>(&Credits { credits: 7 });
                    let changed = timeout(Duration::from_millis(50), left.changed()).await;
                    if changed.is_ok() {
                        return *left.borrow();
                    }
                }
            };
            let credits = timeout(LIMIT, notified).await;
            assert_eq!(credits.unwrap_or_else(|_| panic!("{back:?} {era:?}")), 7);
            connected.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn extension_of_two_servers_does_not_open() {
    let server = |name: &str| {
        GatewayServer::new(name, |client| client.connect("http://127.0.0.1:9/mcp"))
            .extension("com.example/budget", ["budget/*"])
    };
    let gateway = Gateway::new("gateway", "1.0.0");
    let gateway = gateway.server(server("one")).server(server("two"));
    let error = gateway.connect().await.unwrap_err();
    assert!(matches!(error, GatewayError::ExtensionTaken { .. }));
    let error = error.to_string();
    assert!(
        error.contains("\"one\"") && error.contains("\"two\""),
        "{error}"
    );
    let core = GatewayServer::new("one", |client| client.connect("http://127.0.0.1:9/mcp"))
        .extension("com.example/x", ["tools/*"]);
    let error = Gateway::new("gateway", "1.0.0")
        .server(core)
        .connect()
        .await;
    assert!(matches!(error, Err(GatewayError::ExtensionReserved { .. })));
}

#[tokio::test]
async fn raw_request_passes_with_its_metadata_and_result() {
    use mcp::extension::{Method, RawExtension};
    use mcp::types::RawObject;

    for era in ERAS {
        let echo = RawExtension::new("com.example/echo", &json!({"version": 2})).requests(
            |method| method.starts_with("echo/"),
            async |params: RawObject, Method(method): Method, meta: Option<RequestMeta>| {
                let meta = meta.and_then(|meta| meta.get::<String>("com.example/region"));
                let meta = meta.unwrap_or_default();
                let params = params.as_str();
                RawObject::from_text(format!(
                    r#"{{"method":"{method}","region":"{meta}","params":{params}}}"#
                ))
                .map_err(|error| mcp::extension::RequestError::new(error.to_string()))
            },
        );
        let server = Server::new("echo", "1.0.0").extension(echo);
        let server = behind(server, Back::Http, era.clone()).await;
        let gateway = open(server.extension("com.example/echo", ["echo/*"])).await;
        let connected = Pair::http(gateway).connect().await.unwrap();
        let published = connected.client.server_capabilities().unwrap();
        let published = published.extensions.get("com.example/echo");
        assert_eq!(published, Some(&json!({"version": 2})), "{era:?}");
        let request = connected
            .client
            .request("echo/it", json!({"b": 1, "a": [2]}));
        let result = request.meta("com.example/region", "north").await.unwrap();
        let wanted = r#""method":"echo/it","region":"north","params":{"b":1,"a":[2]}}"#;
        assert!(result.as_str().ends_with(wanted), "{result:?}");
        connected.close().await.unwrap();
    }
}

#[tokio::test]
async fn file_with_an_openapi_document_is_served() {
    use axum::Router;
    use axum::extract::Path;
    use axum::routing::get;
    use mcp::gateway::config::GatewayConfig;
    use mcp::group::Variables;
    use mcp::{HttpClient, InProcess};

    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let dish = async |Path(name): Path<String>| format!("{name}: 9");
    let service = Router::new().route("/dishes/{name}", get(dish));
    tokio::spawn(async { axum::serve(listener, service).await });

    // Paths in the file are relative to it.
    let config = GatewayConfig::read("openapi/gateway.toml").unwrap();
    let variables = Variables::new().env("MENU_URL", url);
    let connect = |client: mcp::ClientBuilder, spec| client.connect(spec);
    let http = HttpClient::new().unwrap();
    let gateway = config.gateway(&variables, connect, http).unwrap();
    let opened = gateway.connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["menu__get_dish"]);
    let called = client.call("menu__get_dish", json!({"name": "soup"})).await;
    assert!(called.unwrap().text().contains("soup: 9"));
}
