//! The ladder: which check comes first.

use http::HeaderValue;
use mcp_core::wire::MODERN;
use mcp_types::{Implementation, codes};

use mcp_types::ProtocolVersion;

use super::*;
use crate::headers::names;

const VERSION: &str = "2026-07-28";
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
const OTHER: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}}"#;
const HALF: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

fn profile() -> ServerProfile {
    let mut profile = ServerProfile::new(Implementation::new("test", "1.0.0"));
    profile.versions = ProtocolVersion::ALL.to_vec();
    profile
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"x","method":"{method}","params":{{{params}}}}}"#)
}

fn headers(version: Option<&str>, method: Option<&str>, name: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let pairs = [
        (names::MCP_PROTOCOL_VERSION, version),
        (names::MCP_METHOD, method),
        (names::MCP_NAME, name),
    ];
    for (header, value) in pairs {
        if let Some(value) = value {
            headers.insert(header, HeaderValue::from_str(value).unwrap());
        }
    }
    headers
}

#[test]
fn ladder() {
    // spec: HTTP-SM-22, and each rung by its own id in the code
    let version = Some(VERSION);
    let odd = Some("v999.0.0");
    let tool = format!(r#""name":"t",{META}"#);
    let odd_tool = format!(r#""name":"t",{OTHER}"#);
    let nameless = format!(r#""name":7,{META}"#);
    let table = [
        // The envelope comes before all headers.
        (
            request("tools/list", ""),
            headers(version, None, None),
            codes::INVALID_PARAMS,
        ),
        (
            request("tools/list", HALF),
            headers(None, None, None),
            codes::INVALID_PARAMS,
        ),
        (
            request("server/discover", ""),
            headers(None, None, None),
            codes::INVALID_PARAMS,
        ),
        // The version's header comes before the other headers, and before support for it.
        (
            request("tools/list", META),
            headers(None, None, None),
            codes::HEADER_MISMATCH,
        ),
        (
            request("tools/list", META),
            headers(odd, None, None),
            codes::HEADER_MISMATCH,
        ),
        (
            request("tools/list", OTHER),
            headers(version, Some("tools/list"), None),
            codes::HEADER_MISMATCH,
        ),
        // Method and name come before support for the version.
        (
            request("tools/list", OTHER),
            headers(odd, None, None),
            codes::HEADER_MISMATCH,
        ),
        (
            request("tools/call", &odd_tool),
            headers(odd, Some("tools/call"), Some("u")),
            codes::HEADER_MISMATCH,
        ),
        (
            request("tools/call", &tool),
            headers(version, Some("tools/call"), None),
            codes::HEADER_MISMATCH,
        ),
        // Support for the version comes before the method.
        (
            request("unknown/method", OTHER),
            headers(odd, Some("unknown/method"), None),
            codes::UNSUPPORTED_PROTOCOL_VERSION,
        ),
        // The method comes before its parameters.
        (
            request("initialize", META),
            headers(version, Some("initialize"), None),
            codes::METHOD_NOT_FOUND,
        ),
        (
            request("ping", META),
            headers(version, Some("ping"), None),
            codes::METHOD_NOT_FOUND,
        ),
        (
            request("resources/subscribe", META),
            headers(version, Some("resources/subscribe"), None),
            codes::METHOD_NOT_FOUND,
        ),
        (
            request("tools/call", &nameless),
            headers(version, Some("tools/call"), Some("t")),
            codes::INVALID_PARAMS,
        ),
    ];
    for (body, headers, code) in table {
        match route(&headers, body.as_bytes(), &profile(), false, |_| None) {
            Route::Refused { id, fault } => {
                assert_eq!(MODERN.error(&fault).code, code, "{body} {headers:?}");
                assert_eq!(id, Some("x".into()), "{body}");
            }
            other => panic!("{other:?} {body}"),
        }
    }
}

#[test]
fn what_passes() {
    let version = Some(VERSION);
    let tool = format!(r#""name":"t","arguments":{{}},{META}"#);
    let table = [
        (
            request("tools/list", META),
            headers(version, Some("tools/list"), None),
        ),
        (
            request("tools/call", &tool),
            headers(version, Some("tools/call"), Some(" t ")),
        ),
        (
            request("com.example/own", META),
            headers(version, Some("com.example/own"), None),
        ),
        (
            request("server/discover", META),
            headers(version, Some("server/discover"), Some("?")),
        ),
    ];
    for (body, headers) in table {
        let route = route(&headers, body.as_bytes(), &profile(), false, |_| None);
        assert!(matches!(route, Route::Modern { .. }), "{route:?} {body}");
    }
}

#[test]
fn legacy_requests_learn_what_is_spoken_here() {
    // spec: COMPAT-04, GAP-17
    let initialize = r#""protocolVersion":"2025-11-25","capabilities":{}"#;
    let table = [
        (
            request("initialize", initialize),
            headers(None, None, None),
            "2025-11-25",
        ),
        (
            request("tools/list", ""),
            headers(Some("2025-06-18"), None, None),
            "2025-06-18",
        ),
        (request("tools/list", ""), headers(None, None, None), "none"),
        (
            request("initialize", initialize),
            headers(Some("2025-03-26"), None, None),
            "2025-11-25",
        ),
    ];
    for (body, headers, asked) in table {
        let Route::Refused { id, fault } =
            route(&headers, body.as_bytes(), &profile(), false, |_| None)
        else {
            panic!("{body}")
        };
        assert_eq!(id, Some("x".into()));
        let supported = vec![VERSION.to_owned()];
        assert_eq!(
            fault,
            Fault::UnsupportedVersion {
                requested: asked.into(),
                supported
            }
        );
    }
}

fn planned() -> Option<Arc<ParamHeaders>> {
    let schema = serde_json::from_str(
        r#"{"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}"#,
    );
    ParamHeaders::from_schema(&schema.unwrap())
        .unwrap()
        .map(Arc::new)
}

// spec: HTTP-SM-22, XHDR-17
#[test]
fn arguments_are_compared_when_all_else_is_right() {
    let right = headers(Some(VERSION), Some("tools/call"), Some("t"));
    let body = |arguments: &str| request("tools/call", &format!(r#""name":"t",{arguments}{META}"#));
    let code = |headers: &HeaderMap, body: &str| {
        let plan = |tool: &str| (tool == "t").then(planned)?;
        match route(headers, body.as_bytes(), &profile(), false, plan) {
            Route::Refused { fault, .. } => Some(MODERN.error(&fault).code),
            _ => None,
        }
    };
    let mismatch = Some(codes::HEADER_MISMATCH);
    assert_eq!(code(&right, &body("")), None);
    assert_eq!(code(&right, &body(r#""arguments":{"city":null},"#)), None);
    assert_eq!(
        code(&right, &body(r#""arguments":{"city":"x"},"#)),
        mismatch
    );
    let wrong = body(r#""arguments":[],"#);
    assert_eq!(code(&right, &wrong), Some(codes::INVALID_PARAMS));
    let mut repeated = right.clone();
    repeated.insert("mcp-param-city", HeaderValue::from_static("x"));
    assert_eq!(code(&repeated, &body(r#""arguments":{"city":"x"},"#)), None);
    assert_eq!(
        code(&repeated, &body(r#""arguments":{"city":"y"},"#)),
        mismatch
    );
    // Nobody planned a header for another tool.
    let other = headers(Some(VERSION), Some("tools/call"), Some("u"));
    let body = request(
        "tools/call",
        &format!(r#""name":"u","arguments":{{"city":"x"}},{META}"#),
    );
    assert_eq!(code(&other, &body), None);
}
