//! The request log: written fields, and data that is never written.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, Once};

use futures::FutureExt;
use mcp_core::tower::{Next, from_fn};
use mcp_core::{Call, Exchange, Principal, Service};
use mcp_server::middleware::RequestLog;
use mcp_server::{
    Args, NotFound, PromptExt, RequestMeta, ResourceExt, Server, Tool, ToolError, ToolExt,
};
use mcp_types::{
    CallToolParams, GetPromptParams, Page, Prompt, RawObject, ReadResourceParams, ResourceTemplate,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tracing::Level;
use tracing::subscriber::{set_global_default, with_default};

use crate::kit;

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Enables every log statement for threads without a subscriber. Otherwise a thread of another test
/// that reaches a statement first disables it for all threads until the next subscriber is created.
fn enable_statements() {
    static ENABLED: Once = Once::new();
    ENABLED.call_once(|| {
        let sink = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_writer(io::sink);
        set_global_default(sink.finish()).unwrap();
    });
}

/// Returns the log of `run` without durations.
pub(crate) fn logged(most: Level, work: impl FnOnce()) -> String {
    enable_statements();
    let text = Text::default();
    let writer = text.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(most)
        .with_writer(move || writer.clone())
        .without_time()
        .with_target(false)
        .finish();
    with_default(subscriber, work);
    let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
    let lines = text
        .lines()
        .map(|line| match line.split_once(" duration_ms=") {
            Some((line, time)) => {
                assert!(time.parse::<f64>().unwrap() >= 0.0, "{time}");
                line.trim()
            }
            None => line.trim(),
        });
    lines.collect::<Vec<_>>().join("\n")
}

#[derive(Deserialize, JsonSchema)]
struct Login {
    password: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

fn login(Args(login): Args<Login>) -> Result<String, ToolError> {
    match &*login.password {
        "sesame" => Ok("welcome".to_owned()),
        other => Err(ToolError::new(format!("{other} is wrong"))),
    }
}

fn server() -> Server {
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("login").handler(login))
        .tool(Tool::new("never").handler(std::future::pending::<()>))
        .tool(Tool::new("trace").handler(|meta: Option<RequestMeta>| {
            let trace = meta.as_ref().and_then(|meta| meta.trace());
            let baggage = meta.as_ref().and_then(|meta| meta.baggage());
            let user = baggage.and_then(|baggage| baggage.get("user"));
            format!("{:?} {user:?}", trace.map(|trace| trace.parent.to_string()))
        }))
        .template(ResourceTemplate::new("https://a.test/{name}{?key}").read(
            |Args(it): Args<Name>| match &*it.name {
                "none" => Err(NotFound),
                name => Ok(name.to_owned()),
            },
        ))
        .prompt(Prompt::new("greet").handler(|| "Hello"))
        .layer(RequestLog::new());
    server.check().unwrap();
    server
}

fn tool(name: &str, arguments: &str) -> Call {
    let arguments = RawObject::from_text(arguments).unwrap();
    Call::CallTool(CallToolParams::new(name, Some(arguments)))
}

#[test]
fn each_request_logs_span_and_outcome() {
    let server = server();
    let read = |uri: &str| Call::ReadResource(ReadResourceParams::from(uri));
    let text = logged(Level::DEBUG, || {
        kit::reply(&server, tool("login", r#"{"password": "sesame"}"#));
        kit::reply(&server, tool("login", r#"{"password": "hunter2"}"#));
        kit::reply(&server, tool("login", r#"{"password": 1234}"#));
        kit::reply(&server, tool("logout", "{}"));
        kit::reply(&server, read("https://a.test/b?key=hunter2"));
        kit::reply(&server, read("https://me:hunter2@b.test/b#hunter2"));
        kit::reply(
            &server,
            Call::GetPrompt(GetPromptParams::new("greet", None)),
        );
        kit::reply(&server, Call::ListTools(Page::default()));
    });
    let common = r#"version="2026-07-28" era="modern""#;
    let expected = [
        format!(
            r#"INFO request{{method="tools/call" {common} tool="login"}}: answered outcome="ok""#
        ),
        format!(
            r#"INFO request{{method="tools/call" {common} tool="login"}}: answered outcome="tool failed""#
        ),
        format!(
            r#"INFO request{{method="tools/call" {common} tool="login"}}: answered outcome="tool failed""#
        ),
        format!(
            r#"INFO request{{method="tools/call" {common} tool="logout"}}: answered outcome="unknown item""#
        ),
        format!(
            r#"INFO request{{method="resources/read" {common} uri="https://a.test/b"}}: answered outcome="ok""#
        ),
        format!(
            r#"INFO request{{method="resources/read" {common} uri="https://b.test/b"}}: answered outcome="unknown item""#
        ),
        format!(
            r#"INFO request{{method="prompts/get" {common} prompt="greet"}}: answered outcome="ok""#
        ),
        format!(r#"DEBUG request{{method="tools/list" {common}}}: answered outcome="ok""#),
    ];
    assert_eq!(text, expected.join("\n"));
    for secret in ["hunter2", "sesame", "1234"] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    let quiet = logged(Level::INFO, || {
        kit::reply(&server, Call::ListTools(Page::default()));
    });
    assert_eq!(quiet, "");
}

const META: &str = r#"{"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "tracestate": "a=b", "baggage": "user=Ada"}"#;

fn traced(call: Call) -> Exchange {
    let mut exchange = kit::exchange(call);
    exchange.meta = RawObject::from_text(META).unwrap().into();
    exchange
}

#[test]
fn trace_context_is_recorded() {
    let server = server();
    let text = logged(Level::INFO, || {
        let reply = kit::call_with(&server, "trace", traced, "{}");
        let text = format!("{reply:?}");
        assert!(
            text.contains("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
            "{text}"
        );
        assert!(text.contains("Ada"), "{text}");
    });
    let trace =
        r#"trace_id=0af7651916cd43dd8448eb211c80319c parent_id=b7ad6b7169203331 tracestate="a=b""#;
    assert!(text.contains(trace), "{text}");
    assert!(!text.contains("Ada"), "{text}");

    let seen = Arc::new(Mutex::new(None));
    let inside = seen.clone();
    let connect = from_fn(move |exchange: Exchange, next: Next| {
        *inside.lock().unwrap() = exchange.trace();
        tracing::Span::current().record("client", "custom");
        async move { next.run(exchange).await }
    });
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("plain").handler(|| "plain"))
        .layer(connect)
        .layer(RequestLog::new().baggage());
    let text = logged(Level::INFO, || {
        kit::call_with(&server, "plain", traced, "{}");
    });
    assert!(
        text.contains(r#"baggage="user=Ada""#) && text.contains(r#"client="custom""#),
        "{text}"
    );
    assert!(seen.lock().unwrap().is_some());
}

#[test]
fn client_and_principal_are_recorded() {
    fn known(call: Call) -> Exchange {
        let mut exchange = kit::exchange(call);
        let principal = Principal::new("https://login.test", "ada").scopes(["root"]);
        exchange.extensions.insert(principal);
        exchange
    }
    let server = server();
    let text = logged(Level::INFO, || {
        kit::call_with(&server, "trace", known, "{}");
    });
    assert!(
        text.contains(r#"subject="ada""#) && !text.contains("root"),
        "{text}"
    );
}

#[test]
fn request_without_trace_has_none() {
    let server = server();
    assert_eq!(kit::call_text(&server, "trace", "{}"), "None None");
}

#[test]
fn cancelled_request_is_logged() {
    let server = server();
    let text = logged(Level::INFO, || {
        let call = server.call(kit::exchange(tool("never", "{}")));
        assert!(call.now_or_never().is_none());
    });
    assert!(
        text.ends_with(r#"tool="never"}: answered outcome="given up""#),
        "{text}"
    );
}

#[cfg(debug_assertions)]
#[test]
fn handler_that_blocks_its_thread_is_reported() {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(120);
    let server = Server::new("s", "1")
        .tool(Tool::new("slow").handler(|| std::thread::sleep(PAUSE)))
        .tool(Tool::new("fast").handler(|| ()));
    let log = |name: &str| {
        logged(Level::WARN, || {
            server.call(kit::exchange(tool(name, "{}"))).now_or_never();
        })
    };
    let slow = log("slow");
    assert_eq!(slow.lines().count(), 1, "{slow}");
    assert!(slow.contains(r#"handler="slow""#), "{slow}");
    assert!(slow.contains("#[tool(blocking)]"), "{slow}");
    assert_eq!(log("fast"), "");
}

#[test]
fn long_or_multiline_client_strings_are_truncated_and_escaped() {
    let server = server();
    let name = format!("a\nINFO forged {}", "é".repeat(10_000));
    let text = logged(Level::INFO, || {
        kit::reply(&server, tool(&name, "{}"));
    });
    assert_eq!(text.lines().count(), 1);
    assert!(text.contains(r#"tool="a\nINFO forged é"#), "{text}");
    assert!(text.len() < 600, "{}", text.len());
}

/// An error with the text of its client in its own message and in its source's.
#[derive(Debug)]
struct Echo(Option<Box<Self>>, String);

impl std::fmt::Display for Echo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.1)
    }
}

impl std::error::Error for Echo {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.as_deref().map(|source| source as _)
    }
}

#[test]
fn text_from_a_client_in_errors_begins_no_log_line() {
    fn fail(Args(login): Args<Login>) -> Result<String, Echo> {
        let text = login.password;
        Err(Echo(Some(Box::new(Echo(None, text.clone()))), text))
    }
    fn read() -> Result<String, Echo> {
        let text = "a\nINFO forged\u{1b}[2J\u{fe00}".to_owned();
        Err(Echo(Some(Box::new(Echo(None, text.clone()))), text))
    }
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("fail").handler(fail))
        .resource(mcp_types::Resource::new("test://a").read(read));
    let arguments = r#"{"password": "a\nINFO forged\u001b[2J\ufe00"}"#;
    let text = logged(Level::TRACE, || {
        kit::reply(&server, tool("fail", arguments));
        kit::reply(&server, Call::ReadResource("test://a".into()));
    });
    let escaped = r"a\nINFO forged\u{1b}[2J\u{fe00}";
    assert_eq!(text.matches(escaped).count(), 4, "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
}
