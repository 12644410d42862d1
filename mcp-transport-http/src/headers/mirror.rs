//! Headers that repeat values of the body, so that proxies can route a request without parsing
//! it. The client writes them, the server compares them with the body.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{Fault, MirroredHeaders};
use mcp_types::{Message, Method, Params, ProtocolVersion, Request};

use super::single::{RepeatedHeader, SingleHeader};
use super::value::{decode, encode};
use super::{names, params};

/// Writes the headers that mirror a request. For clients.
// spec: HTTP-C-04, HTTP-C-05
pub(crate) fn emit(mirrored: &MirroredHeaders, headers: &mut HeaderMap) {
    let version = HeaderValue::from_static(mirrored.version.as_str());
    headers.insert(names::MCP_PROTOCOL_VERSION, version);
    headers.insert(names::MCP_METHOD, encode(&mirrored.method));
    if let Some(name) = &mirrored.name {
        headers.insert(names::MCP_NAME, encode(name));
    }
    params::emit(&mirrored.params, headers);
}

/// Returns the protocol version in the request headers. For servers, and for requests whose
/// body does not contain a version.
pub(crate) fn version(headers: &HeaderMap) -> Option<&str> {
    parse_version(headers.get(names::MCP_PROTOCOL_VERSION)?)
}

fn parse_version(value: &HeaderValue) -> Option<&str> {
    let mut known = ProtocolVersion::ALL.iter().map(|version| version.as_str());
    if let Some(version) = known.find(|version| value == version) {
        return Some(version);
    }
    // A version is ASCII: no need for the slower check for UTF-8.
    Some(value.to_str().ok()?.trim_matches([' ', '\t']))
}

/// The MCP headers of a request, collected in one pass over all headers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct McpHeaders<'a> {
    version: SingleHeader<'a>,
    method: SingleHeader<'a>,
    name: SingleHeader<'a>,
    /// Session id (revisions before 2026-07-28). An empty one counts as absent.
    pub(crate) session_id: SingleHeader<'a>,
}

impl<'a> McpHeaders<'a> {
    pub(crate) fn collect(headers: &'a HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            // Most headers need one comparison instead of four.
            if !name.as_str().starts_with(names::MCP_PREFIX) {
                continue;
            }
            match name {
                _ if *name == names::MCP_PROTOCOL_VERSION => found.version.add(value),
                _ if *name == names::MCP_METHOD => found.method.add(value),
                _ if *name == names::MCP_NAME => found.name.add(value),
                // Some clients send the header before they have an id.
                _ if *name == names::MCP_SESSION_ID && value.is_empty() => {}
                _ if *name == names::MCP_SESSION_ID => found.session_id.add(value),
                _ => {}
            }
        }
        found
    }

    /// Returns the protocol version, see [`version`].
    pub(crate) fn version(&self) -> Option<&'a str> {
        parse_version(self.version.first?)
    }

    /// Checks that the request does not name two different protocol versions: a proxy may act upon the
    /// other one. A repeated header is tolerated in sessions, whose version does not depend on it.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] with both versions.
    // spec: HTTP-SM-11
    pub(crate) fn check_one_version(&self) -> Result<(), Fault> {
        match (self.version.first, self.version.conflict) {
            (Some(first), Some(other)) => Err(two_versions([first, other])),
            _ => Ok(()),
        }
    }

    /// Returns true when the header names a modern version. Only this header identifies a
    /// notification of the modern era.
    // spec: GAP-02
    pub(crate) fn is_modern(&self) -> bool {
        let version = self.version().and_then(|name| name.parse().ok());
        version.is_some_and(ProtocolVersion::is_modern)
    }

    /// Returns true when the request has the protocol version `version`.
    pub(crate) fn has_version(&self, version: ProtocolVersion) -> bool {
        let version = version.as_str();
        let value = self.version.first;
        value.is_some_and(|value| value == version || parse_version(value) == Some(version))
    }

    /// Compares the headers of a request with its body. `version` is the version in the `_meta` of the body.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] with the header and both values.
    // spec: HTTP-SM-10
    pub(crate) fn verify(&self, request: &Request<'_>, version: &str) -> Result<(), Fault> {
        // spec: HTTP-SM-02, HTTP-SM-03, GAP-03
        let source = &"the request's `_meta`";
        let name = &names::MCP_PROTOCOL_VERSION;
        compare(self.version, name, source, version)?;
        // spec: HTTP-SM-06
        let source = &"`method`";
        compare(self.method, &names::MCP_METHOD, source, &request.method)?;
        // spec: HTTP-SM-07, HTTP-SM-08, GAP-11
        let Some(param) = name_param(&request.method) else {
            return Ok(());
        };
        match request.params.text(param) {
            Ok(Some(name)) => {
                let source = &format_args!("`params.{param}`");
                compare(self.name, &names::MCP_NAME, source, &name)
            }
            // Errors of the parameters are reported when they are decoded.
            Ok(None) | Err(_) => required(self.name, &names::MCP_NAME).map(drop),
        }
    }

    /// Compares `Mcp-Method` and `Mcp-Name` with a message of a legacy client. Legacy clients need not
    /// send them, but a proxy may route by them.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] when a header differs from the body.
    // spec: HTTP-SM-10
    pub(crate) fn verify_legacy(&self, message: &Message<'_>) -> Result<(), Fault> {
        if self.names_no_message() {
            return Ok(());
        }
        match message {
            Message::Request(request) => self.verify_named(&request.method, &request.params),
            Message::Notification(notification) => {
                self.verify_named(&notification.method, &notification.params)
            }
            _ => Err(not_one_message("a response has neither")),
        }
    }

    /// Checks that a batch of a legacy client has neither `Mcp-Method` nor `Mcp-Name`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::HeaderMismatch`] when it has one of them.
    pub(crate) fn verify_legacy_batch(&self) -> Result<(), Fault> {
        if self.names_no_message() {
            Ok(())
        } else {
            Err(not_one_message("a batch has several messages"))
        }
    }

    fn names_no_message(&self) -> bool {
        self.method.first.is_none() && self.name.first.is_none()
    }

    fn verify_named(&self, method: &str, params: &Params<'_>) -> Result<(), Fault> {
        if self.method.first.is_some() {
            compare(self.method, &names::MCP_METHOD, &"`method`", method)?;
        }
        if self.name.first.is_some()
            && let Some(param) = name_param(method)
            && let Ok(Some(name)) = params.text(param)
        {
            let source = &format_args!("`params.{param}`");
            compare(self.name, &names::MCP_NAME, source, &name)?;
        }
        Ok(())
    }
}

