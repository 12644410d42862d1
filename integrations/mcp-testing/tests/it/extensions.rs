//! Extensions over every transport and revision: settings, notifications of clients, setup errors.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use mcp::client::ClientBuilder;
use mcp::extension::{
    Asker, ClientExtension, ClientSetup, CustomNotification, CustomRequest, Declared, Extension,
    Notifier, RawExtension, RequestError, ServerExtension, ServerSetup,
};
use mcp::types::RawObject;
use mcp::{Client, Headers, ProtocolVersion, RequestMeta, Server, Tool, ToolExt as _};
use mcp_testing::Pair;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// An extension that sends the messages that it receives to a channel.
pub(crate) struct Echo(pub(crate) mpsc::UnboundedSender<Value>);

impl Extension for Echo {
    const ID: &'static str = "com.example/echo";
    type ServerSettings = Value;
    type ClientSettings = Value;
}

/// A request that returns its parameters, with the client's settings.
pub(crate) struct Repeat;

impl CustomRequest for Repeat {
    const METHOD: &'static str = "echo/repeat";
    type Extension = Echo;
    type Params = Value;
    type Result = Value;
}

/// A notification of either side.
pub(crate) struct Note;

impl CustomNotification for Note {
    const METHOD: &'static str = "notifications/echo/note";
    type Extension = Echo;
    type Params = Value;
}

impl ServerExtension for Echo {
    fn settings(&self) -> Value {
        json!({"side": "server", "deep": {"list": [1, null]}})
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.request::<Repeat, _>(repeat);
        setup.notification::<Note, _>(move |note: Value, Declared(client): Declared<Self>| {
            let note = json!({"note": note, "client": client});
            let sent = self.0.send(note);
            async move { sent.map_err(RequestError::from) }
        });
    }
}

async fn repeat(
    params: Value,
    Declared(client): Declared<Echo>,
    notifier: Notifier,
) -> Result<Value, RequestError> {
    if params.get("fail").is_some() {
        return Err(RequestError::protocol(7, "failed as requested"));
    }
    notifier.send::<Note>(&json!({"before": "result"})).await;
    Ok(json!({"params": params, "client": client}))
}

impl ClientExtension for Echo {
    fn settings(&self) -> Value {
        json!({"side": "client"})
    }

    fn register(self, setup: &mut ClientSetup<Self>) {
        setup.notification::<Note, _, _>(move |note: Value, _: Arc<Asker>| {
            let sent = self.0.send(note);
            async move { sent }
        });
    }
}

/// Both sides with the extension, and the messages that they receive.
pub(crate) struct Sides {
    pub(crate) server: Server,
    pub(crate) client: ClientBuilder,
    pub(crate) at_server: mpsc::UnboundedReceiver<Value>,
    pub(crate) at_client: mpsc::UnboundedReceiver<Value>,
}

pub(crate) fn sides() -> Sides {
    let (to_server, at_server) = mpsc::unbounded_channel();
    let (to_client, at_client) = mpsc::unbounded_channel();
    Sides {
        server: Server::new("echo", "1.0.0")
            .tool(Tool::new("wait").handler(std::future::pending::<String>))
            .extension(Echo(to_server)),
        client: Client::builder().extension(Echo(to_client)),
        at_server,
        at_client,
    }
}

pub(crate) async fn next(received: &mut mpsc::UnboundedReceiver<Value>) -> Value {
    let next = timeout(Duration::from_secs(10), received.recv()).await;
    next.unwrap().unwrap()
}

/// Returns the error code of a fault.
fn code(error: &mcp::client::Error) -> Option<i64> {
    Some(error.fault()?.to_error(ProtocolVersion::LATEST).code)
}

