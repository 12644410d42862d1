//! Results that pass without being decoded.

use std::time::Duration;

use mcp::ConnectMode;
use mcp::core::{Call, Fault, RawResult, Reply, ResultBody};
use mcp::gateway::{CallLimits, ConnectedGateway, Gateway, GatewayServer};
use mcp::prelude::*;
use mcp::types::{
    CacheHint, CacheScope, CallToolParams, GetPromptParams, ProtocolVersion, RawObject,
    ReadResourceParams, Response,
};

use crate::kit::{LogLines, serve, server_of};

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

/// A result with a member, a number and an escape that no decoder keeps.
const RESULT: &str =
    r#"{"content":[{"type":"text","text":"\u0061","later":1.50}],"isError":true,"new":{"x":1e2}}"#;

fn undecoded(call: Call, json: &str) -> Result<ResultBody, Fault> {
    let object = RawObject::from_text(json).unwrap();
    let response = Response::new(None, Ok(object.as_raw()));
    match Reply::decode_raw(&call.into(), &response, ProtocolVersion::LATEST) {
        Ok(Reply::Complete { body, .. }) => Ok(body),
        other => Err(Fault::internal(format!("{other:?}"))),
    }
}

/// A server whose results are JSON that its SDK does not define.
fn shop() -> Server {
    Server::new("shop", "1.0.0")
        .tool(Tool::new("stock").handler(|| undecoded(Call::CallTool(CallToolParams::new("", None)), RESULT).map_err(ToolError::fault)))
        .tool(Tool::new("export").handler(|| "x".repeat(1 << 20)))
        .resource(
            Resource::new("shop://hours")
                .read(|| undecoded(Call::ReadResource(ReadResourceParams::from("")), r#"{"contents":[{"uri":"shop://hours","text":"9","later":1.50}]}"#).map_err(ResourceError::fault))
                .cache(CacheHint::public(Duration::from_secs(60))),
        )
        .prompt(Prompt::new("greet").handler(|| {
            let result = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi","later":1.50}}]}"#;
            undecoded(Call::GetPrompt(GetPromptParams::new("", None)), result).map_err(PromptError::fault)
        }))
}

/// Connects a client of one era to a gateway in front of the shop in another one.
async fn client_of(
    limits: CallLimits,
    back: &ConnectMode,
    front: &ConnectMode,
) -> (Client, mcp::group::Group) {
    let (shop, back) = (serve(shop()).await, back.clone());
    let shop = GatewayServer::new("shop", move |client| {
        client.mode(back.clone()).connect(shop.clone())
    });
    let gateway = Gateway::new("gateway", "1").server(shop.limits(limits));
    let ConnectedGateway { server, group, .. } = gateway.connect().await.unwrap();
    let client = Client::builder().mode(front.clone());
    (client.connect(serve(server).await).await.unwrap(), group)
}

fn raw(body: ResultBody) -> RawResult {
    match body {
        ResultBody::Raw(result) => *result,
        body => panic!("{body:?}"),
    }
}

#[tokio::test]
async fn result_keeps_json_that_no_decoder_keeps() {
    for (back, front) in ERAS
        .iter()
        .flat_map(|back| ERAS.iter().map(move |front| (back, front)))
    {
        let (client, _group) = client_of(CallLimits::new(), back, front).await;
        let stock = raw(client.call("shop__stock", ()).raw().await.unwrap());
        assert!(stock.is_error());
        let content: &[u8] = br#"[{"type":"text","text":"\u0061","later":1.50}]"#;
        assert_eq!(
            stock.member("content"),
            Some(content),
            "{front:?} to {back:?}"
        );
        assert_eq!(stock.member("new"), Some(&br#"{"x":1e2}"#[..]));
        // A client that decodes reads the same.
        let decoded = client.call("shop__stock", ()).await.unwrap();
        assert!(decoded.is_error() && decoded.text() == "a");

        let hours = raw(client.read_resource("shop://hours").raw().await.unwrap());
        let contents: &[u8] = br#"[{"uri":"shop://hours","text":"9","later":1.50}]"#;
        assert_eq!(hours.member("contents"), Some(contents));
        let greeting = raw(client.get_prompt("shop__greet", ()).raw().await.unwrap());
        let messages = greeting.member("messages").unwrap();
        assert!(messages.ends_with(br#""later":1.50}}]"#), "{greeting:?}");
    }
}

/// Two principals of the gateway do not share what the server shares with everybody.
#[tokio::test]
async fn hint_for_a_resource_passes_as_private() {
    let [_, modern] = &ERAS;
    let (client, _group) = client_of(CallLimits::new(), modern, modern).await;
    for _ in 0..2 {
        let hours = raw(client
            .read_resource("shop://hours")
            .raw()
            .fresh()
            .await
            .unwrap());
        let hint = hours.cache.unwrap();
        assert_eq!(hint.scope, CacheScope::Private);
        assert!(
            hint.ttl > Duration::from_secs(50) && hint.ttl <= Duration::from_secs(60),
            "{hint:?}"
        );
    }
}

#[tokio::test]
async fn large_result_passes_within_the_limit_only() {
    let [_, modern] = &ERAS;
    for (limit, passes) in [(1 << 20, false), ((1 << 20) + 100, true)] {
        let limits = CallLimits::new().max_result_bytes(limit);
        let (client, _group) = client_of(limits, modern, modern).await;
        let result = client.call("shop__export", ()).await.unwrap();
        assert_eq!(!result.is_error(), passes, "{limit}");
    }
}

/// A model of a legacy client reads the metadata of each result.
#[tokio::test]
async fn results_carry_the_gateway_identity_or_none() {
    const INFO: &str = "io.modelcontextprotocol/serverInfo";
    let [legacy, modern] = &ERAS;
    for front in &ERAS {
        let (client, _group) = client_of(CallLimits::new(), modern, front).await;
        let tool = client.call("shop__stock", ()).await.unwrap();
        let resource = client.read_resource("shop://hours").await.unwrap();
        let prompt = client.get_prompt("shop__greet", ()).await.unwrap();
        for meta in [tool.meta, resource.meta, prompt.meta] {
            let info = meta.and_then(|meta| meta.get::<serde_json::Value>(INFO));
            let name = info.map(|info| info["name"].clone());
            let expected = (front != legacy).then(|| "gateway".into());
            assert_eq!(name, expected, "{front:?}");
        }
    }
}

// All tasks run on the thread of the subscriber.
#[tokio::test]
async fn server_tools_leave_no_lints_in_the_log() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let tool = Tool::new("a.b").handler(|| "x");
    let shop = server_of("shop", Server::new("shop", "1").tool(tool)).prefix("");
    let opened = Gateway::new("gateway", "1").server(shop).connect().await;
    let opened = opened.unwrap();
    opened.server.check().unwrap();
    assert!(opened.server.lints().is_empty());
    let own = opened.server.tool(Tool::new("c.d").handler(|| "x"));
    assert_eq!(own.lints().len(), 1);
    let log = lines.text();
    assert!(!log.contains("a.b"), "{log}");
}
