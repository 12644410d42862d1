//! Servers that start at their first call, stop when they are not called, and are started again.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use futures::future::join_all;
use mcp::gateway::config::GatewayConfig;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayError, GatewayServer};
use mcp::group::{Group, Health, ServerSpec, Variables};
use mcp::prelude::*;
use mcp::types::{ElicitResult, ProtocolVersion};
use mcp::{ConnectMode, InProcess, Io, StdioServer};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::kit::{LogLines, Order};

const LIMIT: Duration = Duration::from_secs(10);
const IDLE: Duration = Duration::from_secs(60);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

/// A file in a folder that is removed with this.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// The file with the lists of the server `shop`.
    fn new(test: &str) -> Self {
        let folder = format!("mcp-gateway-{test}-{}", std::process::id());
        let server = GatewayServer::new("shop", |client| client.connect("shop"));
        let server = server.store_lists(std::env::temp_dir().join(folder));
        Self(server.lists_file().unwrap().to_owned())
    }

    /// Returns a server with the file, which starts at its first call.
    fn lazy(&self, server: GatewayServer) -> GatewayServer {
        let server = server.store_lists(self.0.parent().unwrap()).lazy();
        assert_eq!(server.lists_file(), Some(&*self.0));
        server
    }

    /// Waits until a gateway has written the file.
    async fn written(&self) -> String {
        let reading = async {
            loop {
                match std::fs::read_to_string(&self.0) {
                    Ok(text) => return text,
                    Err(_) => sleep(Duration::from_millis(10)).await,
                }
            }
        };
        timeout(LIMIT, reading).await.unwrap()
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(self.0.parent().unwrap()));
    }
}

fn shop(tools: &[&'static str]) -> Server {
    let server = Server::new("shop", "1.0.0")
        .tool(Tool::new("order").handler(|ask: Ask| async move {
            let order = ask.form::<Order>("order", "How many?").await?;
            let order = order.accepted().ok_or(ToolError::new("no order"))?;
            Ok::<_, ToolError>(format!("{} items", order.count))
        }))
        .tool(Tool::new("wait").handler(|| async {
            sleep(IDLE * 3).await;
            "waited"
        }))
        .prompt(Prompt::new("help").handler(|| "Help"));
    tools.iter().fold(server, |server, &tool| {
        server.tool(Tool::new(tool).handler(move || tool))
    })
}

/// The starts of a server on a pipe, and the starts that have not ended.
#[derive(Clone, Default)]
struct Starts {
    all: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
}

impl Starts {
    fn count(&self) -> usize {
        self.all.load(Ordering::SeqCst)
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }
}

/// A server on a pipe whose starts are counted.
fn counted(server: Server, era: &ConnectMode) -> (GatewayServer, Starts) {
    let server = Arc::new(server);
    counted_programs(move |_| Some(server.clone()), era)
}

/// A server on a pipe that runs another program after each start. `None` ends at once.
fn counted_programs(
    program: impl Fn(usize) -> Option<Arc<Server>> + Send + Sync + 'static,
    era: &ConnectMode,
) -> (GatewayServer, Starts) {
    let starts = Starts::default();
    let (count, era) = (starts.clone(), era.clone());
    let server = GatewayServer::new("shop", move |client| {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let number = count.all.fetch_add(1, Ordering::SeqCst);
        count.running.fetch_add(1, Ordering::SeqCst);
        let (running, server) = (count.running.clone(), program(number));
        tokio::spawn(async move {
            if let Some(server) = server {
                drop(StdioServer::new(server).run_over(reader, writer).await);
            }
            running.fetch_sub(1, Ordering::SeqCst);
        });
        let (reader, writer) = tokio::io::split(ours);
        let client = client.mode(era.clone()).timeout(IDLE * 20);
        client.connect(Io(reader, writer))
    });
    (server, starts)
}

/// A client of a gateway, and the servers behind it.
struct Opened {
    client: Client,
    group: Group,
}

impl Opened {
    async fn over(opened: ConnectedGateway, client: mcp::ClientBuilder) -> Self {
        Self {
            client: client.connect(InProcess(opened.server)).await.unwrap(),
            group: opened.group,
        }
    }

    fn health(&self) -> Health {
        self.group.health()[0].1.clone()
    }
}

async fn open(server: GatewayServer) -> Opened {
    open_with(server, Client::builder()).await
}

async fn open_with(server: GatewayServer, client: mcp::ClientBuilder) -> Opened {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    Opened::over(gateway.connect().await.unwrap(), client).await
}

async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().fresh().await.unwrap();
    tools.into_iter().map(|tool| tool.name).collect()
}

