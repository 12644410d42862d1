//! Rules of the HTTP transport that a response violates.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Request, StatusCode};
use mcp::http::headers::names::{MCP_PROTOCOL_VERSION, MCP_SESSION_ID};
use mcp::types::ProtocolVersion;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::violations::Violations;

/// Facts of a request that decide which responses are valid.
#[derive(Debug)]
pub(super) struct Sent {
    method: Method,
    /// The message expects a response.
    is_request: bool,
    is_modern: bool,
}

#[derive(Deserialize)]
struct Head {
    method: Option<IgnoredAny>,
    id: Option<IgnoredAny>,
}

impl Sent {
    pub(super) fn new(request: &Request<Bytes>) -> Self {
        let head = serde_json::from_slice::<Head>(request.body());
        let text = |name| request.headers().get(name)?.to_str().ok();
        let version: Option<ProtocolVersion> =
            text(MCP_PROTOCOL_VERSION).and_then(|version| version.parse().ok());
        Self {
            method: request.method().clone(),
            is_request: head.is_ok_and(|head| head.method.is_some() && head.id.is_some()),
            is_modern: version.is_some_and(ProtocolVersion::is_modern),
        }
    }

    /// Adds the rules that the head of a response violates.
    pub(super) fn check(&self, status: StatusCode, headers: &HeaderMap, found: &mut Violations) {
        self.check_session(headers, found);
        if !status.is_success() {
            return;
        }
        let kind = headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        let is = |wanted: &str| essence.eq_ignore_ascii_case(wanted);
        if self.method == Method::GET && !is("text/event-stream") {
            found.add(
                "HTTP-SL-08",
                format!("the stream has the Content-Type {kind:?}"),
            );
        }
        if self.method != Method::POST {
            return;
        }
        if self.is_request && !is("application/json") && !is("text/event-stream") {
            found.add(
                "HTTP-S-08",
                format!("the response has the Content-Type {kind:?}"),
            );
        }
        if !self.is_request && status != StatusCode::ACCEPTED {
            let text = format!(
                "a notification is answered with {}, not 202",
                status.as_u16()
            );
            found.add("HTTP-S-07", text);
        }
    }

    fn check_session(&self, headers: &HeaderMap, found: &mut Violations) {
        let Some(id) = headers.get(MCP_SESSION_ID) else {
            return;
        };
        if self.is_modern {
            found.add("SESS-12", "this revision has no Mcp-Session-Id");
        }
        let is_visible = |byte: &u8| (0x21..=0x7e).contains(byte);
        if id.is_empty() || !id.as_bytes().iter().all(is_visible) {
            found.add(
                "SESS-03",
                "Mcp-Session-Id has other characters than visible ASCII",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::{HeaderMap, Request, StatusCode};
    use serde_json::Value;

    use super::Sent;
    use crate::inspect::violations::Violations;

    #[test]
    fn response_with_wrong_headers_names_its_rule() {
        let call = r#"{"id":1,"method":"ping"}"#;
        let note = r#"{"method":"notifications/initialized"}"#;
        let json = ("content-type", "application/json; charset=utf-8");
        for (verb, version, body, status, header, rule) in [
            ("POST", "2025-11-25", call, 200, json, None),
            ("POST", "2025-11-25", call, 500, ("x", ""), None),
            (
                "POST",
                "2025-11-25",
                call,
                200,
                ("content-type", "text/html"),
                Some("HTTP-S-08"),
            ),
            (
                "POST",
                "2025-11-25",
                call,
                202,
                ("x", ""),
                Some("HTTP-S-08"),
            ),
            ("POST", "2025-11-25", note, 202, ("x", ""), None),
            ("POST", "2025-11-25", note, 200, json, Some("HTTP-S-07")),
            ("GET", "2025-11-25", "", 405, ("x", ""), None),
            ("GET", "2025-11-25", "", 200, json, Some("HTTP-SL-08")),
            ("DELETE", "2025-11-25", "", 200, ("x", ""), None),
            (
                "DELETE",
                "2025-11-25",
                "",
                200,
                ("mcp-session-id", "a b"),
                Some("SESS-03"),
            ),
            (
                "POST",
                "2026-07-28",
                call,
                404,
                ("mcp-session-id", "a"),
                Some("SESS-12"),
            ),
        ] {
            let request = Request::builder()
                .method(verb)
                .header("mcp-protocol-version", version)
                .body(Bytes::from_static(body.as_bytes()))
                .unwrap();
            let mut headers = HeaderMap::new();
            headers.insert(header.0, header.1.parse().unwrap());
            let mut found = Violations::default();
            let status = StatusCode::from_u16(status).unwrap();
            Sent::new(&request).check(status, &headers, &mut found);
            let found = found.into_json();
            assert_eq!(found[0]["rule"].as_str(), rule, "{verb} {body} {header:?}");
            assert_eq!(found[1], Value::Null);
        }
    }
}
