//! The era of a request, as a server determines it.

use mcp_types::{Method, ProtocolVersion, Request};

use crate::message::Fault;
use crate::wire::Envelope;

/// The era of a request.
#[derive(Debug)]
pub(crate) enum RequestEra<'a> {
    /// A self-contained request of the modern era.
    Modern(Envelope<'a>),
    /// A request that belongs to a session, or opens one.
    Legacy,
    /// An invalid request, to be answered with this fault.
    Refused(Fault),
}

/// Determines the era of a request by its envelope. `header` is the version in the HTTP header, a
/// cross-check for requests without an envelope.
///
/// A request with an envelope is modern, whatever its method: `initialize` with an envelope is an
/// unknown modern method.
///
/// `server/discover` without an envelope is refused because of the missing envelope, also with the headers of a
/// session, where other servers answer -32601: only a modern client sends this method, and -32601 would lead
/// it to take a modern server for a legacy one.
// spec: COMPAT-02, COMPAT-03, META-09, GAP-02, GAP-04, GAP-18
pub(crate) fn classify<'a>(request: &Request<'a>, header: Option<&str>) -> RequestEra<'a> {
    match Envelope::from_request(request) {
        Ok(Some(envelope)) => RequestEra::Modern(envelope),
        Err(fault) => RequestEra::Refused(fault),
        Ok(None) if is_modern_version(header) || request.method == Method::Discover.as_str() => {
            RequestEra::Refused(Envelope::missing())
        }
        Ok(None) => RequestEra::Legacy,
    }
}

/// Returns true if the version in an HTTP header is a modern one. Only this header identifies a
/// notification of the modern era.
// spec: GAP-02
fn is_modern_version(header: Option<&str>) -> bool {
    header
        .and_then(|name| name.parse().ok())
        .is_some_and(ProtocolVersion::is_modern)
}

#[cfg(test)]
mod tests {
    use mcp_types::{Message, ProtocolVersion, codes};

    use super::{RequestEra, classify};

    const FULL: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    const NO_CAPABILITIES: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    const NO_VERSION: &str = r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#;
    const ODD_VERSION: &str = r#"{"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}}"#;
    const ODD_LEVEL: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"loud"}"#;
    const OTHER: &str = r#"{"progressToken":1}"#;

    #[test]
    fn era_follows_from_envelope_header_and_method() {
        let modern = Some("2026-07-28");
        let legacy = Some("2025-11-25");
        for (method, meta, named, expected) in [
            ("tools/call", FULL, modern, "modern"),
            ("tools/call", FULL, None, "modern"),
            ("tools/call", FULL, legacy, "modern"),
            ("initialize", FULL, None, "modern"),
            ("tools/call", NO_CAPABILITIES, None, "refuse"),
            ("tools/call", ODD_VERSION, None, "refuse"),
            ("tools/call", ODD_LEVEL, modern, "refuse"),
            ("tools/call", "7", None, "refuse"),
            ("tools/call", NO_VERSION, modern, "refuse"),
            ("tools/call", NO_VERSION, None, "legacy"),
            ("tools/call", OTHER, legacy, "legacy"),
            ("tools/call", OTHER, modern, "refuse"),
            ("tools/call", OTHER, Some("v999.0.0"), "legacy"),
            ("tools/call", "null", None, "legacy"),
            ("initialize", "{}", None, "legacy"),
            ("server/discover", "{}", None, "refuse"),
            ("server/discover", "null", legacy, "refuse"),
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#
            );
            let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
                panic!()
            };
            let route = match classify(&request, named) {
                RequestEra::Modern(_) => "modern",
                RequestEra::Legacy => "legacy",
                RequestEra::Refused(fault) => {
                    let code = fault.to_error(ProtocolVersion::LATEST).code;
                    assert_eq!(code, codes::INVALID_PARAMS, "{text}");
                    "refuse"
                }
            };
            assert_eq!(route, expected, "{text} {named:?}");
        }
    }
}
