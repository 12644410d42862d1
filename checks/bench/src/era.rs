//! Requests of the modern and the legacy era.

use std::str::FromStr;

/// The revision of legacy requests, with or without a session.
pub const LEGACY: &str = "2025-11-25";
/// The revision of modern requests.
pub const MODERN: &str = "2026-07-28";

/// The era of requests, and the use of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Requests of 2026-07-28, which need no session.
    #[default]
    Modern,
    /// Requests of 2025-11-25, with one session per connection.
    Session,
    /// Requests of 2025-11-25 to a server without sessions.
    Stateless,
}

impl FromStr for Era {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "modern" => Ok(Self::Modern),
            "session" => Ok(Self::Session),
            "stateless" => Ok(Self::Stateless),
            _ => Err("expected modern, session or stateless".to_owned()),
        }
    }
}

impl Era {
    /// Returns the value of the header `MCP-Protocol-Version`.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Session | Self::Stateless => LEGACY,
        }
    }
}

/// Returns the body of `initialize`.
#[must_use]
pub fn initialize() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{LEGACY}","capabilities":{{}},"clientInfo":{{"name":"bench-load","version":"0.0.0"}}}}}}"#
    )
}

/// The body of `notifications/initialized`.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// Returns a complete HTTP request with a JSON body.
#[must_use]
pub fn post(port: u16, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        crate::PATH,
        body.len(),
    )
    .into_bytes()
}

/// Returns the headers of the requests of a session after `initialize`.
#[must_use]
pub fn session_headers(session: &str) -> String {
    format!("MCP-Protocol-Version: {LEGACY}\r\nMcp-Session-Id: {session}\r\n")
}

/// Returns the body of `notifications/cancelled` for a request.
#[must_use]
pub fn cancelled(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// Returns a complete `subscriptions/listen` request.
#[must_use]
pub fn listen(port: u16) -> Vec<u8> {
    let headers = format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: subscriptions/listen\r\n");
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"{MODERN}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    post(port, &headers, &body)
}

/// Returns a complete request without a body (GET or DELETE) of a session.
#[must_use]
pub fn without_body(method: &str, port: u16, session: &str) -> Vec<u8> {
    let headers = session_headers(session);
    format!(
        "{method} {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n{headers}\r\n",
        crate::PATH
    )
    .into_bytes()
}
