//! The protocol of a subscription by tables, and subscriptions as a transport sees them.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use futures::channel::oneshot;
use futures_util::future::BoxFuture;
use mcp_types::{
    Implementation, Message, ProtocolVersion, RequestId, ServerCapabilities, SubscriptionFilter,
};
use serde_json::{Value, json};

use super::{
    MAX_ID_LEN, MAX_URI_BYTES, MAX_URIS, authorize, check_size, notification_for, offered,
};
use crate::authorization::{Gate, Principal};
use crate::call::{Exchange, Service};
use crate::changes::{ChangeEvent, Changes, MemoryBus, Subscriber};
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::inbound::modern;
use crate::inbound::request::InboundRequest;
use crate::inbound::running_call::{CallOutput, RunningCall};
use crate::message::{Call, Fault, Reply, ResultBody, ServerNotification};
use crate::wire::{LINE_FRAMING, ReplyTarget};

fn updated(uri: &str) -> ChangeEvent {
    ChangeEvent::Resource { uri: uri.into() }
}

fn all() -> SubscriptionFilter {
    SubscriptionFilter::new()
        .tools_changed()
        .prompts_changed()
        .resources_changed()
        .resource("a://b")
}

// spec: SUB-02
#[test]
fn notification_exists_for_granted_changes_only() {
    let none = SubscriptionFilter::new;
    let table = [
        (
            ChangeEvent::Tools,
            none().tools_changed(),
            ServerNotification::ToolsChanged,
        ),
        (
            ChangeEvent::Prompts,
            none().prompts_changed(),
            ServerNotification::PromptsChanged,
        ),
        (
            ChangeEvent::Resources,
            none().resources_changed(),
            ServerNotification::ResourcesChanged,
        ),
        (
            updated("a://b/c"),
            none().resource("a://b"),
            ServerNotification::ResourceUpdated {
                uri: "a://b/c".to_owned(),
            },
        ),
    ];
    for (event, granted, note) in &table {
        for (other, ..) in &table {
            let expected = (other == event).then(|| note.clone());
            assert_eq!(
                notification_for(granted, other.clone()),
                expected,
                "{other:?} for {granted:?}"
            );
        }
        assert_eq!(notification_for(granted, updated("a://bc")), None);
    }
}

#[test]
fn filter_is_reduced_to_the_offer() {
    let offers = ServerCapabilities::default;
    for (offers, granted) in [
        (offers(), SubscriptionFilter::new()),
        (
            offers().with_tools(false).with_prompts(false),
            SubscriptionFilter::new(),
        ),
        (
            offers().with_tools(true),
            SubscriptionFilter::new().tools_changed(),
        ),
        (
            offers().with_resources(true, false).with_prompts(true),
            SubscriptionFilter::new()
                .prompts_changed()
                .resources_changed(),
        ),
        (
            offers().with_resources(false, true),
            SubscriptionFilter::new().resource("a://b"),
        ),
        (
            offers()
                .with_tools(true)
                .with_prompts(true)
                .with_resources(true, true),
            all(),
        ),
    ] {
        let mut filter = all().resource("a://b").task("t");
        filter.extra.insert("weather".to_owned(), json!({}));
        assert_eq!(offered(filter, &offers), granted, "{offers:?}");
        assert!(offered(SubscriptionFilter::new(), &offers).is_empty());
    }
}

#[test]
fn filter_beyond_a_limit_is_refused() {
    let of = |count: usize, length: usize| {
        let mut filter = SubscriptionFilter::new();
        filter.resource_subscriptions = vec!["x".repeat(length); count];
        filter
    };
    assert_eq!(check_size(&of(MAX_URIS, MAX_URI_BYTES / MAX_URIS)), Ok(()));
    for filter in [of(MAX_URIS + 1, 1), of(2, MAX_URI_BYTES)] {
        let text = check_size(&filter).unwrap_err().to_string();
        assert!(
            text.contains("resourceSubscriptions`: ") && text.contains("file:///logs/"),
            "{text}"
        );
    }
}

#[test]
fn gate_reduces_the_filter() {
    let no_tools = |call: &Call| match call {
        Call::ListTools(_) => Err(Fault::Refused("no tools".into())),
        Call::ReadResource(params) if params.uri == "a://secret" => {
            Err(Fault::Refused("secret".into()))
        }
        _ => Ok(()),
    };
    let mut filter = all().resource("a://secret");
    assert_eq!(authorize(&mut filter, no_tools), Ok(()));
    let mut left = all();
    left.tools_list_changed = false;
    assert_eq!(filter, left);

    let mut nothing = SubscriptionFilter::new()
        .tools_changed()
        .resource("a://secret");
    let refused = authorize(&mut nothing, no_tools);
    assert_eq!(refused, Err(Fault::Refused("no tools".into())));
    let mut empty = SubscriptionFilter::new();
    assert_eq!(authorize(&mut empty, |_| Err(Fault::Deadline)), Ok(()));
}

