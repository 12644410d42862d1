//! Two servers that share their stores.

use mcp_core::store::{
    EventStore as _, MemoryEventStore, MemorySessionStore, RelayEvent, RelayMessage, RelayTarget,
    SessionRelay as _, StoredEvent, StreamId,
};
use mcp_core::{ChangeBus as _, ChangeEvent};

use super::memory_relay::{MemoryRelay, RelayFault, RelayedStore};
use super::*;
use crate::server::{SessionEnd, SessionEvent};

/// Two endpoints with the same tools, which share sessions, events and changes.
struct Nodes {
    endpoints: [Endpoint; 2],
    tools: Arc<Tools>,
    told: Arc<Mutex<Vec<String>>>,
    sessions: Arc<MemorySessionStore>,
    events: Arc<MemoryEventStore>,
}

fn clock() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

fn nodes() -> Nodes {
    nodes_with(None)
}

/// Returns servers that pass messages to each other.
fn related_nodes() -> Nodes {
    nodes_with(Some(MemoryRelay::default()))
}

fn nodes_with(relay: Option<MemoryRelay>) -> Nodes {
    let tools = Tools::new();
    let sessions = Arc::new(MemorySessionStore::new().clock(clock));
    let store = RelayedStore {
        sessions: sessions.clone(),
        relay,
    };
    let events = Arc::new(MemoryEventStore::new().clock(clock));
    let told = Arc::<Mutex<Vec<String>>>::default();
    let endpoints = ["a", "b"].map(|name| {
        let told = told.clone();
        StreamableHttp::new(Served(tools.clone()))
            .sessions(Sessions::shared(store.clone()))
            .events(events.clone())
            .on_session(move |event| {
                let what = match event {
                    SessionEvent::Opened { .. } => "opened".to_owned(),
                    SessionEvent::Continued { .. } => "continued".to_owned(),
                    SessionEvent::Closed { reason, .. } => format!("closed {reason:?}"),
                };
                told.lock().unwrap().push(format!("{name} {what}"));
            })
    });
    Nodes {
        endpoints,
        tools,
        told,
        sessions,
        events,
    }
}

impl Nodes {
    /// Returns the client with its session at the second server.
    fn other(&self, peer: &Peer) -> Peer {
        Peer {
            endpoint: self.endpoints[1].clone(),
            ..peer.clone()
        }
    }
}

#[tokio::test(start_paused = true)]
async fn session_continues_at_another_server() {
    let nodes = nodes();
    let mut here = Peer::new(&nodes.endpoints[0]);
    here.session = here
        .send(initialize("2025-06-18"))
        .await
        .header("mcp-session-id");
    here.version = "2025-06-18";
    let there = nodes.other(&here);
    // Each message goes to the other server than the previous one.
    assert_eq!(there.send(initialized()).await.status, 202);
    let set_level = json!({
        "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "error" },
    });
    assert_eq!(here.send(set_level).await.status, 200);
    // The log messages of the steps are below that level.
    assert_eq!(there.send(steps(2)).await.messages().await.len(), 4);
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 3, "method": "resources/subscribe",
        "params": { "uri": "file:///a" },
    });
    assert_eq!(there.send(subscribe).await.status, 200);
    let mut stream = here.get().await;
    assert_eq!(stream.status, 200);
    nodes.tools.bus.publish(ChangeEvent::Resource {
        uri: "file:///a".into(),
    });
    assert_eq!(
        stream.event().await.data.unwrap()["params"]["uri"],
        "file:///a"
    );
    assert_eq!(there.delete().await.status, 200);
    assert_eq!(here.tool(4, "echo").await.refusal().await, (404, -32001));
    assert_eq!(stream.rest().await, []);
    let told = nodes.told.lock().unwrap();
    let expected = [
        "a opened",
        "b continued",
        "b closed Deleted",
        "a closed Elsewhere",
    ];
    assert_eq!(*told, expected);
    assert_eq!(nodes.sessions.count(), 0);
    assert_eq!(format!("{:?}", SessionEnd::Elsewhere), "Elsewhere");
}

#[tokio::test(start_paused = true)]
async fn session_is_not_found_by_another_principal_at_another_node() {
    // spec: SESS-11
    let nodes = nodes();
    let mut here = Peer::new(&nodes.endpoints[0]);
    here.principal = Some(Principal::new("issuer", "me"));
    let here = here.begin().await;
    let mut there = nodes.other(&here);
    for (principal, status) in [
        (None, 404),
        (Some(Principal::new("issuer", "you")), 404),
        (Some(Principal::new("issuer", "me")), 200),
    ] {
        there.principal = principal;
        assert_eq!(there.tool(1, "who").await.status, status);
    }
}

