//! Allocations per call of a server. Each budget is an upper bound; the tests print the actual counts.
//! Raise a budget only with a reason.

#![expect(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::sync::Arc;

use allocation_counter::measure;
use futures::executor::block_on;
use mcp_core::{Call, ClientContext, Exchange, Reply, ReplyTarget, Service};
use mcp_macros::server;
use mcp_schema::Schema;
use mcp_server::middleware::{Next, RequestLog, from_fn};
use mcp_server::{Args, RawArgs, Server, Tool, ToolExt};
use mcp_types::{CallToolParams, JsonObject, Page, ProtocolVersion, RawObject};
use serde_json::json;

/// A call of a tool: the context, the handler's future, the list of content and the text in it.
const PLAIN: u64 = 4;

/// A layer of the server: its future and the future of its [`Next`].
const LAYER: u64 = 2;

/// The first layer of a tool: a layer, the endpoint of the call, and the context behind it.
const TOOL_LAYER: u64 = LAYER + 2;

/// A request log without a subscriber: a layer.
const UNREAD_LOG: u64 = LAYER;

/// A list of any length: the future, and the start and end of the message.
const LIST: u64 = 3;

/// Bytes that a call with a large string allocates in addition to its argument and its response.
const LARGE_STRING_OVERHEAD: u64 = 4096;

