//! Extensions over every transport and revision: settings, notifications of clients, setup errors.

use std::sync::Arc;
use std::time::Duration;

use mcp::client::ClientBuilder;
use mcp::core::wire::MODERN;
use mcp::extension::{
    Asker, ClientExtension, ClientSetup, CustomNotification, CustomRequest, Declared, Extension,
    Notifier, RequestError, ServerExtension, ServerSetup,
};
use mcp::{Client, ProtocolVersion, Server, Tool, ToolExt as _};
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

/// A request that returns its parameters, with the settings of the client.
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
    Some(MODERN.error(error.fault()?).code)
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
        for start in [Pair::http, Pair::stdio] {
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
            let connected = pair.start().await.unwrap();
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
    assert_eq!(client.extensions()[0].id(), Echo::ID);
}

// spec: EXT-05
#[tokio::test]
async fn client_without_the_extension_sends_and_receives_nothing() {
    let Sides {
        server,
        mut at_server,
        ..
    } = sides();
    let pair = Pair::http(server).start().await.unwrap();
    let refused = pair.client.request("echo/repeat", ()).await.unwrap_err();
    assert_eq!(code(&refused), Some(-32021), "{refused}");
    let echo = pair.client.extension::<Echo>().unwrap();
    echo.notify::<Note>(&json!({})).await.unwrap();
    assert!(at_server.try_recv().is_err());
    assert!(!pair.transcript().to_string().contains("result\":{\"before"));
}

// spec: EXT-05
#[tokio::test]
async fn server_without_the_extension_is_an_error_of_the_client() {
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
async fn repeated_extension_of_a_client_is_an_error() {
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
async fn unmet_requirement_of_a_client_is_an_error() {
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