/// A server with changes. Resources below `secret` are invisible while `hidden` is set.
struct Server {
    bus: Arc<MemoryBus>,
    changes: Changes,
    hidden: Arc<AtomicBool>,
}

impl Server {
    fn new() -> Self {
        let bus = Arc::new(MemoryBus::default());
        let hidden = Arc::new(AtomicBool::new(false));
        let hides = hidden.clone();
        let changes = Changes::from(bus.clone())
            .max_subscriptions(2)
            .visibility(move |uri, _, _| !(hides.load(Ordering::SeqCst) && uri.contains("secret")));
        Self {
            bus,
            changes,
            hidden,
        }
    }
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        let offers = ServerCapabilities::default()
            .with_tools(true)
            .with_resources(false, true);
        let mut profile = ServerProfile::new(Implementation::new("s", "1"));
        profile.capabilities = offers;
        Arc::new(profile)
    }

    fn call(&self, _: Exchange) -> BoxFuture<'static, Reply> {
        Box::pin(ready(ResultBody::Empty.into()))
    }

    fn changes(&self) -> Option<Changes> {
        Some(self.changes.clone())
    }
}

fn inbound(server: &Server, id: u32, filter: &SubscriptionFilter) -> Result<InboundRequest, Fault> {
    let text = json!({
        "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen",
        "params": {"notifications": filter, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/logLevel": "debug", "progressToken": "t",
        }},
    });
    let text = text.to_string();
    let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
        panic!()
    };
    let read = modern::read_request(&request, None, &server.profile(), false, |_| Ok(()));
    read.map(|inbound| inbound.unwrap())
}

fn begin(server: &Server, id: u32, inbound: InboundRequest) -> RunningCall {
    RunningCall::start(
        server,
        inbound,
        to(server, id),
        LINE_FRAMING,
        None,
        Extensions::default(),
    )
}

fn to(server: &Server, id: u32) -> ReplyTarget {
    ReplyTarget {
        id: RequestId::from(i64::from(id)),
        profile: server.profile(),
        version: ProtocolVersion::LATEST,
    }
}

fn listen(server: &Server, id: u32, filter: &SubscriptionFilter) -> RunningCall {
    begin(server, id, inbound(server, id, filter).unwrap())
}

/// Returns the output of a call so far, with the reply if it is ready.
fn said(running: &mut RunningCall) -> (Vec<Value>, Option<Value>) {
    let cx = &mut Context::from_waker(Waker::noop());
    let mut notes = Vec::new();
    loop {
        match running.poll_output(cx, true) {
            Poll::Ready(CallOutput::Notifications(text)) => {
                let lines = text
                    .split(|byte| *byte == b'\n')
                    .filter(|line| !line.is_empty());
                notes.extend(lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()));
            }
            Poll::Ready(CallOutput::Reply(text)) => {
                return (
                    notes,
                    Some(serde_json::from_slice(&text.into_bytes()).unwrap()),
                );
            }
            Poll::Pending => return (notes, None),
        }
    }
}

fn methods(notes: &[Value]) -> Vec<&str> {
    let methods = notes.iter().map(|note| note["method"].as_str().unwrap());
    methods
        .map(|method| method.trim_start_matches("notifications/"))
        .collect()
}

/// A gate with a mistake.
struct PanickingGate;

impl Gate for PanickingGate {
    fn admit(&self, _: &Call, _: &ClientContext, _: Option<&Principal>) -> Result<(), Fault> {
        panic!("hunter2")
    }
}

#[test]
fn panic_in_a_gate_or_filter_refuses_access() {
    let server = Server::new();
    let gate: Arc<dyn Gate> = Arc::new(PanickingGate);
    let filter = SubscriptionFilter::new().resource("a://b");
    let mut listen = inbound(&server, 1, &filter).unwrap();
    let refused = listen.authorize(&gate, None).unwrap_err();
    assert!(!refused.to_string().contains("hunter2"), "{refused}");

    let facts = ClientContext::new(ProtocolVersion::LATEST);
    let call = Call::ListTools(mcp_types::Page::default());
    let mut inbound = listen;
    inbound.request = call.into();
    assert!(inbound.authorize(&gate, None).is_err());

    let changes = Changes::new(Arc::new(MemoryBus::default()));
    let gated = Subscriber {
        gate: Some(gate),
        ..Subscriber::default()
    };
    assert!(changes.check_access("a://b", &facts, &gated).is_err());
    let filtered = changes.visibility(|_, _, _| panic!("hunter2"));
    let subscriber = Subscriber::default();
    assert!(filtered.check_access("a://b", &facts, &subscriber).is_err());
}