#[tokio::test]
async fn lazy_server_is_listed_from_its_manifest_and_started_once_by_calls() {
    for (number, era) in ERAS.iter().enumerate() {
        let file = TemporaryFile::new(&format!("lazy-{number}"));
        let (server, starts) = counted(shop(&["buy", "add"]), era);
        let first = open(file.lazy(server)).await;
        let expected = names(&first.client).await;
        assert_eq!(starts.count(), 1, "there was no manifest");
        let snapshot = file.written().await;
        assert!(
            snapshot
                .parse::<mcp::catalog::Snapshot>()
                .is_ok_and(|manifest| manifest.to_json().contains("\"buy\"")),
            "{snapshot}"
        );
        drop(first);

        let (server, starts) = counted(shop(&["buy", "add"]), era);
        let second = open(file.lazy(server)).await;
        let client = &second.client;
        assert_eq!(names(client).await, expected);
        assert_eq!(client.list_prompts().await.unwrap()[0].name, "shop__help");
        assert_eq!(starts.count(), 0);
        assert_eq!(second.health(), Health::Idle);
        let calls = (0..5).map(|_| async { client.call("shop__buy", ()).await.unwrap().text() });
        assert_eq!(join_all(calls).await, ["buy"; 5]);
        assert_eq!(starts.count(), 1, "{era:?}");
    }
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn changes_against_the_manifest_are_announced_and_logged() {
    let lines = LogLines::default();
    let _guard = lines.record();
    for (number, era) in ERAS.iter().enumerate() {
        let file = TemporaryFile::new(&format!("changed-{number}"));
        let (server, _) = counted(shop(&["buy", "old"]), era);
        let first = open(file.lazy(server)).await;
        file.written().await;
        drop(first);

        let (server, _) = counted(shop(&["buy", "new"]), era);
        let second = open(file.lazy(server)).await;
        let client = &second.client;
        assert!(names(client).await.contains(&"shop__old".to_owned()));
        let mut changes = client.changes().tools_changed().await.unwrap();
        assert_eq!(client.call("shop__buy", ()).await.unwrap().text(), "buy");
        let change = timeout(LIMIT, changes.next()).await;
        assert!(
            matches!(change, Ok(Some(Ok(_)))),
            "{era:?}: {}",
            lines.text()
        );
        let listed = names(client).await;
        assert!(listed.contains(&"shop__new".to_owned()), "{listed:?}");
        assert!(!listed.contains(&"shop__old".to_owned()), "{listed:?}");
        let renewed = async {
            while !file.written().await.contains("\"new\"") {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LIMIT, renewed).await.unwrap();
    }
    let log = lines.text();
    let mut lines = log.lines();
    assert!(
        lines.any(|line| line.contains("WARN") && line.contains("/tools/old")),
        "{log}"
    );
}

#[tokio::test]
async fn manifest_that_cannot_be_read_is_replaced() {
    let file = TemporaryFile::new("damaged");
    std::fs::create_dir_all(file.0.parent().unwrap()).unwrap();
    std::fs::write(&file.0, "{\"tools\": 5}").unwrap();
    let (server, starts) = counted(shop(&["buy"]), &ERAS[1]);
    let opened = open(file.lazy(server)).await;
    assert_eq!(starts.count(), 1);
    let listed = names(&opened.client).await;
    assert!(listed.contains(&"shop__buy".to_owned()), "{listed:?}");
    let renewed = async {
        while !file.written().await.contains("buy") {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, renewed).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn idle_server_is_stopped_and_started_by_the_next_call() {
    for era in &ERAS {
        let (server, starts) = counted(shop(&["buy"]), era);
        let opened = open(server.idle_timeout(IDLE)).await;
        let client = &opened.client;
        let listed = names(client).await;
        for round in 1..=3 {
            assert_eq!(client.call("shop__buy", ()).await.unwrap().text(), "buy");
            assert_eq!(starts.count(), round, "{era:?}");
            sleep(IDLE / 2).await;
            assert_eq!(opened.health(), Health::Running);
            sleep(IDLE).await;
            assert_eq!(opened.health(), Health::Idle);
            assert_eq!(starts.running(), 0, "{era:?}");
            assert_eq!(names(client).await, listed);
        }
        // It stays stopped.
        sleep(IDLE * 10).await;
        assert_eq!(starts.count(), 3, "{era:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn server_is_not_stopped_while_a_call_runs() {
    for era in &ERAS {
        let (server, starts) = counted(shop(&["buy"]), era);
        let opened = open(server.idle_timeout(IDLE)).await;
        let client = &opened.client;
        let waiting = client.call("shop__wait", ()).timeout(IDLE * 20);
        let mut waiting = std::pin::pin!(waiting.into_future());
        assert!(timeout(IDLE * 2, &mut waiting).await.is_err());
        assert_eq!(opened.health(), Health::Running);
        assert_eq!(waiting.await.unwrap().text(), "waited");
        assert_eq!(starts.count(), 1);
        sleep(IDLE * 2).await;
        assert_eq!(opened.health(), Health::Idle);
    }
}

#[tokio::test(start_paused = true)]
async fn server_is_not_stopped_while_its_question_waits() {
    let (server, _) = counted(shop(&[]), &ConnectMode::Legacy);
    let client = Client::builder()
        .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
    let opened = open_with(server.idle_timeout(IDLE), client).await;
    let step = opened.client.call("shop__order", ()).step().await.unwrap();
    let Step::InputRequired(asks) = step else {
        panic!("{step:?}")
    };
    sleep(IDLE * 3).await;
    assert_eq!(opened.health(), Health::Running);
    let key = asks.requests().keys().next().unwrap().clone();
    let answer = ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect());
    let step = asks.answer([(key, answer)]).await.unwrap();
    let Step::Done(result) = step else {
        panic!("{step:?}")
    };
    assert_eq!(result.text(), "3 items");
    sleep(IDLE * 2).await;
    assert_eq!(opened.health(), Health::Idle);
}

#[tokio::test]
async fn lazy_server_from_a_file_has_its_manifest_in_the_folder() {
    let file = TemporaryFile::new("config");
    let folder = file.0.parent().unwrap();
    let open = || async {
        let text = format!(
            "manifests = {folder:?}\n[servers.shop]\ncommand = \"shop\"\nstart = \"lazy\"\n\
             idle_timeout_seconds = 300"
        );
        let starts = Arc::new(AtomicUsize::new(0));
        let (server, count) = (Arc::new(shop(&["buy"])), starts.clone());
        let connect = move |client: mcp::ClientBuilder, _: ServerSpec| {
            count.fetch_add(1, Ordering::SeqCst);
            client.connect(InProcess(server.clone()))
        };
        let config = GatewayConfig::parse(&text).unwrap();
        let gateway = config
            .gateway(&Variables::new(), connect, mcp::HttpClient::new().unwrap())
            .unwrap();
        let opened = gateway.connect().await.unwrap();
        (Opened::over(opened, Client::builder()).await, starts)
    };
    let (opened, starts) = open().await;
    assert_eq!(starts.load(Ordering::SeqCst), 1);
    let written = async {
        let is_manifest =
            |entry: std::fs::DirEntry| entry.path().extension() == Some("json".as_ref());
        let files = || std::fs::read_dir(folder).into_iter().flatten().flatten();
        while !files().any(is_manifest) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(LIMIT, written).await.unwrap();
    drop(opened);
    let (opened, starts) = open().await;
    let listed = names(&opened.client).await;
    assert!(listed.contains(&"shop__buy".to_owned()), "{listed:?}");
    assert_eq!(starts.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn restarted_server_is_listed_anew_and_running_calls_finish() {
    let programs: [Option<Arc<Server>>; 4] = [
        Some(Arc::new(shop(&["buy"]))),
        Some(Arc::new(shop(&["buy"]))),
        Some(Arc::new(shop(&["buy", "sell"]))),
        None,
    ];
    for era in &ERAS {
        let programs = programs.clone();
        let program = move |number| programs.get(number).cloned().flatten();
        let (server, starts) = counted_programs(program, era);
        let gateway = Gateway::new("gateway", "1.0.0").server(server);
        let opened = gateway.connect().await.unwrap();
        let control = opened.control.clone();
        let Opened { client, .. } = Opened::over(opened, Client::builder()).await;
        let mut changes = client.changes().tools_changed().await.unwrap();
        let listed = names(&client).await;
        let running = tokio::spawn(
            client
                .call("shop__wait", ())
                .timeout(IDLE * 20)
                .into_future(),
        );
        sleep(Duration::from_secs(1)).await;

        control.restart("shop").await.unwrap();
        assert_eq!((starts.count(), starts.running()), (2, 2), "{era:?}");
        assert_eq!(names(&client).await, listed);
        let unchanged = timeout(IDLE / 60, changes.next()).await;
        assert!(unchanged.is_err(), "{unchanged:?}");
        control.restart("shop").await.unwrap();
        let change = timeout(IDLE, changes.next()).await;
        assert!(matches!(change, Ok(Some(Ok(_)))), "{era:?}: {change:?}");
        assert!(names(&client).await.contains(&"shop__sell".to_owned()));
        assert_eq!(running.await.unwrap().unwrap().text(), "waited");
        sleep(Duration::from_secs(1)).await;
        assert_eq!((starts.count(), starts.running()), (3, 1), "{era:?}");

        let error = control.restart("shop").await.unwrap_err();
        assert!(
            matches!(&error, GatewayError::NotRestarted { server, .. } if **server == *"shop"),
            "{error}"
        );
        assert!(names(&client).await.contains(&"shop__sell".to_owned()));
        let error = control.restart("none").await.unwrap_err();
        assert!(
            matches!(error, GatewayError::UnknownServer { .. }),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn session_for_a_call_ends_with_it_after_a_restart() {
    let (server, starts) = counted(shop(&["buy"]), &ConnectMode::Legacy);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.connect().await.unwrap();
    let control = opened.control.clone();
    let asked = Client::builder()
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
    let Opened { client, .. } = Opened::over(opened, asked).await;
    let running = tokio::spawn(
        client
            .call("shop__wait", ())
            .timeout(IDLE * 20)
            .into_future(),
    );
    sleep(Duration::from_secs(1)).await;
    assert_eq!(starts.running(), 2, "the call has its own session");
    control.restart("shop").await.unwrap();
    assert_eq!(running.await.unwrap().unwrap().text(), "waited");
    sleep(Duration::from_secs(1)).await;
    assert_eq!((starts.count(), starts.running()), (3, 1));
    assert_eq!(client.call("shop__buy", ()).await.unwrap().text(), "buy");
    assert_eq!(
        starts.count(),
        4,
        "the session of the old process is not used again"
    );
}
