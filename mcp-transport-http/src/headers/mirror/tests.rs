//! Tables of headers against bodies.

use mcp_types::{Message, ProtocolVersion};

use super::*;

const VERSION: &str = "2026-07-28";

/// Verifies `headers` against a request with `method` and `params`.
fn check(method: &str, params: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        let name: HeaderName = name.parse().unwrap();
        headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    verify(&headers, &request, VERSION).map_err(|fault| match fault {
        Fault::HeaderMismatch(text) => text.into_owned(),
        other => panic!("{other}"),
    })
}

/// Verifies with a right version and `Mcp-Method`.
fn named(method: &str, params: &str, name: &str) -> bool {
    let pairs = [
        ("MCP-Protocol-Version", VERSION),
        ("Mcp-Method", method),
        ("Mcp-Name", name),
    ];
    check(method, params, &pairs).is_ok()
}

#[test]
fn the_version_is_repeated() {
    // spec: HTTP-SM-02, HTTP-SM-03, HTTP-SM-11
    let list = |pairs: &[(&str, &str)]| check("tools/list", "{}", pairs);
    let method = ("mcp-method", "tools/list");
    assert_eq!(list(&[("mcp-protocol-version", VERSION), method]), Ok(()));
    assert_eq!(
        list(&[("MCP-PROTOCOL-VERSION", " 2026-07-28\t"), method]),
        Ok(())
    );
    assert!(
        list(&[method])
            .unwrap_err()
            .contains("mcp-protocol-version is missing")
    );
    let other = list(&[("mcp-protocol-version", "2025-11-25"), method]).unwrap_err();
    assert!(
        other.contains("2025-11-25") && other.contains(VERSION),
        "{other}"
    );
    let twice = ("mcp-protocol-version", VERSION);
    assert!(list(&[twice, twice, method]).unwrap_err().contains("twice"));
}

#[test]
fn the_method_is_repeated() {
    // spec: HTTP-SM-06, HTTP-SM-11, HTTP-S-09
    let version = ("mcp-protocol-version", VERSION);
    let list = |pairs: &[(&str, &str)]| check("tools/list", "{}", pairs).is_ok();
    assert!(list(&[version, ("Mcp-Method", "tools/list")]));
    assert!(list(&[version, ("MCP-METHOD", "  tools/list ")]));
    assert!(!list(&[version]));
    for value in [
        "TOOLS/LIST",
        "prompts/list",
        "tools/lis",
        "tools/list, tools/list",
        "",
    ] {
        assert!(!list(&[version, ("mcp-method", value)]), "{value:?}");
    }
    let twice = ("mcp-method", "tools/list");
    assert!(!list(&[version, twice, twice]));
}

#[test]
fn the_name_is_repeated() {
    // spec: HTTP-SM-07, HTTP-SM-08, HTTP-SM-09, XHDR-15, XHDR-16
    let table = [
        ("tools/call", r#"{"name":"add"}"#, "add", true),
        ("tools/call", r#"{"name":"add"}"#, " add\t", true),
        ("tools/call", r#"{"name":"add"}"#, "=?base64?YWRk?=", true),
        ("tools/call", r#"{"name":"add"}"#, "Add", false),
        ("tools/call", r#"{"name":"add"}"#, "", false),
        ("tools/call", r#"{"name":"add"}"#, "=?base64?YWRk", false),
        (
            "tools/call",
            r#"{"name":"Hello"}"#,
            "=?base64?SGVsbG8?=",
            false,
        ),
        (
            "tools/call",
            r#"{"name":"Zürich"}"#,
            "=?base64?WsO8cmljaA==?=",
            true,
        ),
        ("tools/call", r#"{"name":"Zürich"}"#, "Zürich", false),
        ("tools/call", r#"{"name":"a\"b"}"#, "a\"b", true),
        ("tools/call", r#"{"name":" add"}"#, " add", false),
        (
            "tools/call",
            r#"{"name":"=?base64?YWRk?="}"#,
            "=?base64?YWRk?=",
            false,
        ),
        (
            "tools/call",
            r#"{"name":"=?base64?YWRk"}"#,
            "=?base64?YWRk",
            true,
        ),
        ("prompts/get", r#"{"name":"p"}"#, "p", true),
        ("prompts/get", r#"{"name":"p"}"#, "q", false),
        (
            "resources/read",
            r#"{"uri":"file:///a"}"#,
            "file:///a",
            true,
        ),
        (
            "resources/read",
            r#"{"uri":"file:///a","name":"x"}"#,
            "x",
            false,
        ),
        ("tasks/get", r#"{"taskId":"t"}"#, "t", true),
        ("tasks/get", r#"{"taskId":"t"}"#, "u", false),
        // spec: GAP-11
        ("completion/complete", r#"{"name":"x"}"#, "whatever", true),
        ("tools/list", "{}", "whatever", true),
        ("x/unknown", r#"{"name":"x"}"#, "whatever", true),
        // For the check of the parameters.
        ("tools/call", "{}", "add", true),
        ("tools/call", r#"{"name":7}"#, "add", true),
    ];
    for (method, params, name, fits) in table {
        assert_eq!(
            named(method, params, name),
            fits,
            "{method} {params} {name:?}"
        );
    }
}

#[test]
fn a_name_must_be_there_once() {
    let base = [
        ("mcp-protocol-version", VERSION),
        ("mcp-method", "tools/call"),
    ];
    for params in [r#"{"name":"add"}"#, "{}"] {
        assert!(
            check("tools/call", params, &base)
                .unwrap_err()
                .contains("mcp-name is missing")
        );
    }
    let name = ("mcp-name", "add");
    let twice = [base[0], base[1], name, name];
    assert!(
        check("tools/call", r#"{"name":"add"}"#, &twice)
            .unwrap_err()
            .contains("twice")
    );
}

#[test]
fn what_the_client_emits_the_server_takes() {
    let names = [
        "add",
        "",
        " add ",
        "Zürich",
        "=?base64?YWRk?=",
        "a\tb",
        "=x",
    ];
    for name in names {
        let params = serde_json::json!({ "name": name });
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
            panic!()
        };
        let mut headers = HeaderMap::new();
        emit(
            &MirroredHeaders::new(ProtocolVersion::LATEST, "tools/call", Some(name)),
            &mut headers,
        );
        assert_eq!(verify(&headers, &request, VERSION), Ok(()), "{name:?}");
    }
}