#[test]
fn subscription_is_refused_to_a_large_client() {
    let server = Server::new();
    let read = |id: &str, capabilities: Value, info: &str| {
        let text = json!({
            "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen",
            "params": {"notifications": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
                "io.modelcontextprotocol/clientInfo": {"name": info, "version": "1"},
            }},
        });
        let text = text.to_string();
        let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
            panic!()
        };
        modern::read_request(&request, None, &server.profile(), false, |_| Ok(())).map(drop)
    };
    let none = json!({});
    let wide = json!({"experimental": {"x": vec![0; 300]}});
    let long = "x".repeat(16 << 10);
    assert_eq!(
        read(&long[..MAX_ID_LEN], none.clone(), &long[..16_000]),
        Ok(())
    );
    for (id, capabilities, info) in [
        (&long[..=MAX_ID_LEN], none.clone(), ""),
        ("1", wide, ""),
        ("1", none, &long),
    ] {
        assert!(read(id, capabilities, info).is_err(), "{}", id.len());
    }
}

// spec: SUB-03, SUB-09
#[test]
fn subscription_without_anything_granted_ends_after_the_acknowledgement() {
    let server = Server::new();
    let filter = SubscriptionFilter::new().prompts_changed();
    let (notes, answer) = said(&mut listen(&server, 1, &filter));
    assert_eq!(methods(&notes), ["subscriptions/acknowledged"]);
    assert_eq!(answer.unwrap()["result"]["resultType"], "complete");
}

// spec: SUB-03, SUB-04
#[test]
fn subscription_is_acknowledged_notified_and_ended() {
    let server = Server::new();
    let mut inbound = inbound(&server, 7, &all()).unwrap();
    let (end, ending) = oneshot::channel::<()>();
    let ended = async { ending.await.unwrap_or_default() };
    inbound.limit_subscription(|| Box::pin(ready(())), || ended);
    let mut running = begin(&server, 7, inbound);
    // Changes before the first poll come after the acknowledgement.
    server.changes.publish(ChangeEvent::Tools);
    server.changes.publish(updated("a://b"));
    let (notes, answer) = said(&mut running);
    assert_eq!(answer, None);
    assert_eq!(
        methods(&notes),
        [
            "subscriptions/acknowledged",
            "tools/list_changed",
            "resources/updated"
        ]
    );
    let granted = json!({"toolsListChanged": true, "resourceSubscriptions": ["a://b"]});
    assert_eq!(notes[0]["params"]["notifications"], granted);
    assert_eq!(notes[2]["params"]["uri"], "a://b");
    for note in &notes {
        let id = &note["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*id, json!(7), "{note}");
    }
    server.changes.publish(ChangeEvent::Prompts);
    assert_eq!(said(&mut running), (vec![], None));
    for _ in 0..10 {
        server.changes.publish(updated("a://b/below"));
    }
    assert_eq!(said(&mut running).0.len(), 1);

    server.changes.publish(ChangeEvent::Tools);
    end.send(()).unwrap();
    let (notes, answer) = said(&mut running);
    assert_eq!(methods(&notes), ["tools/list_changed"]);
    let answer = answer.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["resultType"]),
        (&json!(7), &json!("complete"))
    );
    let id = &answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(*id, json!(7));
    server.changes.publish(ChangeEvent::Tools);
    assert_eq!(said(&mut running), (vec![], None));
    assert_eq!(
        (
            server.bus.subscriber_count(),
            server.changes.active_subscriptions()
        ),
        (0, 0)
    );
}

#[test]
fn subscription_that_ends_at_once_is_acknowledged() {
    let server = Server::new();
    let mut inbound = inbound(&server, 1, &all()).unwrap();
    inbound.limit_subscription(|| Box::pin(ready(())), || ready(()));
    let (notes, answer) = said(&mut begin(&server, 1, inbound));
    assert_eq!(methods(&notes), ["subscriptions/acknowledged"]);
    assert!(answer.is_some());
}