/// Uses all messages of the extension.
async fn exchange_messages(client: &Client, sides: &mut Received<'_>) {
    let echo = client.extension::<Echo>().unwrap();
    assert_eq!(
        *echo.settings(),
        json!({"side": "server", "deep": {"list": [1, null]}})
    );
    let result = echo.request::<Repeat>(&json!({"a": 1})).await.unwrap();
    assert_eq!(
        result,
        json!({"params": {"a": 1}, "client": {"side": "client"}})
    );
    assert_eq!(next(sides.at_client).await, json!({"before": "result"}));
    echo.notify::<Note>(&json!({"n": 1})).await.unwrap();
    assert_eq!(
        next(sides.at_server).await,
        json!({"note": {"n": 1}, "client": {"side": "client"}})
    );
    let failed = echo.request::<Repeat>(&json!({"fail": true})).await;
    let failed = failed.unwrap_err();
    assert_eq!(code(&failed), Some(7), "{failed}");
    let unknown = client.request("echo/unknown", ()).await.unwrap_err();
    assert_eq!(code(&unknown), Some(-32601), "{unknown}");
}

struct Received<'a> {
    at_server: &'a mut mpsc::UnboundedReceiver<Value>,
    at_client: &'a mut mpsc::UnboundedReceiver<Value>,
}

// spec: EXT-01, EXT-02
#[tokio::test]
async fn settings_and_messages_survive_every_revision_in_both_directions() {
    let legacy = ProtocolVersion::ALL.into_iter();
    let legacy = legacy.filter(|version| !version.is_modern()).map(Some);
    for version in legacy.chain([None]) {
        for start in [Pair::http, Pair::stdio, Pair::messages] {
            let Sides {
                server,
                client,
                mut at_server,
                mut at_client,
            } = sides();
            let mut pair = start(server).client(client);
            if let Some(version) = version {
                pair = pair.revision(version);
            }
            let connected = pair.connect().await.unwrap();
            let mut received = Received {
                at_server: &mut at_server,
                at_client: &mut at_client,
            };
            exchange_messages(&connected.client, &mut received).await;
            connected.close().await.unwrap();
        }
    }
}

#[tokio::test]
async fn settings_and_messages_arrive_in_process() {
    let Sides {
        server,
        client,
        mut at_server,
        mut at_client,
    } = sides();
    let client = mcp_testing::connect_with(server, client).await.unwrap();
    let mut received = Received {
        at_server: &mut at_server,
        at_client: &mut at_client,
    };
    exchange_messages(&client, &mut received).await;
}

// spec: EXT-05, VER-18
#[tokio::test]
async fn client_without_the_extension_sends_and_receives_nothing() {
    let Sides {
        server,
        mut at_server,
        ..
    } = sides();
    let pair = Pair::http(server).connect().await.unwrap();
    let refused = pair.client.request("echo/repeat", ()).await.unwrap_err();
    assert_eq!(code(&refused), Some(-32021), "{refused}");
    let echo = pair.client.extension::<Echo>().unwrap();
    echo.notify::<Note>(&json!({})).await.unwrap();
    assert!(at_server.try_recv().is_err());
    assert!(!pair.transcript().to_string().contains("result\":{\"before"));
}

// spec: EXT-05
#[tokio::test]
async fn client_gets_an_error_if_the_server_lacks_the_extension() {
    let Sides { client, .. } = sides();
    let server = Server::new("plain", "1.0.0");
    let client = mcp_testing::connect_with(server, client).await.unwrap();
    let error = client.extension::<Echo>().unwrap_err().to_string();
    assert_eq!(
        error,
        "the server does not declare the extension `com.example/echo`"
    );
}

#[tokio::test]
async fn client_with_a_repeated_extension_is_an_error() {
    let Sides { client, .. } = sides();
    let (to_client, _) = mpsc::unbounded_channel();
    let twice = client.extension(Echo(to_client));
    let server = Server::new("plain", "1.0.0");
    let error = mcp_testing::connect_with(server, twice).await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("`com.example/echo` is registered twice, by `"),
        "{error}"
    );
}