/// Checks that a call of a tool keeps to a budget.
#[track_caller]
fn assert_budget(name: &str, budget: u64, server: &Server) {
    let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
    let exchange = || {
        let call = Call::CallTool(CallToolParams::new("hello", None));
        Exchange::new(call, facts.clone())
    };
    // The first call builds the registry.
    assert!(matches!(
        block_on(server.call(exchange())),
        Reply::Complete { .. }
    ));
    let exchange = exchange();
    let mut reply = None;
    let cost = measure(|| reply = Some(block_on(server.call(exchange))));
    println!(
        "{name}: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    match reply.unwrap() {
        Reply::Complete { .. } => assert!(cost.count_total <= budget, "{name}: over {budget}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn call_with_layers_keeps_to_allocation_budget() {
    let layer = || from_fn(|exchange, next: Next| async move { next.run(exchange).await });
    let tool = || Tool::new("hello").handler(|| "hello");
    let plain = Server::new("test", "1.0.0").tool(tool());
    assert_budget("no layer", PLAIN, &plain);
    let one = plain.layer(layer());
    assert_budget("one layer", PLAIN + LAYER, &one);
    assert_budget("two layers", PLAIN + 2 * LAYER, &one.layer(layer()));
    let route = Server::new("test", "1.0.0").tool(tool().layer(layer()));
    assert_budget("a layer around the tool", PLAIN + TOOL_LAYER, &route);
    let logged = Server::new("test", "1.0.0")
        .tool(tool())
        .layer(RequestLog::new());
    assert_budget("a log without a subscriber", PLAIN + UNREAD_LOG, &logged);
}

fn target(server: &Server) -> ReplyTarget {
    ReplyTarget {
        id: 1.into(),
        profile: server.profile(),
        version: ProtocolVersion::LATEST,
    }
}

#[test]
fn list_is_serialized_once_until_it_changes() {
    let tools = (0..1000).map(|n| Tool::new(format!("tool_{n}")).handler(|| "hello"));
    let server = Server::new("test", "1.0.0").merge(tools.collect());
    let handle = server.tools();
    let target = target(&server);
    let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
    let list = || {
        let call = Call::ListTools(Page::default());
        let reply = block_on(server.call(Exchange::new(call, facts.clone())));
        target.encode(reply, Vec::new())
    };
    let first = list();
    let mut again = None;
    let cost = measure(|| again = Some(list()));
    let again = again.unwrap();
    println!(
        "a list of 1,000: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    assert!(cost.count_total <= LIST);
    assert_eq!(first.shared.as_ptr(), again.shared.as_ptr());

    let new = Tool::new("new").handler(|| "hello");
    let change = measure(|| handle.add(new).unwrap());
    println!("a change of the list: {} allocations", change.count_total);
    let after = list().into_bytes();
    assert!(String::from_utf8_lossy(&after).contains(r#""name":"new""#));
    assert!(!first.shared.windows(5).any(|part| part == b"\"new\""));
}

/// A large string is copied twice: out of the arguments, and into the response.
#[test]
fn large_string_is_copied_into_argument_and_message() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Echo {
        text: String,
    }

    const LENGTH: usize = 1 << 20;
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("echo").handler(|Args(echo): Args<Echo>| echo.text));
    let target = target(&server);
    let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
    let text = format!(r#"{{"text":"{}"}}"#, "x".repeat(LENGTH));
    let exchange = || {
        let arguments = RawObject::from_text(text.clone()).unwrap();
        let call = Call::CallTool(CallToolParams::new("echo", Some(arguments)));
        Exchange::new(call, facts.clone())
    };
    drop(block_on(server.call(exchange())));
    let exchange = exchange();
    let mut answer = None;
    let cost = measure(|| {
        let reply = block_on(server.call(exchange));
        answer = Some(target.encode(reply, Vec::new()));
    });
    println!(
        "a text of 1 MiB: {} allocations, {} bytes",
        cost.count_total, cost.bytes_total
    );
    let answer = answer.unwrap().into_bytes();
    assert!(answer.windows(3).filter(|part| part == b"xxx").count() == LENGTH - 2);
    assert!(cost.bytes_total < 2 * LENGTH as u64 + LARGE_STRING_OVERHEAD);
}

/// Arguments with a large schema: one number, and many names that no call has.
#[derive(serde::Deserialize)]
struct Wide {
    number: u32,
}

impl schemars::JsonSchema for Wide {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Wide".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        wide().into()
    }
}

fn wide() -> JsonObject {
    let number = json!({"type": "integer", "minimum": 1, "maximum": 9});
    let others = (0..500).map(|n| (format!("other{n}"), json!({"type": "string"})));
    let properties: JsonObject = [("number".to_owned(), number)]
        .into_iter()
        .chain(others)
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": ["number"]});
    schema.as_object().unwrap().clone()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Loose {
    #[serde(flatten)]
    wide: Option<Wide>,
}

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn named(number: u32, other: Option<Wide>) -> String {
        other.map_or(number, |other| other.number).to_string()
    }
}

/// A route reads its schema at the first call that needs it, and never again.
#[test]
fn failing_and_lenient_calls_do_not_read_the_schema_again() {
    let typed = || Tool::new("typed").handler(|Args(wide): Args<Wide>| wide.number.to_string());
    let loose = |Args(loose): Args<Loose>| loose.wide.map_or(0, |wide| wide.number).to_string();
    let raw = Tool::new("raw").input_schema(wide());
    let raw = raw.handler(|RawArgs(raw): RawArgs| raw.as_str().to_owned());
    let strict = Server::new("test", "1.0.0")
        .merge(Desk::tools())
        .tool(typed())
        .tool(Tool::new("loose").handler(loose));
    let lenient = Server::new("test", "1.0.0").tool(typed()).tool(raw);
    let lenient = lenient.lenient_arguments();
    let (schema, target) = (wide(), target(&strict));
    let facts = Arc::new(ClientContext::new(ProtocolVersion::LATEST));
    let reading = measure(|| drop(Schema::parse(&schema).unwrap()));
    for (server, name, arguments, expected) in [
        (
            &strict,
            "named",
            r#"{"number":"x"}"#,
            "expected a whole number",
        ),
        (&strict, "named", r#"{"number":5.0}"#, r#""5""#),
        (
            &strict,
            "named",
            r#"{"number":1,"other":{"number":"x"}}"#,
            "expected a whole number",
        ),
        (
            &strict,
            "typed",
            r#"{"number":"x"}"#,
            "expected a whole number",
        ),
        (&strict, "typed", r#"{"number":10}"#, "expected 1 to 9"),
        (&strict, "typed", r#"{"number":5.0}"#, r#""5""#),
        (
            &strict,
            "loose",
            r#"{"number":"x"}"#,
            "expected a whole number",
        ),
        (&lenient, "typed", r#"{"number":"5"}"#, r#""5""#),
        (
            &lenient,
            "typed",
            r#"{"number":"x"}"#,
            "expected a whole number",
        ),
        (&lenient, "raw", r#"{"number":"5"}"#, r#"number\":5"#),
        (&lenient, "raw", r#"{"number":10}"#, "expected 1 to 9"),
    ] {
        let call = || {
            let arguments = RawObject::from_text(arguments.to_owned()).unwrap();
            let call = Call::CallTool(CallToolParams::new(name, Some(arguments)));
            let reply = block_on(server.call(Exchange::new(call, facts.clone())));
            String::from_utf8_lossy(&target.encode(reply, Vec::new()).into_bytes()).into_owned()
        };
        let text = call();
        assert!(text.contains(expected), "{name} {arguments}: {text}");
        let again = measure(|| drop(call()));
        let (count, limit) = (again.count_total, reading.count_total);
        println!("{name} {arguments}: {count} allocations, reading the schema takes {limit}");
        assert!(count < limit, "{name} {arguments}");
    }
}
