//! The methods and headers that a web page needs to call an MCP server of another origin (CORS).
//!
//! A browser asks the server with a preflight request before it sends a request of a page. Pass these
//! lists to the CORS layer of your web framework, together with the origins of the pages. The layer must
//! be outside layers that require a token: a preflight request has none.
//!
//! # Examples
//!
//! ```
//! use mcp::http::headers::cors;
//!
//! // With tower-http:
//! // CorsLayer::new()
//! //     .allow_origin(HeaderValue::from_static("https://app.example.com"))
//! //     .allow_methods(cors::methods())
//! //     .allow_headers(cors::request_headers())
//! //     .expose_headers(cors::exposed_headers())
//! assert!(cors::request_headers().iter().any(|name| name == "mcp-session-id"));
//! assert!(cors::exposed_headers().iter().any(|name| name == "www-authenticate"));
//! ```

use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderName, Method};

use super::names::{
    LAST_EVENT_ID, MCP_METHOD, MCP_NAME, MCP_PARAM_PREFIX, MCP_PROTOCOL_VERSION, MCP_SESSION_ID,
};

/// Returns the methods of an MCP endpoint, for `Access-Control-Allow-Methods`.
#[must_use]
pub fn methods() -> Vec<Method> {
    vec![Method::GET, Method::POST, Method::DELETE]
}

/// Returns the headers that clients send, for `Access-Control-Allow-Headers`: `authorization`,
/// `content-type`, `last-event-id` and the protocol's headers.
///
/// Arguments of tools with `x-mcp-header` are sent in headers as well, see [`param_header`].
#[must_use]
pub fn request_headers() -> Vec<HeaderName> {
    vec![
        AUTHORIZATION,
        CONTENT_TYPE,
        LAST_EVENT_ID,
        MCP_METHOD,
        MCP_NAME,
        MCP_PROTOCOL_VERSION,
        MCP_SESSION_ID,
    ]
}

/// Returns the header for the arguments that the schemas of tools mark with `x-mcp-header`. `None` when
/// `name` cannot be a part of a header name.
///
/// # Examples
///
/// ```
/// use mcp::http::headers::cors;
///
/// let mut headers = cors::request_headers();
/// headers.extend(cors::param_header("City"));
/// assert_eq!(headers.last().unwrap(), "mcp-param-city");
/// ```
#[must_use]
pub fn param_header(name: &str) -> Option<HeaderName> {
    format!("{MCP_PARAM_PREFIX}{name}").parse().ok()
}

/// Returns the headers of responses that clients read, for `Access-Control-Expose-Headers`:
/// `mcp-session-id`, `mcp-protocol-version`, `www-authenticate` and `retry-after`.
#[must_use]
pub fn exposed_headers() -> Vec<HeaderName> {
    vec![
        MCP_SESSION_ID,
        MCP_PROTOCOL_VERSION,
        WWW_AUTHENTICATE,
        RETRY_AFTER,
    ]
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;
    use mcp_core::MirroredHeaders;
    use mcp_types::ProtocolVersion;

    use super::{param_header, request_headers};
    use crate::headers::emit;

    #[test]
    fn request_headers_contain_those_that_clients_emit() {
        let mut emitted = HeaderMap::new();
        let call = MirroredHeaders::new(ProtocolVersion::LATEST, "tools/call", Some("add"));
        emit(&call, &mut emitted);
        let allowed = request_headers();
        for name in emitted.keys() {
            assert!(allowed.contains(name), "{name}");
        }
        for name in [
            "authorization",
            "content-type",
            "last-event-id",
            "mcp-session-id",
        ] {
            assert!(allowed.iter().any(|allowed| allowed == name), "{name}");
        }
        assert_eq!(param_header("Tenant").unwrap(), "mcp-param-tenant");
        assert_eq!(param_header("a b"), None);
    }
}
