//! Two callers of a gateway, and everything that it keeps for them: nothing of one reaches the other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::join_all;
use futures::{FutureExt as _, StreamExt as _};
use mcp::auth::{ResourceServer, StaticTokens};
use mcp::core::{Call, Exchange};
use mcp::gateway::{Gateway, GatewayServer};
use mcp::http::Serve;
use mcp::middleware::{Next, from_fn};
use mcp::prelude::*;
use mcp::types::{ElicitResult, RawObject};
use mcp::{Change, ConnectMode, InProcess, Io};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, duplex, split};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};

use crate::kit::http_shop;

const LIMIT: Duration = Duration::from_secs(10);
const ID: &str = "com.example/clock";
const TICK: &str = "notifications/clock/tick";

/// A server of an older revision on pipes. Each session has a number and a state of its own.
#[derive(Clone, Default)]
pub(crate) struct Pipes {
    sessions: Arc<Mutex<Vec<mpsc::UnboundedSender<Value>>>>,
    /// Number of sessions that have ended.
    ended: Arc<AtomicUsize>,
    /// Number of lists of tools that were requested.
    lists: Arc<AtomicUsize>,
    /// Number of calls of `hold`, and the gate that lets them end.
    held: Arc<AtomicUsize>,
    /// Number of responses to `ping`.
    pongs: Arc<AtomicUsize>,
    gate: Arc<Mutex<Option<Arc<Semaphore>>>>,
}

impl Pipes {
    pub(crate) fn server(&self) -> GatewayServer {
        let pipes = self.clone();
        GatewayServer::new("pipes", move |client| {
            let (near, far) = duplex(64 * 1024);
            let (sender, outgoing) = mpsc::unbounded_channel();
            let mut sessions = pipes.sessions.lock();
            let number = sessions.len();
            sessions.push(sender.clone());
            let (reader, mut writer) = split(far);
            let session = PipeSession {
                pipes: pipes.clone(),
                number,
                sender,
            };
            tokio::spawn(async move {
                let mut outgoing = outgoing;
                while let Some(message) = outgoing.recv().await {
                    if message.is_null() {
                        return drop(writer.shutdown().await);
                    }
                    let line = format!("{message}\n");
                    if writer.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
            tokio::spawn(session.run(BufReader::new(reader)));
            let (reader, writer) = split(near);
            client.mode(ConnectMode::Legacy).connect(Io(reader, writer))
        })
    }

    /// Sends a message in a session.
    fn send(&self, session: usize, message: Value) {
        // The session may have ended.
        let _ = self.sessions.lock()[session].send(message);
    }

    /// Ends a session.
    fn end(&self, session: usize) {
        self.send(session, Value::Null);
    }

    /// Waits until the gateway has read the messages of a session so far.
    async fn ping(&self, session: usize) {
        let before = self.pongs.load(Ordering::SeqCst);
        self.send(
            session,
            json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"}),
        );
        until("pong", || self.pongs.load(Ordering::SeqCst) > before).await;
    }

    fn count(&self) -> usize {
        self.sessions.lock().len()
    }

    /// Holds calls of `hold` until the gate has permits.
    fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock() = Some(gate.clone());
        gate
    }
}

struct PipeSession {
    pipes: Pipes,
    number: usize,
    sender: mpsc::UnboundedSender<Value>,
}

impl PipeSession {
    async fn run(self, mut reader: BufReader<impl tokio::io::AsyncRead + Unpin>) {
        let mut line = String::new();
        let kept = Arc::new(Mutex::new("nothing".to_owned()));
        while reader.read_line(&mut line).await.is_ok_and(|read| read > 0) {
            let message: Value = serde_json::from_str(&line).unwrap();
            line.clear();
            if message.get("method").is_none() || message.get("id").is_none() {
                if message["id"] == "ping" {
                    self.pipes.pongs.fetch_add(1, Ordering::SeqCst);
                }
                continue;
            }
            let (pipes, number, sender) = (self.pipes.clone(), self.number, self.sender.clone());
            let kept = kept.clone();
            tokio::spawn(async move {
                let result = answer(&pipes, number, &message, &kept).await;
                let mut response = json!({"jsonrpc": "2.0", "id": message["id"]});
                match result.get("error") {
                    Some(error) => response["error"] = error.clone(),
                    None => response["result"] = result,
                }
                let _ = sender.send(response);
            });
        }
        self.pipes.ended.fetch_add(1, Ordering::SeqCst);
    }
}

async fn answer(pipes: &Pipes, number: usize, message: &Value, kept: &Mutex<String>) -> Value {
    match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}, "extensions": {ID: {}}},
            "serverInfo": {"name": "pipes", "version": "1"},
        }),
        "tools/list" => {
            pipes.lists.fetch_add(1, Ordering::SeqCst);
            let names = ["who", "remember", "recall", "hold", "refuse"];
            let tools = names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
            json!({"tools": tools})
        }
        "tools/call" => {
            let params = &message["params"];
            let text = match params["name"].as_str().unwrap() {
                "remember" => {
                    *kept.lock() = params["arguments"]["text"].as_str().unwrap().to_owned();
                    "remembered".to_owned()
                }
                "recall" => kept.lock().clone(),
                "refuse" => return json!({"error": {"code": -1234, "message": "refused"}}),
                "hold" => {
                    let gate = pipes.gate.lock().clone().unwrap();
                    pipes.held.fetch_add(1, Ordering::SeqCst);
                    drop(gate.acquire().await);
                    number.to_string()
                }
                _ => number.to_string(),
            };
            json!({"content": [{"type": "text", "text": text}]})
        }
        _ => json!({}),
    }
}

