//! Several gateways behind one address, with the same keys of request states.

use mcp::gateway::Gateway;
use mcp::prelude::*;
use mcp::types::{ElicitResult, InputRequired, ProtocolVersion};
use mcp::{ConnectMode, StateKeys};
use serde_json::json;
use tokio::net::TcpListener;

use crate::kit::http_shop;

/// Serves one node in front of a server, which it calls in one era. Returns a client of the node.
async fn node(server: &str, back: ConnectMode) -> Client {
    let server = server.to_owned();
    let gateway = Gateway::new("gateway", "1.0.0").server("shop", move |client| {
        client.mode(back.clone()).connect(server.clone())
    });
    let opened = gateway.open().await.unwrap();
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
    let turn = client.call("shop__order", ()).manual().await.unwrap();
    let Turn::Asks(asks) = turn else {
        panic!("{turn:?}")
    };
    let key = asks.requests().keys().next().unwrap().clone();
    let answer = ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect());
    (asks.required().clone(), vec![(key, answer)])
}

#[tokio::test]
async fn call_of_a_modern_server_continues_at_another_node() {
    let server = http_shop().await;
    let era = ConnectMode::Pin(ProtocolVersion::LATEST);
    let first = node(&server, era.clone()).await;
    let second = node(&server, era).await;
    let (required, answers) = question(&first).await;
    let call = second.call("shop__order", ()).resume(required, answers);
    assert_eq!(call.await.unwrap().text(), "3 items");
}

#[tokio::test]
async fn call_of_a_legacy_server_is_refused_by_another_node_and_goes_on_at_its_own() {
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
