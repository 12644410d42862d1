//! Tests that call a server in the same way as a transport.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::executor::block_on;
use http::request::Parts;
use mcp_core::{
    Call, ClientContext, Exchange, Fault, Framing, ItemKind, NotificationBuffer,
    NotificationSender, Reply, ResultBody, Service, TaskMode,
};
use mcp_server::{
    Args, Extension, FromHeader, Header, Headers, Json, Log, Progress, RawArgs, Server, SetupError,
    State, ToolError, ToolExt,
};
use mcp_types::{
    CallToolParams, CallToolResult, ContentBlock, Cursor, JsonObject, LoggingLevel, Page,
    ProtocolVersion, RawObject, Tool,
};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    a: f64,
    #[serde(default)]
    b: f64,
}

fn exchange(call: Call) -> Exchange {
    Exchange::new(call, Arc::new(ClientContext::new(ProtocolVersion::LATEST)))
}

fn call(name: &str, arguments: &Value) -> Exchange {
    let arguments = RawObject::from_value(arguments).unwrap();
    exchange(Call::CallTool(CallToolParams::new(name, Some(arguments))))
}

#[track_caller]
fn reply(server: &Server, exchange: Exchange) -> Reply {
    server.check().unwrap();
    block_on(server.call(exchange))
}

#[track_caller]
fn result(server: &Server, exchange: Exchange) -> CallToolResult {
    match reply(server, exchange) {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fault(server: &Server, exchange: Exchange) -> Fault {
    match reply(server, exchange) {
        Reply::Fault(fault) => fault,
        other => panic!("{other:?}"),
    }
}

fn server() -> Server {
    Server::new("test", "1.0.0")
}

async fn plain(Args(p): Args<Add>) -> f64 {
    p.a + p.b
}

fn at_once(Args(p): Args<Add>, State(factor): State<f64>) -> Json<Value> {
    Json(json!({"sum": (p.a + p.b) * factor}))
}

#[test]
fn functions_and_closures_in_every_form_are_handlers() {
    let server = server()
        .state(2.0)
        .tool(Tool::new("plain").handler(plain))
        .tool(Tool::new("at_once").handler(at_once))
        .tool(Tool::new("closure").handler(async || "hi"))
        .tool(Tool::new("nothing").handler(|| ()));
    assert_eq!(
        result(&server, call("plain", &json!({"a": 1, "b": 2}))).text(),
        "3"
    );
    let structured = result(&server, call("at_once", &json!({"a": 1, "b": 2})));
    assert_eq!(structured.parse::<Value>().unwrap(), json!({"sum": 6.0}));
    assert_eq!(structured.text(), r#"{"sum":6.0}"#);
    assert_eq!(result(&server, call("closure", &json!({}))).text(), "hi");
    assert!(
        result(&server, call("nothing", &json!({})))
            .content
            .is_empty()
    );
    let no_arguments = exchange(Call::CallTool(CallToolParams::new("closure", None)));
    assert_eq!(result(&server, no_arguments).text(), "hi");
}

#[test]
fn listed_tool_has_schemas_from_its_types() {
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("x-mine".to_owned(), true.into());
    let server = server()
        .state(1.0)
        .tool(
            Tool::new("at_once")
                .description("Adds")
                .read_only()
                .handler(at_once),
        )
        .tool(Tool::new("closure").handler(|| "hi"))
        .tool(
            Tool::new("raw")
                .input_schema(schema.clone())
                .handler(|raw: RawArgs| raw.as_str().to_owned()),
        );
    let Reply::Complete {
        body: ResultBody::ListTools(list),
        ..
    } = reply(&server, exchange(Call::ListTools(Page::default())))
    else {
        panic!()
    };
    let names: Vec<_> = list.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["at_once", "closure", "raw"]);
    let [first, second, third] = &list.tools[..] else {
        panic!()
    };
    assert_eq!(first.input_schema["required"], json!(["a"]));
    assert_eq!(
        first.annotations.as_ref().unwrap().read_only_hint,
        Some(true)
    );
    assert!(first.output_schema.is_some());
    assert_eq!(second.input_schema["additionalProperties"], false);
    assert_eq!(second.output_schema, None);
    assert_eq!(*third.input_schema, schema);

    let Reply::Complete {
        body: ResultBody::ListTools(again),
        ..
    } = reply(&server, exchange(Call::ListTools(Page::default())))
    else {
        panic!()
    };
    assert!(Arc::ptr_eq(&list, &again), "the page is built once");
    let page = Page::from(Cursor::new("x"));
    assert!(matches!(
        fault(&server, exchange(Call::ListTools(page))),
        Fault::BadParams { .. }
    ));
}

#[test]
fn mismatched_arguments_become_failed_result() {
    let server = server().tool(Tool::new("plain").handler(plain));
    let failed = result(&server, call("plain", &json!({"a": "x"})));
    assert!(failed.is_error());
    assert_eq!(
        failed.text(),
        "invalid arguments: `a`: expected a number, got a string"
    );
    let failed = result(&server, call("plain", &json!({})));
    assert_eq!(failed.text(), "invalid arguments: missing `a`");
}

#[test]
fn deeply_nested_arguments_become_failed_result() {
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let server = server().tool(Tool::new("plain").handler(plain)).tool(
        Tool::new("any").handler(|Args(value): Args<Value>| value.to_string().len().to_string()),
    );
    for name in ["plain", "any"] {
        let arguments = RawObject::from_text(deep.clone()).unwrap();
        let call = exchange(Call::CallTool(CallToolParams::new(name, Some(arguments))));
        assert!(result(&server, call).is_error(), "{name}");
    }
}

#[test]
fn tool_error_becomes_failed_result_or_fault() {
    fn io() -> Result<String, std::num::ParseIntError> {
        "x".parse::<i32>().map(|n| n.to_string())
    }

    let server = server()
        .tool(Tool::new("io").handler(io))
        .tool(Tool::new("text").handler(|| -> Result<(), &str> { Err("no") }))
        .tool(
            Tool::new("mixed").handler(async || -> Result<f64, ToolError> {
                Ok("1.5".parse::<f64>()? + "x".parse::<f64>()?)
            }),
        )
        .tool(
            Tool::new("params")
                .handler(|| -> Result<(), _> { Err::<(), _>(ToolError::invalid_params("wrong")) }),
        )
        .tool(Tool::new("own").handler(|| Err::<(), _>(ToolError::protocol(7, "mine"))))
        .tool(Tool::new("content").handler(|| {
            let content = vec![ContentBlock::text("a"), ContentBlock::text("b")];
            Err::<(), _>(ToolError::with_result(CallToolResult::new(content)))
        }));
    for (name, text) in [
        ("io", "invalid digit found in string"),
        ("text", "no"),
        ("mixed", "invalid float literal"),
        ("content", "a\nb"),
    ] {
        let failed = result(&server, call(name, &json!({})));
        assert!(failed.is_error(), "{name}");
        assert_eq!(failed.text(), text, "{name}");
    }
    assert_eq!(
        fault(&server, call("params", &json!({}))),
        Fault::bad_params("wrong")
    );
    let Fault::Protocol(error) = fault(&server, call("own", &json!({}))) else {
        panic!()
    };
    assert_eq!((error.code, error.message.as_str()), (7, "mine"));
}

#[test]
fn unknown_tool_or_method_is_a_fault() {
    let server = server().tool(Tool::new("plain").handler(plain));
    let unknown = fault(&server, call("nope", &json!({})));
    assert_eq!(
        unknown,
        Fault::NoSuchItem {
            kind: ItemKind::Tool,
            id: "nope".into()
        }
    );
    let method = fault(&server, exchange(Call::ListPrompts(Page::default())));
    assert_eq!(method.to_string(), "method not found: prompts/list");
    let other = Call::Other {
        method: "x/y".into(),
        params: None,
    };
    assert_eq!(
        fault(&server, exchange(other)).to_string(),
        "method not found: x/y"
    );
    let empty = Server::new("empty", "1");
    assert_eq!(empty.profile().capabilities.tools, None);
    let listed = fault(&empty, exchange(Call::ListTools(Page::default())));
    assert!(matches!(listed, Fault::NoSuchMethod { .. }));
}

#[test]
fn handler_panic_becomes_internal_fault_without_message() {
    let server = server()
        .tool(Tool::new("now").handler(|| -> () { panic!("secret") }))
        .tool(Tool::new("later").handler(async || -> () {
            std::future::ready(()).await;
            panic!("secret {}", 1)
        }))
        .tool(Tool::new("fine").handler(|| "fine"));
    for name in ["now", "later"] {
        let fault = fault(&server, call(name, &json!({})));
        assert!(matches!(fault, Fault::Internal(_)), "{fault:?}");
        assert!(!fault.to_string().contains("secret"), "{fault}");
    }
    assert_eq!(result(&server, call("fine", &json!({}))).text(), "fine");
}

struct Tenant(u32);

impl FromHeader for Tenant {
    const NAME: &'static str = "x-tenant";
    type Error = std::num::ParseIntError;

    fn from_header(value: &str) -> Result<Self, Self::Error> {
        value.parse().map(Self)
    }
}

fn parts(tenant: &str) -> Parts {
    http::Request::builder()
        .header("X-Tenant", tenant)
        .body(())
        .unwrap()
        .into_parts()
        .0
}

#[test]
fn headers_and_extensions_reach_extractors() {
    let server = server()
        .tool(Tool::new("tenant").handler(|Header(tenant): Header<Tenant>| tenant.0))
        .tool(Tool::new("maybe").handler(|tenant: Option<Header<Tenant>>| tenant.is_some()))
        .tool(Tool::new("all").handler(|headers: Headers| headers.len()))
        .tool(Tool::new("layer").handler(|Extension(n): Extension<u8>| n));
    let with = |name: &str, tenant: &str| {
        let mut exchange = call(name, &json!({}));
        exchange.extensions = Box::new(parts(tenant)).into();
        exchange.extensions.insert(7_u8);
        exchange
    };
    assert_eq!(result(&server, with("tenant", "42")).text(), "42");
    assert_eq!(result(&server, with("maybe", "42")).text(), "true");
    assert_eq!(result(&server, with("all", "42")).text(), "1");
    assert_eq!(result(&server, with("layer", "42")).text(), "7");

    let bad = fault(&server, with("tenant", "x"));
    assert_eq!(
        bad.to_string(),
        "the header `x-tenant`: invalid digit found in string"
    );
    let none = fault(&server, call("tenant", &json!({})));
    assert!(none.to_string().contains("transport has none"), "{none}");
    assert_eq!(result(&server, call("maybe", &json!({}))).text(), "false");
    assert!(matches!(
        fault(&server, call("layer", &json!({}))),
        Fault::Internal(_)
    ));
}

// spec: LOG-01
#[test]
fn progress_and_logs_are_sent_if_requested() {
    let server = server().tool(
        Tool::new("talk").handler(async |progress: Progress, log: Log| {
            progress.report(1.0, 2.0, "half").await;
            log.debug("not wanted");
            log.error(json!({"disk": "full"}));
            progress.report(2.0, 2.0, "all").await;
        }),
    );
    assert!(server.profile().capabilities.logging.is_some());

    let lines = Framing {
        prefix: b"",
        suffix: b"\n",
    };
    let buffer = Arc::new(NotificationBuffer::new(ProtocolVersion::LATEST, lines));
    let mut asked = call("talk", &json!({}));
    let level = Some(LoggingLevel::Info);
    asked.notifications = NotificationSender::new(Some("t".into()), level, buffer.clone());
    result(&server, asked);
    let sent = buffer.drain();
    let sent = sent
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let sent: Vec<Value> = sent
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert_eq!(sent[1]["params"]["data"]["disk"], "full");

    result(&server, call("talk", &json!({})));
}

#[test]
fn dropped_call_drops_handler() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);

    struct Guard;

    impl Drop for Guard {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }

    let server = server().tool(Tool::new("wait").handler(async || {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let _guard = Guard;
        std::future::pending::<()>().await;
    }));
    let mut running = server.call(call("wait", &json!({})));
    let cx = &mut std::task::Context::from_waker(std::task::Waker::noop());
    assert!(running.as_mut().poll(cx).is_pending());
    assert_eq!(RUNNING.load(Ordering::SeqCst), 1);
    drop(running);
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
}