#[tokio::test]
async fn client_with_an_unmet_requirement_is_an_error() {
    struct Needy;

    impl Extension for Needy {
        const ID: &'static str = "com.example/needy";
        type ServerSettings = ();
        type ClientSettings = ();
    }

    impl ClientExtension for Needy {
        fn settings(&self) {}

        fn register(self, setup: &mut ClientSetup<Self>) {
            setup.requires_extension(Echo::ID);
            setup.requires("roots", |capabilities| capabilities.roots.is_some());
        }
    }

    let server = || Server::new("plain", "1.0.0");
    let alone = Client::builder().extension(Needy);
    let error = mcp_testing::connect_with(server(), alone)
        .await
        .unwrap_err();
    let error = error.to_string();
    for missing in ["needs the extension `com.example/echo`", "needs roots"] {
        assert!(error.contains(missing), "{error}");
    }
    let builder = Client::builder().extension(Needy);
    let (to_client, _) = mpsc::unbounded_channel();
    let builder = builder.extension(Echo(to_client)).roots(["file:///a"]);
    mcp_testing::connect_with(server(), builder).await.unwrap();
}

/// Returns the revisions of both eras that have extensions in their handshake.
fn both_eras() -> [Option<ProtocolVersion>; 2] {
    [Some(ProtocolVersion::V2025_11_25), None]
}

// spec: EXT-05
#[tokio::test]
async fn broadcast_reaches_declaring_clients_in_sessions_and_subscriptions() {
    for version in both_eras() {
        for start in [Pair::http, Pair::stdio, Pair::messages] {
            let Sides {
                server,
                client,
                mut at_client,
                ..
            } = sides();
            let server = server.tool(Tool::new("a").handler(|| "a"));
            let clients = server.broadcaster();
            let tools = server.tools();
            let mut pair = start(server).client(client);
            if let Some(version) = version {
                pair = pair.revision(version);
            }
            let connected = pair.connect().await.unwrap();
            // In the modern era, the stream of a subscription carries it.
            let mut changes = connected.client.changes().tools_changed().await.unwrap();
            let reading = tokio::spawn(async move { changes.next().await });
            // Over HTTP a session gets its stream after its handshake, so the note is repeated.
            let note = timeout(Duration::from_secs(10), async {
                loop {
                    clients.send::<Note>(&json!({"outside": "of calls"}));
                    let next = timeout(Duration::from_millis(20), at_client.recv());
                    if let Ok(note) = next.await {
                        break note.unwrap();
                    }
                }
            });
            assert_eq!(note.await.unwrap(), json!({"outside": "of calls"}));
            tools.disable("a");
            let change = timeout(Duration::from_secs(10), reading).await;
            let change = change.unwrap().unwrap().unwrap().unwrap();
            assert_eq!(change, mcp::Change::Tools);
            connected.close().await.unwrap();
        }
    }
}

// spec: EXT-05
#[tokio::test]
async fn broadcast_does_not_reach_undeclaring_client() {
    let Sides { server, .. } = sides();
    let (clients, notify) = (server.broadcaster(), server.notify());
    let connected = Pair::http(server).connect().await.unwrap();
    let mut changes = connected.client.changes().tools_changed().await.unwrap();
    clients.send::<Note>(&json!({"outside": "of calls"}));
    notify.tools_changed();
    let change = timeout(Duration::from_secs(10), changes.next()).await;
    assert_eq!(change.unwrap().unwrap().unwrap(), mcp::Change::Tools);
    assert!(!connected.transcript().to_string().contains("outside"));
    connected.close().await.unwrap();
}

