//! Extractors next to plain arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcp_core::{Call, Exchange, Reply, ResultBody, Service as _};
use mcp_macros::server;
use mcp_server::{
    Async, CallContext, Extension, FromCall, FromCallAsync, FromHeader, Header, Headers, Log,
    Progress, RawArgs, Rejection, RouteSpec, Server, State, Tool, ToolExt as _,
};
use mcp_types::CallToolParams;
use tower::timeout::TimeoutLayer;

use crate::kit::{call_error, call_text, call_with, exchange, tool};

#[derive(Clone)]
struct Prefix(&'static str);

#[derive(Clone)]
struct Trace(u32);

struct Tenant(String);

impl FromHeader for Tenant {
    const NAME: &'static str = "x-tenant";
    type Error = std::convert::Infallible;

    fn from_header(value: &str) -> Result<Self, Self::Error> {
        Ok(Self(value.to_owned()))
    }
}

/// An extractor that could be an argument as well; extractors take precedence.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Revision(String);

impl FromCall for Revision {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.facts().version.to_string()))
    }

    fn describe(spec: &mut RouteSpec) {
        Log::describe(spec);
    }
}

struct Desk;

#[server(crate = mcp_server)]
impl Desk {
    #[tool]
    async fn everything(
        &self,
        State(prefix): State<Prefix>,
        /// the text to return
        text: String,
        progress: Progress,
        log: Log,
        headers: Option<Headers>,
        Extension(trace): Extension<Trace>,
        tenant: Option<Header<Tenant>>,
        Revision(revision): Revision,
        _: Progress,
        times: Option<u8>,
    ) -> String {
        progress.report(1.0, 2.0, "half").await;
        log.info("done");
        let tenant = tenant.map(|Header(tenant)| tenant.0);
        format!(
            "{}{text} {} {} {tenant:?} {revision} {times:?}",
            prefix.0,
            headers.is_some(),
            trace.0
        )
    }

    #[tool]
    fn needs_tenant(&self, Header(tenant): Header<Tenant>, text: String) -> String {
        tenant.0 + &text
    }

    #[tool]
    fn debug_headers(&self, headers: Headers) -> String {
        format!("{headers:?} {:?}", headers.0)
    }

    #[tool]
    fn forward(&self, raw: RawArgs, State(prefix): State<Prefix>) -> String {
        format!("{}{}", prefix.0, raw.as_str())
    }
}

fn desk() -> Server {
    let server = Server::of(Desk).state(Prefix("> "));
    server.check().unwrap();
    server
}

fn traced(call: Call) -> Exchange {
    let mut exchange = exchange(call);
    exchange.extensions.insert(Trace(7));
    exchange
}

fn with_headers(call: Call) -> Exchange {
    let mut exchange = exchange(call);
    let request = http::Request::builder()
        .header("x-tenant", "acme")
        .body(())
        .unwrap();
    exchange.extensions = Box::new(request.into_parts().0).into();
    exchange.extensions.insert(Trace(7));
    exchange
}

fn text(reply: Reply) -> String {
    match reply {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } => result.text(),
        other => format!("{other:?}"),
    }
}