#[test]
fn check_reports_all_mistakes_and_server_still_serves() {
    fn twice(_: Args<Add>, _: RawArgs) {}

    let server = server()
        .tool(Tool::new("a").handler(at_once))
        .tool(Tool::new("a").handler(|| ()))
        .tool(Tool::new("b").handler(twice));
    let error: SetupError = server.check().unwrap_err();
    let problems = error.problems().join("\n");
    assert_eq!(error.problems().len(), 3, "{problems}");
    for part in [
        "State<f64>",
        "two tools are named `a`",
        "more than one parameter",
    ] {
        assert!(problems.contains(part), "{problems}");
    }
    // Routes without mistakes work.
    assert_eq!(
        block_on(server.call(call("b", &json!({"a": 1})))).kind(),
        "complete"
    );
}

#[test]
fn mode_of_tasks_without_their_engine_names_the_feature() {
    let error = server().tool(Tool::new("slow").handler(|| ()).task(TaskMode::Always));
    assert_eq!(
        error.check().unwrap_err().problems(),
        [
            "the tool `slow` can become a task, and the server runs no tasks; add `.tasks(Tasks::in_memory())` \
          (`mcp::tasks`, feature `tasks`)"
        ]
    );
}

trait Kind {
    fn kind(&self) -> &'static str;
}

impl Kind for Reply {
    fn kind(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "complete",
            _ => "other",
        }
    }
}
