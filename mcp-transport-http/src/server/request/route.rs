//! Classifies a POST by its headers and its body, without IO and without a clock.
//!
//! The order of the checks is that of HTTP-SM-22. [`modern::read_request`] does most of them.

use std::borrow::Cow;

use mcp_core::{Fault, InboundNotification, InboundRequest, ServerProfile, modern};
use mcp_types::{Message, ParseError, RequestId};

use super::rejection::Rejection;
use crate::headers::McpHeaders;

/// Kind of a POST.
#[derive(Debug)]
pub(crate) enum Route<'a> {
    /// A modern request.
    Modern {
        id: RequestId,
        request: InboundRequest,
    },
    /// A message from a legacy client.
    Legacy(Message<'a>),
    /// A batch from a legacy client.
    LegacyBatch,
    /// A modern notification. It is `None` when it has no effect.
    Notification(Option<InboundNotification>),
}

/// Classifies a POST.
///
/// # Errors
///
/// Returns a rejection when the message is not valid or not supported.
// spec: HTTP-SM-22, GAP-06
pub(crate) fn route<'a>(
    mcp_headers: &McpHeaders<'_>,
    body: &'a [u8],
    profile: &ServerProfile,
    serves_legacy: bool,
) -> Result<Route<'a>, Rejection> {
    if let Err(fault) = mcp_headers.check_one_version() {
        return Err(Rejection::modern(None, fault));
    }
    let request = match Message::parse(body) {
        Ok(Message::Request(request)) => request,
        // spec: HTTP-S-07, HTTP-SM-21
        Ok(notification @ Message::Notification(_)) => {
            let is_modern = mcp_headers.is_modern();
            return if serves_legacy && !is_modern {
                legacy(mcp_headers, notification)
            } else {
                modern_notification(mcp_headers, &notification, profile)
            };
        }
        Ok(response @ Message::Response(_)) if serves_legacy => {
            return legacy(mcp_headers, response);
        }
        Err(ParseError::Batch) if serves_legacy => {
            let verified = mcp_headers.verify_legacy_batch();
            return match verified {
                Ok(()) => Ok(Route::LegacyBatch),
                Err(fault) => Err(Rejection::modern(None, fault)),
            };
        }
        // spec: HTTP-SM-01
        Ok(_) => {
            let fault = Fault::InvalidRequest(Cow::Borrowed(
                "a POST carries one request or one notification; responses are not accepted here",
            ));
            return Err(Rejection::modern(None, fault));
        }
        Err(error) => {
            let id = error.id().cloned();
            return Err(Rejection::modern(id, error.into()));
        }
    };
    let version = mcp_headers.version();
    let verify = |version: &str| mcp_headers.verify(&request, version);
    match modern::read_request(&request, version, profile, serves_legacy, verify) {
        // spec: SESS-12
        Ok(Some(inbound)) => Ok(Route::Modern {
            id: request.id,
            request: inbound,
        }),
        Ok(None) => legacy(mcp_headers, Message::Request(request)),
        Err(fault) => Err(Rejection::modern(Some(request.id), fault)),
    }
}

/// Routes a modern notification. Only extensions handle notifications of clients. A proxy may route
/// them by their headers.
// spec: HTTP-SM-10, HTTP-SM-21
fn modern_notification<'a>(
    headers: &McpHeaders<'_>,
    message: &Message<'_>,
    profile: &ServerProfile,
) -> Result<Route<'a>, Rejection> {
    let inbound = match message {
        Message::Notification(notification) => {
            InboundNotification::decode(notification, profile, || None)
        }
        _ => None,
    };
    if inbound.is_some() {
        let verified = headers.verify_legacy(message);
        verified.map_err(|fault| header_mismatch(message, fault))?;
    }
    Ok(Route::Notification(inbound))
}

/// Routes a message of a legacy client. Headers that differ from it are rejected as those of a modern
/// client.
// spec: HTTP-SM-10
fn legacy<'a>(headers: &McpHeaders<'_>, message: Message<'a>) -> Result<Route<'a>, Rejection> {
    match headers.verify_legacy(&message) {
        Ok(()) => Ok(Route::Legacy(message)),
        Err(fault) => Err(header_mismatch(&message, fault)),
    }
}