#[test]
fn extractors_and_arguments_are_found_by_type() {
    let server = desk();
    assert_eq!(
        text(call_with(
            &server,
            "everything",
            traced,
            r#"{"text": "hi"}"#
        )),
        "> hi false 7 None 2026-07-28 None"
    );
    assert_eq!(
        text(call_with(
            &server,
            "everything",
            with_headers,
            r#"{"text": "hi", "times": 2}"#
        )),
        r#"> hi true 7 Some("acme") 2026-07-28 Some(2)"#
    );
    assert_eq!(call_text(&server, "forward", r#"{"a":1}"#), r#"> {"a":1}"#);
}

#[test]
fn headers_show_no_values_in_debug() {
    let signed_in = |call| {
        let mut exchange = exchange(call);
        let request = http::Request::builder()
            .header("authorization", "Bearer hunter2")
            .header("x-api-key", "hunter2")
            .header("x-tenant", "acme");
        let parts = request.body(()).unwrap().into_parts().0;
        exchange.extensions = Box::new(parts).into();
        exchange.extensions.insert(Trace(7));
        exchange
    };
    let shown = text(call_with(&desk(), "debug_headers", signed_in, "{}"));
    assert_eq!(
        shown,
        r#"Headers(["authorization", "x-api-key", "x-tenant"]) {"authorization": Sensitive, "x-api-key": Sensitive, "x-tenant": "acme"}"#
    );
}

#[test]
fn extractors_are_not_in_published_schema() {
    let tool = tool(&desk(), "everything");
    let names: Vec<_> = tool.input_schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(names, ["text", "times"]);
    assert_eq!(tool.input_schema["required"], serde_json::json!(["text"]));
}

#[test]
fn rejection_by_an_extractor_becomes_a_fault() {
    let server = desk();
    let reply = call_with(&server, "needs_tenant", exchange, r#"{"text": "a"}"#);
    assert!(matches!(reply, Reply::Fault(_)), "{reply:?}");
    let reply = call_with(&server, "needs_tenant", with_headers, r#"{"text": "a"}"#);
    assert_eq!(text(reply), "acmea");
    let error = call_error(&server, "needs_tenant", "{}");
    assert_eq!(error, "invalid arguments: missing `text`");
}

#[test]
fn extractor_requirements_reach_check_and_capabilities() {
    let error = Server::of(Desk).check().unwrap_err();
    assert!(
        error.to_string().contains("State<it::extractors::Prefix>"),
        "{error}"
    );
}

#[derive(Debug)]
struct Account(String);

impl FromCallAsync for Account {
    async fn from_call_async(call: &mut CallContext) -> Result<Self, Rejection> {
        tokio::task::yield_now().await;
        let name = call.state::<&'static str>().copied();
        match name {
            Some("slow") => std::future::pending().await,
            Some("none") | None => Err(Rejection::missing("no account")),
            Some(name) => Ok(Self(name.to_owned())),
        }
    }
}

fn bank(name: &'static str) -> Server {
    async fn one(Async(account): Async<Account>, RawArgs(_): RawArgs) -> String {
        account.0
    }

    async fn two(Async(one): Async<Account>, Async(two): Async<Account>) -> String {
        one.0 + &two.0
    }

    async fn maybe(account: Option<Async<Account>>) -> String {
        format!("{account:?}")
    }

    Server::new("bank", "1")
        .tool(Tool::new("one").handler(one))
        .tool(Tool::new("two").handler(two))
        .tool(Tool::new("maybe").handler(maybe))
        .state(name)
}

async fn call_bank(server: &Server, tool: &str) -> Reply {
    let call = Call::CallTool(CallToolParams::new(tool, None));
    server.call(exchange(call)).await
}

#[tokio::test]
async fn async_extractor_awaits_before_handler() {
    let server = bank("ada");
    for (tool, expected) in [
        ("one", "ada"),
        ("two", "adaada"),
        ("maybe", "Some(Async(Account(\"ada\")))"),
    ] {
        let Reply::Complete { body, .. } = call_bank(&server, tool).await else {
            panic!("{tool}")
        };
        let ResultBody::CallTool(result) = body else {
            panic!("{tool}")
        };
        assert_eq!(result.text(), expected);
    }
}

#[tokio::test]
async fn rejection_by_async_extractor_ends_call_unless_optional() {
    let server = bank("none");
    assert!(matches!(call_bank(&server, "one").await, Reply::Fault(_)));
    assert!(matches!(
        call_bank(&server, "maybe").await,
        Reply::Complete { .. }
    ));
}

/// Rejects every other extraction, beginning with the first.
#[derive(Debug)]
struct EverySecond;

impl FromCallAsync for EverySecond {
    async fn from_call_async(call: &mut CallContext) -> Result<Self, Rejection> {
        let count = call.state::<Arc<AtomicUsize>>().unwrap();
        if count.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            return Err(Rejection::missing("not yet"));
        }
        Ok(Self)
    }
}

#[tokio::test]
async fn rejected_optional_parameter_does_not_take_the_next_value() {
    async fn pair(one: Option<Async<EverySecond>>, two: Option<Async<EverySecond>>) -> String {
        format!("{one:?} {two:?}")
    }

    let server = Server::new("pair", "1")
        .tool(Tool::new("pair").handler(pair))
        .state(Arc::new(AtomicUsize::new(0)));
    assert_eq!(
        text(call_bank(&server, "pair").await),
        "None Some(Async(EverySecond))"
    );
}

#[tokio::test(start_paused = true)]
async fn timeout_layer_limits_async_extractor() {
    let server = bank("slow").layer(TimeoutLayer::new(Duration::from_secs(10)));
    assert!(matches!(call_bank(&server, "one").await, Reply::Fault(_)));
}
