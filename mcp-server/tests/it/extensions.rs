//! Extensions of the protocol that a program defines.

use futures::executor::block_on;
use mcp_core::{Call, Fault, Reply, ResultBody, Service};
use mcp_server::middleware::{Exchange, Next, from_fn};
use mcp_server::{RawExtension, Server, Tool, ToolExt};
use mcp_types::RawObject;
use serde_json::json;

use super::kit;

const ID: &str = "com.example/wave";

async fn wave(exchange: Exchange, next: Next) -> Reply {
    match &exchange.call {
        Call::Other { method, params } if **method == *"acme/wave" => {
            let params = params.clone().unwrap_or_default();
            ResultBody::Other(params).into()
        }
        _ => next.run(exchange).await,
    }
}

fn other(method: &str) -> Call {
    Call::Other {
        method: method.into(),
        params: RawObject::from_text(r#"{"hands":2}"#).ok(),
    }
}

// spec: EXT-01
#[test]
fn declared_extension_is_added_to_capabilities() {
    let server =
        Server::new("acme", "1.0.0").extension(RawExtension::new(ID, &json!({"hands": 2})));
    let tools = server.tools();
    let offers = server.profile().capabilities.clone();
    let settings: serde_json::Value = offers.extension(ID).unwrap();
    assert_eq!(settings, json!({"hands": 2}));
    assert!(!offers.has_extension("com.example/other"));
    tools.add(Tool::new("bow").handler(|| "bows")).unwrap();
    let offers = server.profile().capabilities.clone();
    assert!(offers.has_extension(ID) && offers.tools.is_some());
}

#[test]
fn layer_answers_an_extension_method() {
    let server = Server::new("acme", "1.0.0").layer(from_fn(wave));
    let reply = block_on(server.call(kit::exchange(other("acme/wave"))));
    let Reply::Complete {
        body: ResultBody::Other(answer),
        ..
    } = reply
    else {
        panic!("{reply:?}")
    };
    assert_eq!(answer.as_str(), r#"{"hands":2}"#);
    let refused = kit::fault(kit::reply(&server, other("acme/bow")));
    assert!(matches!(refused, Fault::NoSuchMethod { .. }), "{refused:?}");
}