/// Serves a gateway whose callers are ada and bob.
pub(crate) async fn protected(server: GatewayServer) -> String {
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let opened = gateway.connect().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = StaticTokens::new()
        .token("token-of-ada", "ada", ["use"])
        .token("token-of-bob", "bob", ["use"]);
    let auth = ResourceServer::new(&url).static_tokens(tokens);
    tokio::spawn(Serve::new(opened.server).authorize(auth).run(listener));
    url
}

pub(crate) fn builder(name: &str) -> mcp::ClientBuilder {
    Client::builder().bearer_token(format!("token-of-{name}"))
}

pub(crate) async fn client(url: &str, name: &str) -> Client {
    builder(name).connect(url).await.unwrap()
}

pub(crate) async fn text(client: &Client, tool: &str) -> String {
    client
        .call(format!("pipes__{tool}"), ())
        .await
        .unwrap()
        .text()
}

async fn until(what: &str, is_reached: impl Fn() -> bool) {
    let reached = async {
        while !is_reached() {
            sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(timeout(LIMIT, reached).await.is_ok(), "{what}");
}

#[tokio::test]
async fn callers_share_sessions_only_if_the_server_is_stateless() {
    for (shares, one_session) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut server = Pipes::default().server();
        if shares {
            server = server.share_sessions();
        }
        if one_session {
            server = server.one_session();
        }
        let url = protected(server).await;
        let (ada, again, bob) = (
            client(&url, "ada").await,
            client(&url, "ada").await,
            client(&url, "bob").await,
        );
        let remember = ada.call("pipes__remember", json!({"text": "of ada"}));
        remember.await.unwrap();
        assert_eq!(text(&again, "recall").await, "of ada");
        let expected = if shares { "of ada" } else { "nothing" };
        assert_eq!(
            text(&bob, "recall").await,
            expected,
            "shared: {shares}, one session: {one_session}"
        );
    }
}

#[tokio::test]
async fn caller_has_at_most_eight_sessions_and_blocks_no_other() {
    for (one_session, most) in [(false, 8), (true, 1)] {
        let pipes = Pipes::default();
        let gate = pipes.hold();
        let server = if one_session {
            pipes.server().one_session()
        } else {
            pipes.server()
        };
        let url = protected(server).await;
        let (ada, bob) = (client(&url, "ada").await, client(&url, "bob").await);
        let calls = (0..20).map(|_| tokio::spawn(ada.call("pipes__hold", ()).into_future()));
        let calls: Vec<_> = calls.collect();
        until("sessions of ada", || {
            pipes.held.load(Ordering::SeqCst) == most
        })
        .await;
        let number: usize = text(&bob, "who").await.parse().unwrap();
        // One session is that of the gateway.
        assert_eq!(number, most + 1);
        gate.add_permits(20);
        for call in join_all(calls).await {
            let number: usize = call.unwrap().unwrap().text().parse().unwrap();
            assert!((1..=most).contains(&number), "{number}");
        }
        assert_eq!(pipes.count(), most + 2);
    }
}

#[tokio::test]
async fn session_goes_on_after_an_error_response() {
    let pipes = Pipes::default();
    let url = protected(pipes.server()).await;
    let ada = client(&url, "ada").await;
    ada.call("pipes__remember", json!({"text": "of ada"}))
        .await
        .unwrap();
    let refused = ada.call("pipes__refuse", ()).await.unwrap_err();
    assert!(refused.to_string().contains("refused"), "{refused}");
    assert_eq!(text(&ada, "recall").await, "of ada");
    assert_eq!(pipes.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn session_without_calls_ends_after_five_minutes() {
    let pipes = Pipes::default();
    let gateway = Gateway::new("gateway", "1.0.0").server(pipes.server());
    let opened = gateway.connect().await.unwrap();
    let client = Client::builder().roots(["file:///home"]);
    let client = client.connect(InProcess(opened.server)).await.unwrap();
    assert_eq!(text(&client, "who").await, "1");
    sleep(Duration::from_secs(299)).await;
    assert_eq!(text(&client, "who").await, "1");
    sleep(Duration::from_secs(299)).await;
    assert_eq!(pipes.ended.load(Ordering::SeqCst), 0);
    sleep(Duration::from_secs(2)).await;
    assert_eq!(pipes.ended.load(Ordering::SeqCst), 1);
    assert_eq!(text(&client, "who").await, "2");
}

type Received = Arc<Mutex<Vec<i64>>>;

/// A client, and the numbers of the notifications that it has received.
async fn listening(builder: mcp::ClientBuilder, url: &str) -> (Client, Received) {
    let received = Received::default();
    let records = received.clone();
    let record = from_fn(move |exchange: Exchange, next: Next| {
        if let Call::Notification { method, params } = &exchange.call
            && **method == *TICK
        {
            let params: Value = params.as_ref().map(RawObject::parse).unwrap().unwrap();
            records.lock().push(params["number"].as_i64().unwrap());
        }
        async move { next.run(exchange).await }
    });
    let client = builder.mode(ConnectMode::Legacy);
    let client = client.extension((ID, ())).inbound_layer(record);
    (client.connect(url).await.unwrap(), received)
}

/// Sends a notification in a session until a client has received it.
async fn tick(pipes: &Pipes, session: usize, number: i64, received: &Received) {
    let arriving = async {
        while !received.lock().contains(&number) {
            let params = json!({"number": number});
            pipes.send(
                session,
                json!({"jsonrpc": "2.0", "method": TICK, "params": params}),
            );
            sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(timeout(LIMIT, arriving).await.is_ok(), "{number}");
}

// spec: EXT-05
#[tokio::test]
async fn notification_in_a_session_reaches_only_the_same_caller() {
    let pipes = Pipes::default();
    let server = pipes.server().extension(ID, ["clock/*"]);
    let url = protected(server).await;
    let (ada, of_ada) = listening(builder("ada"), &url).await;
    let (_second, of_second) = listening(builder("ada"), &url).await;
    let (bob, of_bob) = listening(builder("bob"), &url).await;
    let own: usize = text(&ada, "who").await.parse().unwrap();
    let other: usize = text(&bob, "who").await.parse().unwrap();
    assert_ne!(own, other);
    tick(&pipes, own, 1, &of_ada).await;
    tick(&pipes, own, 1, &of_second).await;
    // The session of the gateway is that of callers without an identity.
    let params = json!({"number": 3});
    pipes.send(
        0,
        json!({"jsonrpc": "2.0", "method": TICK, "params": params}),
    );
    tick(&pipes, other, 2, &of_bob).await;
    tick(&pipes, own, 4, &of_ada).await;
    assert!(
        of_bob.lock().iter().all(|number| *number == 2),
        "{of_bob:?}"
    );
    for received in [of_ada, of_second] {
        let received = received.lock();
        assert!(
            received.iter().all(|number| [1, 4].contains(number)),
            "{received:?}"
        );
    }
}

// spec: EXT-05
#[tokio::test]
async fn notification_in_shared_session_reaches_all_anonymous_clients() {
    let pipes = Pipes::default();
    let server = pipes.server().extension(ID, ["clock/*"]);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let url = crate::kit::serve(gateway.connect().await.unwrap().server).await;
    let (_one, of_one) = listening(Client::builder(), &url).await;
    let (_two, of_two) = listening(Client::builder(), &url).await;
    tick(&pipes, 0, 1, &of_one).await;
    tick(&pipes, 0, 2, &of_two).await;
}

// spec: EXT-05
#[tokio::test]
async fn call_session_notifies_only_after_the_shared_session_ends() {
    let pipes = Pipes::default();
    let server = pipes.server().extension(ID, ["clock/*"]);
    let gateway = Gateway::new("gateway", "1.0.0").server(server);
    let url = crate::kit::serve(gateway.connect().await.unwrap().server).await;
    let (one, of_one) = listening(Client::builder(), &url).await;
    let (_two, of_two) = listening(Client::builder(), &url).await;
    let own: usize = text(&one, "who").await.parse().unwrap();
    assert_ne!(own, 0);
    tick(&pipes, 0, 1, &of_one).await;
    // Sent to all clients, it also arrives in session 0.
    pipes.send(
        own,
        json!({"jsonrpc": "2.0", "method": TICK, "params": {"number": 2}}),
    );
    pipes.ping(own).await;
    pipes.end(0);
    tick(&pipes, own, 3, &of_one).await;
    tick(&pipes, own, 4, &of_two).await;
    assert!(!of_one.lock().contains(&2), "{of_one:?}");
}

#[tokio::test]
async fn change_in_a_session_is_not_announced_to_other_callers() {
    let pipes = Pipes::default();
    let url = protected(pipes.server()).await;
    let (ada, bob) = (client(&url, "ada").await, client(&url, "bob").await);
    let own: usize = text(&ada, "who").await.parse().unwrap();
    let mut changes = bob.changes().tools_changed().await.unwrap();
    let before = pipes.lists.load(Ordering::SeqCst);
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    // The gateway asks whether the list has changed for all.
    let listed = async {
        while pipes.lists.load(Ordering::SeqCst) < before + 2 {
            pipes.send(own, changed.clone());
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(LIMIT, listed).await.unwrap();
    text(&bob, "who").await;
    assert!(changes.next().now_or_never().is_none());
    let announced = async {
        loop {
            pipes.send(0, changed.clone());
            if let Ok(change) = timeout(Duration::from_millis(100), changes.next()).await {
                return change.unwrap().unwrap();
            }
        }
    };
    let change = timeout(LIMIT, announced).await.unwrap();
    assert!(matches!(change, Change::Tools), "{change:?}");
}

#[tokio::test]
async fn parked_call_belongs_to_its_caller() {
    let shop = http_shop().await;
    let server = GatewayServer::new("shop", move |client| {
        client.mode(ConnectMode::Legacy).connect(shop.clone())
    });
    let url = protected(server).await;
    let asked = async |name| {
        let client = builder(name);
        let client =
            client.on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
        client.connect(&url).await.unwrap()
    };
    let (ada, bob) = (asked("ada").await, asked("bob").await);
    let step = ada.call("shop__order", ()).step().await.unwrap();
    let Step::InputRequired(asks) = step else {
        panic!("{step:?}")
    };
    let required = asks.required().clone();
    let key = asks.requests().keys().next().unwrap().clone();
    let answer = ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect());
    let answers = [(key, answer)];
    let stolen = bob.call("shop__order", ());
    let stolen = stolen.resume(required.clone(), answers.clone()).await;
    assert!(stolen.is_err(), "{stolen:?}");
    let own = ada.call("shop__order", ()).resume(required, answers);
    assert_eq!(own.await.unwrap().text(), "3 items");
}

#[tokio::test]
async fn client_name_reaches_a_server_that_wants_it() {
    for mode in [ConnectMode::Legacy, ConnectMode::Auto] {
        for forwards in [false, true] {
            let who = |client: ClientInfo| client.implementation().unwrap().name;
            let inner = Server::new("inner", "1.0.0").tool(Tool::new("who").handler(who));
            let inner = crate::kit::serve(inner).await;
            let back = mode.clone();
            let mut server = GatewayServer::new("inner", move |client| {
                client.mode(back.clone()).connect(inner.clone())
            });
            if forwards {
                server = server.forward_client_name();
            }
            let gateway = Gateway::new("gateway", "1.0.0").server(server);
            let url = crate::kit::serve(gateway.connect().await.unwrap().server).await;
            for name in ["one", "two"] {
                let client = Client::builder().identity(name, "1.0.0");
                let client = client.connect(&url).await.unwrap();
                let called = client.call("inner__who", ()).await.unwrap();
                let expected = if forwards { name } else { "gateway" };
                assert_eq!(called.text(), expected, "{mode:?}");
            }
        }
    }
}
