//! Known security advisories of MCP SDKs and tools, as far as this crate decides them.

use std::time::{Duration, Instant};

use mcp_core::{Call, Fault, InputState, Reply, ResultBody};
use mcp_server::{Ask, RawArgs, ResourceExt as _, Server, Tool, ToolError, ToolExt as _};
use mcp_types::{CompleteParams, CompletionReference, ReadResourceParams, ResourceTemplate};

use crate::asking::client::{Client, internal, tool};
use crate::kit::{call_text, complete_reply, reply};

/// CVE-2026-0621: a URI template became a regular expression with nested repetitions, and one URI
/// kept the server busy for minutes.
#[test]
fn cve_2026_0621_templates_match_in_linear_time() {
    let read = |raw: RawArgs| raw.as_str().len().to_string();
    let template = |text: &str| ResourceTemplate::new(text);
    let server = Server::new("s", "1")
        .template(template("a://{a}-{b}-{c}-{d}-{e}/x").read(read))
        .template(template("b://{+a}/{b}/{c}/x").read(read))
        .template(template("c://x{?a,b,c,d}").read(read));
    server.check().unwrap();
    let start = Instant::now();
    for (prefix, part, suffix) in [
        ("a://", "-", "/y"),
        ("a://", "a-", "!"),
        ("a://", "%2d", "/y"),
        ("b://", "/", "y"),
        ("b://", "/a", "/y"),
        ("c://x?", "&a=", "#"),
        ("c://x?", "a=&b=", "&&"),
    ] {
        let uri = format!("{prefix}{}{suffix}", part.repeat(50_000));
        let _ = reply(&server, Call::ReadResource(ReadResourceParams::from(uri)));
    }
    // Quadratic work would take minutes.
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
    assert!(matches!(
        reply(
            &server,
            Call::ReadResource(ReadResourceParams::from("a://1-2-3-4-5/x"))
        ),
        Reply::Complete {
            body: ResultBody::ReadResource(_),
            ..
        }
    ));
}

/// CVE-2026-32871: variables with `..` led out of the directory or path that the template names.
#[test]
fn cve_2026_32871_variables_do_not_leave_their_path() {
    let server = Server::new("s", "1").template(
        ResourceTemplate::new("file:///docs/{name}").read(|raw: RawArgs| raw.as_str().to_owned()),
    );
    for uri in [
        "file:///docs/../secret",
        "file:///docs/..",
        "file:///docs/%2e%2e",
        "file:///docs/..%2Fsecret",
        "file:///docs/..%5Csecret",
        "file:///docs/%2e%2e%2fsecret",
        "file:///docs/a%00",
    ] {
        let read = reply(&server, Call::ReadResource(ReadResourceParams::from(uri)));
        assert!(
            matches!(read, Reply::Fault(Fault::NoSuchItem { .. })),
            "{uri}: {read:?}"
        );
    }
}

/// CVE-2025-58444: a URL of a server with the scheme `javascript:` ran in the client that opened it.
#[test]
fn cve_2025_58444_script_urls_are_not_sent() {
    for url in [
        "javascript:alert(1)",
        "data:text/html,x",
        "http://example.com/",
    ] {
        let handler = move |ask: Ask| async move {
            ask.url("key", "Sign in", url).await?;
            Ok::<_, ToolError>(())
        };
        let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
        let message = internal(Client::new().send(&server, &tool("t"), InputState::default()));
        assert!(message.contains("is not allowed"), "{message}");
    }
}

/// CVE-2025-53365 and CVE-2025-53366: an error that no code handled ended the server for all clients.
#[test]
fn cve_2025_53365_panic_or_bad_parameters_fail_one_call() {
    let server = Server::new("s", "1")
        .tool(Tool::new("panics").handler(|| -> String { panic!("hunter2") }))
        .tool(Tool::new("works").handler(|| "fine"));
    for _ in 0..2 {
        let message = internal(reply(&server, tool("panics")));
        assert!(!message.contains("hunter2"), "{message}");
        assert_eq!(call_text(&server, "works", "{}"), "fine");
    }
    let unknown = CompletionReference::prompt("missing");
    let params = CompleteParams::new(unknown, "a", "");
    assert!(matches!(complete_reply(&server, params), Reply::Fault(_)));
    assert_eq!(call_text(&server, "works", "{}"), "fine");
}

/// Tool shadowing: a second tool with a known name replaced the first without notice.
#[test]
fn tool_does_not_replace_another_with_the_same_name() {
    let server = || Server::new("s", "1").tool(Tool::new("pay").handler(|| "first"));
    let twice = server().tool(Tool::new("pay").handler(|| "second"));
    let problem = twice.check().unwrap_err().to_string();
    assert!(problem.contains("pay"), "{problem}");
    assert_eq!(call_text(&twice, "pay", "{}"), "first");
    // The same holds while the server runs.
    let server = server();
    let added = server.tools().add(Tool::new("pay").handler(|| "second"));
    assert!(added.is_err());
    assert_eq!(call_text(&server, "pay", "{}"), "first");
}