#[cold]
fn two_versions(versions: [&HeaderValue; 2]) -> Fault {
    const MAX_SHOWN: usize = 32;
    let [first, other] = versions.map(|version| {
        let version = version.as_bytes();
        version.get(..MAX_SHOWN).unwrap_or(version).escape_ascii()
    });
    mismatch(format!(
        "the header {} must name one version, got \"{first}\" and \"{other}\"",
        names::MCP_PROTOCOL_VERSION
    ))
}

/// Returns the parameter that `Mcp-Name` repeats for requests with this method.
fn name_param(method: &str) -> Option<&'static str> {
    Method::from_name(method).and_then(|method| method.spec().name_param)
}

fn not_one_message(reason: &str) -> Fault {
    mismatch(format!(
        "the headers {} and {} name one message, but {reason}",
        names::MCP_METHOD,
        names::MCP_NAME
    ))
}

/// Compares one header with the value `expected`, which comes from `source` in the body.
fn compare(
    header: SingleHeader<'_>,
    name: &HeaderName,
    source: &dyn fmt::Display,
    expected: &str,
) -> Result<(), Fault> {
    let value = required(header, name)?.as_bytes();
    // Most values are plain and equal: they need no decoding.
    // spec: HTTP-S-09
    if value == expected.as_bytes() && is_plain(value) {
        return Ok(());
    }
    // spec: XHDR-16, HTTP-SM-09
    let decoded = decode(value)
        .map_err(|error| mismatch(format!("the header {name} cannot be read: {error}")))?;
    if decoded == expected {
        return Ok(());
    }
    Err(mismatch(format!(
        "the header {name} says {decoded:?}, but {source} says {expected:?}"
    )))
}

/// Returns true when `value` decodes to itself: ASCII without surrounding blanks and without the
/// Base64 sentinel. A [`HeaderValue`] has no control characters except tabs.
fn is_plain(value: &[u8]) -> bool {
    let may_change = matches!(value, [b'=' | b' ' | b'\t', ..] | [.., b' ' | b'\t']);
    !may_change && value.is_ascii()
}

/// Returns the value of a header that must occur exactly once.
// spec: HTTP-SM-11
fn required<'a>(header: SingleHeader<'a>, name: &HeaderName) -> Result<&'a HeaderValue, Fault> {
    match header.value() {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(mismatch(format!("the header {name} is missing"))),
        Err(RepeatedHeader) => Err(mismatch(format!("the header {name} occurs several times"))),
    }
}

fn mismatch(message: String) -> Fault {
    Fault::HeaderMismatch(message.into())
}

#[cfg(test)]
mod tests {
    use http::HeaderName;
    use mcp_types::{Message, ProtocolVersion};

    use super::*;

    const VERSION: &str = "2026-07-28";

    /// Verifies `headers` against a request with `method` and `params`.
    fn check(method: &str, params: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        let Ok(Message::Request(request)) = Message::parse(body.as_bytes()) else {
            panic!("{body}")
        };
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let verified = McpHeaders::collect(&headers).verify(&request, VERSION);
        verified.map_err(|fault| match fault {
            Fault::HeaderMismatch(message) => message.into_owned(),
            other => panic!("{other}"),
        })
    }

    /// Verifies a request whose version and method headers are correct.
    fn accepts_name(method: &str, params: &str, name: &str) -> bool {
        let pairs = [
            ("MCP-Protocol-Version", VERSION),
            ("Mcp-Method", method),
            ("Mcp-Name", name),
        ];
        check(method, params, &pairs).is_ok()
    }

    #[test]
    fn verify_compares_the_version_header() {
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
        assert!(
            list(&[twice, twice, method])
                .unwrap_err()
                .contains("occurs several times")
        );
    }

    #[test]
    fn verify_compares_the_method_header() {
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
    fn verify_compares_the_name_header() {
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
            // Errors of the parameters are reported when they are decoded.
            ("tools/call", "{}", "add", true),
            ("tools/call", r#"{"name":7}"#, "add", true),
        ];
        for (method, params, name, accepted) in table {
            assert_eq!(
                accepts_name(method, params, name),
                accepted,
                "{method} {params} {name:?}"
            );
        }
    }

    #[test]
    fn verify_name_header_missing_or_repeated_is_an_error() {
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
                .contains("occurs several times")
        );
    }

    #[test]
    fn verify_accepts_emitted_headers() {
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
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            let Ok(Message::Request(request)) = Message::parse(body.as_bytes()) else {
                panic!()
            };
            let mut headers = HeaderMap::new();
            emit(
                &MirroredHeaders::new(ProtocolVersion::LATEST, "tools/call", Some(name)),
                &mut headers,
            );
            let verified = McpHeaders::collect(&headers).verify(&request, VERSION);
            assert_eq!(verified, Ok(()), "{name:?}");
        }
    }
}