#[tokio::test]
async fn notification_carries_headers_and_metadata_from_its_caller() {
    for version in both_eras() {
        let (sender, mut notes) = mpsc::unbounded_channel();
        let notes_of = RawExtension::new("com.example/notes", &json!({})).notifications(
            |method| method == "notes/new",
            move |params: RawObject, headers: Headers, meta: RequestMeta| {
                let tenants = headers.get_all("x-tenant").iter();
                let tenants: Vec<_> = tenants.map(|tenant| tenant.to_str().unwrap()).collect();
                let meta = (
                    meta.get::<Value>("com.example/a"),
                    meta.get::<Value>("progressToken"),
                );
                let note = json!({"params": params, "tenants": tenants, "meta": meta});
                let sent = sender.send(note);
                async move { sent.map_err(RequestError::from) }
            },
        );
        let mut pair = Pair::http(Server::new("notes", "1.0.0").extension(notes_of));
        if let Some(version) = version {
            pair = pair.revision(version);
        }
        let connected = pair.connect().await.unwrap();
        let note = || connected.client.notify("notes/new", json!({"n": 1}));
        let error = note().header("x y", "a").await.unwrap_err().to_string();
        assert!(error.contains("x y"), "{error}");
        let options = note().header("x-tenant", "a").header("x-tenant", "b");
        let shown = format!("{options:?}");
        assert!(!shown.contains("tenant"), "{shown}");
        let sent = options
            .meta("com.example/a", 5)
            .meta("progressToken", "p")
            .await;
        sent.unwrap();
        let note = timeout(Duration::from_secs(10), notes.recv())
            .await
            .unwrap();
        let expected = json!({"params": {"n": 1}, "tenants": ["a", "b"], "meta": [5, null]});
        assert_eq!(note.unwrap(), expected);
        connected.close().await.unwrap();
    }
}

/// An extension whose request asks the user.
struct Naming;

impl Extension for Naming {
    const ID: &'static str = "com.example/naming";
    type ServerSettings = ();
    type ClientSettings = ();
}

struct Name;

impl CustomRequest for Name {
    const METHOD: &'static str = "naming/name";
    type Extension = Naming;
    type Params = Value;
    type Result = Value;
}

#[derive(mcp::Elicit)]
struct FullName {
    name: String,
}

impl ServerExtension for Naming {
    fn settings(&self) {}

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.request::<Name, _>(|params: Value, ask: mcp::Ask| async move {
            let number = ask.once("number", || async { 7 }).await?;
            let name = ask.form::<FullName>("name", "Your name?").await?;
            let mcp::Answer::Accept(name) = name else {
                return Err(RequestError::protocol(8, "declined"));
            };
            let name = name.name;
            Ok::<_, RequestError>(json!({"name": name, "number": number, "params": params}))
        });
    }
}

impl ClientExtension for Naming {
    fn settings(&self) {}

    fn register(self, _: &mut ClientSetup<Self>) {}
}

// spec: EXT-05
#[tokio::test]
async fn custom_request_asks_its_client_in_both_eras() {
    for version in both_eras() {
        for start in [Pair::http, Pair::stdio, Pair::messages] {
            let client =
                Client::builder()
                    .extension(Naming)
                    .on_elicit(|_: mcp::ElicitRequest| async {
                        let content = [("name".to_owned(), json!("Ada"))];
                        mcp::ElicitResult::accept(mcp::types::JsonObject::from_iter(content))
                    });
            let mut pair = start(Server::new("names", "1.0.0").extension(Naming)).client(client);
            if let Some(version) = version {
                pair = pair.revision(version);
            }
            let connected = pair.connect().await.unwrap();
            let naming = connected.client.extension::<Naming>().unwrap();
            let params = json!({"title": "Lady"});
            let name = naming.request::<Name>(&params).await.unwrap();
            // The handler does not see the repeated request's input as a parameter.
            let expected = json!({"name": "Ada", "number": 7, "params": params});
            assert_eq!(name, expected);
            connected.close().await.unwrap();
        }
    }
}

// spec: MRTR-05
#[tokio::test]
async fn custom_request_that_asks_refuses_client_without_elicitation() {
    let client = Client::builder().extension(Naming);
    let server = Server::new("names", "1.0.0").extension(Naming);
    let connected = Pair::http(server).client(client).connect().await.unwrap();
    let naming = connected.client.extension::<Naming>().unwrap();
    let params = json!({"title": "Lady"});
    let refused = naming.request::<Name>(&params).await.unwrap_err();
    assert_eq!(code(&refused), Some(-32021), "{refused}");
    connected.close().await.unwrap();
}
