//! Several gateways behind one address, with the same keys of request states.

use std::collections::HashSet;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp::gateway::{CallLimits, Gateway, GatewayServer, ToolOptions};
use mcp::prelude::*;
use mcp::types::{ElicitResult, InputRequired, ProtocolVersion};
use mcp::{ConnectMode, StateKeys};
use serde_json::json;
use tokio::net::TcpListener;

use crate::kit::http_shop;

/// Serves one node in front of a server, which it calls in one era. Returns a client of the node.
async fn node(server: &str, back: ConnectMode) -> Client {
    serve_node(Gateway::new("gateway", "1.0.0").server(shop(server, back))).await
}

fn shop(server: &str, back: ConnectMode) -> GatewayServer {
    let server = server.to_owned();
    GatewayServer::new("shop", move |client| {
        client.mode(back.clone()).connect(server.clone())
    })
}

async fn serve_node(gateway: Gateway) -> Client {
    let opened = gateway.connect().await.unwrap();
    let keys = StateKeys::new("0123456789abcdef0123456789abcdef").unwrap();
    let server = opened.server.request_state_keys(keys);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async { drop(mcp::serve_http(server, listener).await) });
    let client = Client::builder()
        .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) });
    client.connect(url).await.unwrap()
}

/// Calls a tool that asks. Returns what the client has to send with its next request.
async fn question(client: &Client) -> (InputRequired, Vec<(String, ElicitResult)>) {
    let step = client.call("shop__order", ()).step().await.unwrap();
    let Step::InputRequired(asks) = step else {
        panic!("{step:?}")
    };
    let key = asks.requests().keys().next().unwrap().clone();
    let answer = ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect());
    (asks.required().clone(), vec![(key, answer)])
}

#[tokio::test]
async fn call_to_a_modern_server_continues_at_another_node() {
    let server = http_shop().await;
    let era = ConnectMode::Pin(ProtocolVersion::LATEST);
    let first = node(&server, era.clone()).await;
    let second = node(&server, era).await;
    let (required, answers) = question(&first).await;
    let call = second.call("shop__order", ()).resume(required, answers);
    assert_eq!(call.await.unwrap().text(), "3 items");
}

#[tokio::test]
async fn legacy_call_is_refused_at_other_node_and_goes_on_at_its_own() {
    let server = http_shop().await;
    let first = node(&server, ConnectMode::Legacy).await;
    let second = node(&server, ConnectMode::Legacy).await;
    let (required, answers) = question(&first).await;
    let call = second.call("shop__order", ());
    let error = call.resume(required.clone(), answers.clone()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("another node"), "{error}");
    let call = first.call("shop__order", ()).resume(required, answers);
    assert_eq!(call.await.unwrap().text(), "3 items");
}

/// The used states of several nodes.
type Store = Arc<Mutex<HashSet<String>>>;

/// A node that allows one order in an hour, or any number.
async fn limited(server: &str, store: Option<&Store>, is_limited: bool) -> Client {
    let era = ConnectMode::Pin(ProtocolVersion::LATEST);
    limited_in(era, server, store, is_limited).await
}

async fn limited_in(
    era: ConnectMode,
    server: &str,
    store: Option<&Store>,
    is_limited: bool,
) -> Client {
    let once = if is_limited {
        CallLimits::new().rate(1, Duration::from_secs(3600))
    } else {
        CallLimits::new()
    };
    let shop = shop(server, era).tool("order", ToolOptions::new().limits(once));
    let gateway = Gateway::new("gateway", "1.0.0").server(shop);
    let gateway = match store {
        Some(store) => {
            let store = store.clone();
            gateway
                .used_states(move |_, id, _| ready(Ok(store.lock().unwrap().insert(id.to_owned()))))
        }
        None => gateway,
    };
    serve_node(gateway).await
}

/// Sends one state a hundred times, to the nodes in step. Returns the number of calls that ran.
async fn repeat(nodes: &[Client]) -> usize {
    let (required, answers) = question(&nodes[0]).await;
    let mut ran = 0;
    for node in nodes.iter().cycle().take(100) {
        let call = node.call("shop__order", ());
        let result = call.resume(required.clone(), answers.clone()).await;
        let text = result.unwrap().text();
        if text == "3 items" {
            ran += 1;
        } else {
            assert!(text.contains("used already; call the tool again"), "{text}");
        }
    }
    ran
}

#[tokio::test]
async fn state_sent_a_hundred_times_runs_a_limited_tool_once() {
    let server = http_shop().await;
    let node = limited(&server, None, true).await;
    assert_eq!(repeat(&[node]).await, 1);
    let nodes = [
        limited(&server, None, true).await,
        limited(&server, None, true).await,
    ];
    assert_eq!(repeat(&nodes).await, 2, "one at each node");
    let store = Store::default();
    let nodes = [
        limited(&server, Some(&store), true).await,
        limited(&server, Some(&store), true).await,
    ];
    assert_eq!(repeat(&nodes).await, 1);
    // Without a limit, clients may repeat a state.
    let node = limited(&server, None, false).await;
    assert_eq!(repeat(&[node]).await, 100);
}

#[tokio::test]
async fn state_without_an_answer_is_replaced_and_its_call_runs_once() {
    let server = http_shop().await;
    let node = limited(&server, None, true).await;
    let (required, answers) = question(&node).await;
    let none: [(String, ElicitResult); 0] = [];
    let again = InputRequired::again(required.request_state.clone().unwrap());
    let call = node.call("shop__order", ()).resume(again, none);
    let Step::InputRequired(asks) = call.step().await.unwrap() else {
        panic!("the client is asked again");
    };
    let next = asks.required().clone();
    assert_ne!(next.request_state, required.request_state);
    let call = node.call("shop__order", ()).resume(next, answers.clone());
    assert_eq!(call.await.unwrap().text(), "3 items");
    let call = node.call("shop__order", ()).resume(required, answers);
    assert!(call.await.unwrap().is_error());
}

#[tokio::test]
async fn state_for_a_parked_call_is_not_used_up_at_another_node() {
    let server = http_shop().await;
    let store = Store::default();
    let node = || limited_in(ConnectMode::Legacy, &server, Some(&store), true);
    let (first, second) = (node().await, node().await);
    let (required, answers) = question(&first).await;
    let resume = |node: &Client| {
        let call = node.call("shop__order", ());
        call.resume(required.clone(), answers.clone()).into_future()
    };
    let error = resume(&second).await.unwrap_err().to_string();
    assert!(error.contains("another node"), "{error}");
    assert_eq!(resume(&first).await.unwrap().text(), "3 items");
    let error = resume(&first).await.unwrap_err().to_string();
    assert!(error.contains("make it again"), "{error}");
}
