//! The ways in which a request can reach a server.

use std::str::FromStr;

/// The revision of requests that need a session, or do without one.
pub const LEGACY: &str = "2025-11-25";
/// The revision of requests that carry everything.
pub const MODERN: &str = "2026-07-28";

/// The way in which a request reaches a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Every request carries what it needs.
    #[default]
    Modern,
    /// Every connection opens a session.
    Session,
    /// The revisions with sessions, without one.
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
    /// What the version header says.
    #[must_use]
    pub fn version(self) -> &'static str {
        match self {
            Self::Modern => MODERN,
            Self::Session | Self::Stateless => LEGACY,
        }
    }
}

/// The body of `initialize`.
#[must_use]
pub fn initialize() -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{LEGACY}","capabilities":{{}},"clientInfo":{{"name":"bench-load","version":"0.0.0"}}}}}}"#
    )
}

/// The body of `notifications/initialized`.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A whole HTTP request with a JSON body.
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

/// The headers of a session's requests after the first.
#[must_use]
pub fn session_headers(session: &str) -> String {
    format!("MCP-Protocol-Version: {LEGACY}\r\nMcp-Session-Id: {session}\r\n")
}

/// The body of a `notifications/cancelled` for the request of that id.
#[must_use]
pub fn cancelled(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// A whole `subscriptions/listen`.
#[must_use]
pub fn listen(port: u16) -> Vec<u8> {
    let headers = format!("MCP-Protocol-Version: {MODERN}\r\nMcp-Method: subscriptions/listen\r\n");
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"{MODERN}","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    post(port, &headers, &body)
}

/// A whole request of a session that has no body: GET or DELETE.
#[must_use]
pub fn bare(verb: &str, port: u16, session: &str) -> Vec<u8> {
    let headers = session_headers(session);
    format!(
        "{verb} {} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n{headers}\r\n",
        crate::PATH
    )
    .into_bytes()
}