/// Returns the rejection of a legacy message whose headers differ from it.
#[cold]
pub(crate) fn header_mismatch(message: &Message<'_>, fault: Fault) -> Rejection {
    let id = match message {
        Message::Request(request) => Some(request.id.clone()),
        _ => None,
    };
    Rejection::modern(id, fault)
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, HeaderValue};
    use mcp_types::{Implementation, ProtocolVersion, codes};

    use super::*;
    use crate::headers::names;

    const VERSION: &str = "2026-07-28";
    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    const OTHER: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"v999.0.0","io.modelcontextprotocol/clientCapabilities":{}}"#;
    const HALF: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

    fn classify_post<'a>(headers: &HeaderMap, body: &'a str) -> Result<Route<'a>, Rejection> {
        let (mcp_headers, profile) = (McpHeaders::collect(headers), profile());
        route(&mcp_headers, body.as_bytes(), &profile, false)
    }

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
    fn route_invalid_request_reports_the_first_failed_check() {
        // spec: HTTP-SM-22, and the ids of the single checks in the code
        let version = Some(VERSION);
        let odd = Some("v999.0.0");
        let tool = format!(r#""name":"t",{META}"#);
        let odd_tool = format!(r#""name":"t",{OTHER}"#);
        let nameless = format!(r#""name":7,{META}"#);
        let table = [
            // The envelope is checked before the headers.
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
            // The version header is checked before the other headers and before its support.
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
            // Method and name are checked before the support of the version.
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
            // The support of the version is checked before the method.
            (
                request("unknown/method", OTHER),
                headers(odd, Some("unknown/method"), None),
                codes::UNSUPPORTED_PROTOCOL_VERSION,
            ),
            // The method is checked before its parameters.
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
            match classify_post(&headers, &body) {
                Err(rejection) => {
                    let error = rejection.fault.to_error(ProtocolVersion::LATEST);
                    assert_eq!(error.code, code, "{body} {headers:?}");
                    assert_eq!(rejection.id, Some("x".into()), "{body}");
                }
                other => panic!("{other:?} {body}"),
            }
        }
    }

    #[test]
    fn route_valid_request_is_modern() {
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
            let route = classify_post(&headers, &body);
            assert!(
                matches!(route, Ok(Route::Modern { .. })),
                "{route:?} {body}"
            );
        }
    }

    #[test]
    fn route_legacy_request_without_legacy_support_lists_supported_versions() {
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
        for (body, headers, requested) in table {
            let route = classify_post(&headers, &body);
            let rejection = route.expect_err(&body);
            assert_eq!(rejection.id, Some("x".into()));
            let supported = vec![VERSION.to_owned()];
            assert_eq!(
                rejection.fault,
                Fault::UnsupportedVersion {
                    requested: requested.into(),
                    supported
                }
            );
        }
    }

    // spec: HTTP-SM-10
    #[test]
    fn route_legacy_message_with_other_headers_is_a_mismatch() {
        let code = |headers: &HeaderMap, body: &str| {
            let (mcp_headers, profile) = (McpHeaders::collect(headers), profile());
            let route = route(&mcp_headers, body.as_bytes(), &profile, true);
            route.err().map(|rejection| {
                (
                    rejection.status.as_u16(),
                    rejection.fault.to_error(ProtocolVersion::LATEST).code,
                )
            })
        };
        let call = request("tools/call", r#""name":"t""#);
        let list = request("tools/list", "");
        let cancel =
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let batch = format!("[{call}]");
        let mismatch = Some((400, codes::HEADER_MISMATCH));
        let version = Some("2025-11-25");
        for (body, method, name, expected) in [
            (&*call, None, None, None),
            (&*call, Some("tools/call"), None, None),
            (&*call, Some("tools/call"), Some("t"), None),
            (&*call, None, Some("t"), None),
            (&*call, Some("tools/list"), Some("t"), mismatch),
            (&*call, Some("tools/call"), Some("u"), mismatch),
            (&*call, None, Some("u"), mismatch),
            (&*list, Some("tools/list"), Some("whatever"), None),
            (&*list, Some("tools/call"), None, mismatch),
            (cancel, Some("notifications/cancelled"), None, None),
            (cancel, Some("ping"), None, mismatch),
            (response, None, None, None),
            (response, Some("ping"), None, mismatch),
            (&*batch, None, None, None),
            (&*batch, Some("tools/call"), Some("t"), mismatch),
        ] {
            let headers = headers(version, method, name);
            assert_eq!(code(&headers, body), expected, "{body} {headers:?}");
        }
        let mut twice = headers(version, Some("tools/call"), Some("t"));
        twice.append(names::MCP_NAME, HeaderValue::from_static("u"));
        assert_eq!(code(&twice, &call), mismatch);
    }
}