#[tokio::test(start_paused = true)]
async fn session_survives_when_its_server_ends() {
    let nodes = nodes();
    let peer = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&peer);
    let Nodes { endpoints, .. } = nodes;
    let [gone, _stays] = endpoints;
    drop((gone, peer));
    assert_eq!(there.tool(1, "echo").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn session_in_use_does_not_expire_in_the_store() {
    let nodes = nodes();
    let peer = Peer::open(&nodes.endpoints[0]).await;
    let _reads = peer.get().await;
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(nodes.other(&peer).tool(1, "echo").await.status, 200);
    assert_eq!(peer.tool(2, "echo").await.status, 200);
    // Without a stream, the session expires.
    drop(_reads);
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(peer.tool(3, "echo").await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn stream_resumed_at_another_server_continues_to_its_end() {
    // spec: RSM-06
    let nodes = nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let mut got = here.send(steps(1)).await;
    let primed = got.event().await;
    drop(got);
    // The call runs at the first server. The second server sends its events, also those that are stored
    // later.
    let last = primed.id.unwrap();
    let events = there.resume(&last).await.rest().await;
    let last = events.last().unwrap().id.clone().unwrap();
    let seen: Vec<Value> = events.into_iter().filter_map(|event| event.data).collect();
    assert_eq!(seen.len(), 7);
    let numbers = seen
        .iter()
        .filter_map(|message| message["params"]["progress"].as_f64());
    assert!(numbers.is_sorted());
    assert_eq!(seen[6]["id"], 1);
    // No events are left.
    assert_eq!(there.resume(&last).await.rest().await, []);
}

#[tokio::test(start_paused = true)]
async fn stream_from_a_silent_server_ends_and_can_be_resumed() {
    // spec: RSM-06
    let nodes = nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let mut got = here.tool(1, "wait").await;
    let primed = got.event().await.id.unwrap();
    drop(got);
    for _ in 0..2 {
        let start = tokio::time::Instant::now();
        let events = there.resume(&primed).await.rest().await;
        assert!(events.last().unwrap().retry.is_some());
        assert!(start.elapsed() >= Duration::from_secs(30));
    }
    // The end of the session ends the stream.
    let stream = there.resume(&primed).await;
    assert_eq!(here.delete().await.status, 200);
    stream.rest().await;
}

#[tokio::test(start_paused = true)]
async fn stream_from_a_killed_server_ends_and_is_refused() {
    let relay = MemoryRelay::default();
    let writer = relay.join();
    let nodes = nodes_with(Some(relay));
    let here = Peer::open(&nodes.endpoints[0]).await;
    let session = here.session.clone().unwrap();
    let name = format!("a.{}-1", writer.node());
    let append = async |event: StoredEvent| {
        let id = StreamId {
            session: &session,
            stream: &name,
        };
        let number = nodes.events.append(id, event).await.unwrap();
        format!("{name}_{number}")
    };
    let primed = append(StoredEvent::new("".into())).await;
    let mut stream = here.resume(&primed).await;
    let last = append(StoredEvent::new(r#"{"progress":1}"#.into())).await;
    assert_eq!(stream.event().await.id.as_ref(), Some(&last));
    drop(writer);
    let start = tokio::time::Instant::now();
    assert_eq!(stream.rest().await, []);
    assert!(start.elapsed() < Duration::from_secs(5));
    // An event that was not sent is not lost.
    assert_eq!(here.resume(&primed).await.rest().await.len(), 1);
    let refused = here.resume(&last).await;
    assert_eq!(refused.status, 400);
    let body = refused.json().await;
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("the call may have run"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn client_response_at_another_server_is_rejected() {
    let nodes = nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let (mut mine, mut yours) = (here.tool(1, "ask").await, there.tool(2, "ask").await);
    let mut asked = Vec::new();
    for got in [&mut mine, &mut yours] {
        got.event().await;
        asked.push(got.event().await.data.unwrap()["id"].clone());
    }
    assert_ne!(asked[0], asked[1]);
    let answer = asking::accept(&asked[0]);
    assert_eq!(
        there.send(answer.clone()).await.refusal().await,
        (400, -32600)
    );
    assert_eq!(yours.frame_now(), None);
    assert_eq!(here.send(answer).await.status, 202);
    assert_eq!(mine.messages().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn deleted_session_is_not_written_back_by_an_open_stream() {
    // spec: SESS-07
    let nodes = nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let stream = here.get().await;
    assert_eq!(there.delete().await.status, 200);
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert_eq!(nodes.sessions.count(), 0);
    assert_eq!(there.tool(1, "echo").await.status, 404);
    assert_eq!(here.tool(2, "echo").await.status, 404);
    let rest = stream.rest().await;
    assert!(rest.iter().all(|event| event.data.is_none()), "{rest:?}");
    let ends = [
        "a opened",
        "b continued",
        "b closed Deleted",
        "a closed Elsewhere",
    ];
    assert_eq!(*nodes.told.lock().unwrap(), ends);
}

#[tokio::test(start_paused = true)]
async fn state_from_another_server_stays_and_reaches_open_stream() {
    let nodes = nodes();
    let mut here = Peer::new(&nodes.endpoints[0]);
    here.session = here
        .send(initialize("2025-11-25"))
        .await
        .header("mcp-session-id");
    let there = nodes.other(&here);
    let mut stream = here.get().await;
    assert_eq!(stream.frame().await.as_deref(), Some(":\n\n"));
    assert!(stream.event().await.id.is_some());
    // The first server receives none of these messages.
    assert_eq!(there.send(initialized()).await.status, 202);
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 3, "method": "resources/subscribe",
        "params": { "uri": "file:///a" },
    });
    assert_eq!(there.send(subscribe).await.status, 200);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    nodes.tools.bus.publish(ChangeEvent::Resource {
        uri: "file:///a".into(),
    });
    let change = stream.event().await.data.unwrap();
    assert_eq!(change["params"]["uri"], "file:///a");
    let id = here.session.as_deref().unwrap();
    let record = mcp_core::store::SessionStore::load(&*nodes.sessions, id).await;
    let record = record.unwrap().unwrap();
    assert_eq!(
        (record.subscriptions, record.ready),
        (vec!["file:///a".to_owned()], true)
    );
}

/// Returns the next message of a GET stream. Its first event has an id only.
async fn change(stream: &mut Got) -> Value {
    loop {
        if let Some(message) = stream.event().await.data {
            return message;
        }
    }
}

/// Returns the id of the question of a call.
async fn question(call: &mut Got) -> Value {
    call.event().await;
    call.event().await.data.unwrap()["id"].clone()
}

#[tokio::test(start_paused = true)]
async fn client_response_at_another_server_reaches_its_call() {
    // spec: HTTP-S-07
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let (mut mine, mut yours) = (here.tool(1, "ask").await, there.tool(2, "ask").await);
    let asked = [question(&mut mine).await, question(&mut yours).await];
    assert_eq!(there.send(asking::accept(&asked[0])).await.status, 202);
    let answers = mine.messages().await;
    assert_eq!(answers[0]["result"]["content"][0]["text"], "accepted");
    assert_eq!(yours.frame_now(), None);
    let refused = json!({
        "jsonrpc": "2.0", "id": asked[1], "error": { "code": -32603, "message": "not now" },
    });
    assert_eq!(here.send(refused).await.status, 202);
    let text = yours.messages().await[0]["result"]["content"][0]["text"].clone();
    assert!(text.as_str().unwrap().contains("not now"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn client_response_for_a_server_that_has_ended_is_rejected() {
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    assert_eq!(there.tool(1, "echo").await.status, 200);
    let mut call = here.tool(2, "ask").await;
    let asked = question(&mut call).await;
    let Nodes { endpoints, .. } = nodes;
    let [gone, _stays] = endpoints;
    drop((gone, here, call));
    tokio::time::sleep(Duration::from_secs(600)).await;
    let got = there.send(asking::accept(&asked)).await;
    assert_eq!(got.refusal().await, (400, -32600));
}

#[tokio::test(start_paused = true)]
async fn client_response_that_does_not_reach_its_server_is_to_be_sent_again() {
    let relay = MemoryRelay::default();
    let nodes = nodes_with(Some(relay.clone()));
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let mut call = here.tool(1, "ask").await;
    let asked = question(&mut call).await;
    for fault in [RelayFault::Lost, RelayFault::Fails] {
        relay.set_fault(Some(fault));
        let got = there.send(asking::accept(&asked)).await;
        assert_eq!(got.status, 503, "{fault:?}");
        assert_eq!(got.header("retry-after").as_deref(), Some("1"));
        assert_eq!(call.frame_now(), None);
    }
    relay.set_fault(None);
    assert_eq!(there.send(asking::accept(&asked)).await.status, 202);
    let answers = call.messages().await;
    assert_eq!(answers[0]["result"]["content"][0]["text"], "accepted");
    // A second one is ignored.
    assert_eq!(there.send(asking::accept(&asked)).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn cancellation_at_another_server_stops_the_call() {
    // spec: CAN-04
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let call = here.tool(1, "wait").await;
    assert_eq!(nodes.tools.waiting(), (1, 0));
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 },
    });
    assert_eq!(there.send(cancel).await.status, 202);
    let messages = call.messages().await;
    assert!(messages.iter().all(|message| message.get("id").is_none()));
    assert_eq!(nodes.tools.waiting(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn subscription_at_another_server_reaches_the_open_stream() {
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let mut stream = here.get().await;
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 1, "method": "resources/subscribe",
        "params": { "uri": "file:///a" },
    });
    assert_eq!(there.send(subscribe).await.status, 200);
    tokio::time::sleep(Duration::from_millis(1)).await;
    nodes.tools.bus.publish(ChangeEvent::Resource {
        uri: "file:///a".into(),
    });
    assert_eq!(change(&mut stream).await["params"]["uri"], "file:///a");
}

#[tokio::test(start_paused = true)]
async fn deletion_at_another_server_ends_calls_and_streams() {
    // spec: SESS-07
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let stream = here.get().await;
    let call = here.tool(1, "wait").await;
    assert_eq!(there.delete().await.status, 200);
    stream.rest().await;
    call.rest().await;
    assert_eq!(nodes.tools.waiting(), (0, 0));
    assert_eq!(nodes.endpoints[0].session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn stream_at_another_server_replaces_the_one_here() {
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let old = here.get().await;
    let mut new = there.get().await;
    old.rest().await;
    nodes.tools.bus.publish(ChangeEvent::Resources);
    // Changes that a server without the session may have missed come first.
    while change(&mut new).await["method"] != "notifications/resources/list_changed" {}
    // The stream can come back.
    let _back = here.get().await;
    new.rest().await;
}

#[tokio::test(start_paused = true)]
async fn late_message_about_an_older_stream_ends_nothing() {
    let relay = MemoryRelay::default();
    let late = relay.join();
    let older = late.next_number().await.unwrap();
    let nodes = nodes_with(Some(relay));
    let here = Peer::open(&nodes.endpoints[0]).await;
    let mut stream = here.get().await;
    let id = here.session.as_deref().unwrap();
    let message = |number| RelayMessage {
        session: id.to_owned(),
        event: RelayEvent::StreamOpened(number),
    };
    late.send(RelayTarget::Others, message(older))
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    nodes.tools.bus.publish(ChangeEvent::Resources);
    let method = &change(&mut stream).await["method"];
    assert_eq!(method, "notifications/resources/list_changed");
    // A later one ends it.
    let later = late.next_number().await.unwrap();
    late.send(RelayTarget::Others, message(later))
        .await
        .unwrap();
    stream.rest().await;
}

#[tokio::test(start_paused = true)]
async fn log_level_set_at_another_server_applies_to_calls_here() {
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let with_logs = here.send(steps(2)).await.messages().await.len();
    let set_level = json!({
        "jsonrpc": "2.0", "id": 1, "method": "logging/setLevel", "params": { "level": "error" },
    });
    assert_eq!(there.send(set_level).await.status, 200);
    tokio::time::sleep(Duration::from_millis(1)).await;
    let without = here.send(steps(2)).await.messages().await.len();
    assert!(without < with_logs, "{without} {with_logs}");
}

#[tokio::test(start_paused = true)]
async fn change_while_no_server_has_the_session_is_not_missed() {
    let nodes = related_nodes();
    let here = Peer::open(&nodes.endpoints[0]).await;
    let there = nodes.other(&here);
    let bus = nodes.tools.bus.clone();
    let Nodes { endpoints, .. } = nodes;
    let [gone, _stays] = endpoints;
    drop((gone, here));
    bus.publish(ChangeEvent::Resources);
    let mut stream = there.get().await;
    let method = &change(&mut stream).await["method"];
    assert_eq!(method, "notifications/tools/list_changed");
}