#[test]
fn dropped_subscription_releases_permit_and_watch() {
    let server = Server::new();
    let mut first = listen(&server, 1, &all());
    said(&mut first);
    let second = listen(&server, 2, &SubscriptionFilter::new());
    assert_eq!(
        (
            server.bus.subscriber_count(),
            server.changes.active_subscriptions()
        ),
        (2, 2)
    );

    let mut third = listen(&server, 3, &all());
    let (notes, answer) = said(&mut third);
    assert!(
        notes.is_empty(),
        "a refused subscription is not acknowledged"
    );
    let message = answer.unwrap()["error"]["message"].to_string();
    assert!(
        message.contains("this server has 2 subscriptions already"),
        "{message}"
    );

    drop((first, second, third));
    assert_eq!(
        (
            server.bus.subscriber_count(),
            server.changes.active_subscriptions()
        ),
        (0, 0)
    );
    let (notes, answer) = said(&mut listen(&server, 4, &all()));
    assert_eq!((notes.len(), answer), (1, None));
}

#[test]
fn slow_reader_receives_merged_changes() {
    let server = Server::new();
    let mut running = listen(&server, 1, &all());
    let cx = &mut Context::from_waker(Waker::noop());
    for n in 0..100_000 {
        server.changes.publish(ChangeEvent::Tools);
        server.changes.publish(updated(&format!("a://b/{n}")));
        // The notifications are encoded and not drained.
        assert!(running.poll_output(cx, false).is_pending());
        running.mark_stalled();
    }
    let mut seen = Vec::new();
    loop {
        let (notes, _) = said(&mut running);
        if notes.is_empty() {
            break;
        }
        seen.extend(notes);
    }
    assert!(seen.len() < 300, "{}", seen.len());
    let methods = methods(&seen);
    assert_eq!(
        methods
            .iter()
            .filter(|one| **one == "subscriptions/acknowledged")
            .count(),
        1
    );
    assert!(methods.contains(&"tools/list_changed"));
    assert!(
        seen.iter().any(|note| note["params"]["uri"] == "a://b"),
        "one for all below it"
    );
}

#[test]
fn invisible_resource_is_never_notified() {
    let server = Server::new();
    let filter = SubscriptionFilter::new()
        .resource("a://")
        .resource("a://secret");
    server.hidden.store(true, Ordering::SeqCst);
    let mut running = listen(&server, 1, &filter);
    let (notes, _) = said(&mut running);
    let granted = json!({"resourceSubscriptions": ["a://"]});
    assert_eq!(notes[0]["params"]["notifications"], granted);
    server.changes.publish(updated("a://secret/1"));
    server.changes.publish(updated("a://open"));
    let (notes, _) = said(&mut running);
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0]["params"]["uri"], "a://open");
}

struct Scopes;

impl Gate for Scopes {
    fn admit(&self, call: &Call, _: &ClientContext, who: Option<&Principal>) -> Result<(), Fault> {
        let uri = call.item().unwrap_or_default();
        match who {
            Some(_) => Ok(()),
            None if uri.ends_with("private") => Err(Fault::Refused("sign in first".into())),
            None => Ok(()),
        }
    }
}

#[test]
fn gate_is_checked_for_each_change() {
    let server = Server::new();
    let gate: Arc<dyn Gate> = Arc::new(Scopes);
    let who = Principal::new("https://issuer", "me");
    for (principal, times) in [(None, 1), (Some(who), 2)] {
        let filter = SubscriptionFilter::new().resource("a://x");
        let mut inbound = inbound(&server, 1, &filter).unwrap();
        inbound.authorize(&gate, principal.as_ref()).unwrap();
        let mut extensions = Extensions::default();
        if let Some(principal) = principal {
            extensions.insert(principal);
        }
        let to = to(&server, 1);
        let mut running = RunningCall::start(&server, inbound, to, LINE_FRAMING, None, extensions);
        said(&mut running);
        server.changes.publish(updated("a://x/private"));
        server.changes.publish(updated("a://x/public"));
        assert_eq!(said(&mut running).0.len(), times);
    }
    let filter = SubscriptionFilter::new().resource("a://private");
    let mut refused = inbound(&server, 1, &filter).unwrap();
    let refused = refused.authorize(&gate, None);
    assert_eq!(refused, Err(Fault::Refused("sign in first".into())));
}

#[tokio::test(start_paused = true)]
async fn paced_changes_are_sent_in_rounds() {
    let server = Server::new();
    let mut inbound = inbound(&server, 1, &all()).unwrap();
    let pause = std::time::Duration::from_millis(100);
    let pause = move || Box::pin(tokio::time::sleep(pause)) as _;
    inbound.limit_subscription(pause, std::future::pending);
    let mut running = begin(&server, 1, inbound);
    assert_eq!(said(&mut running).0.len(), 1);
    let mut times = Vec::new();
    for step in 0..50 {
        server.changes.publish(ChangeEvent::Tools);
        if !said(&mut running).0.is_empty() {
            times.push(step * 10);
        }
        tokio::time::advance(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(times[..2], [0, 100], "the first at once, then in rounds");
    assert!(times.len() <= 6, "{times:?}");
}
