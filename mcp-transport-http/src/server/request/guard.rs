//! Checks a request's head before its body is read: host, origin, method, media types and size.
//!
//! Parses the allow lists when the endpoint is configured, so that a request costs only a few comparisons.

mod accept;
mod authority;

use std::fmt;
use std::net::IpAddr;

use http::header::{HeaderMap, HeaderValue};
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use mcp_core::LogLimit;
use tokio::time::Instant;

use super::rejection::Rejection;
use crate::headers::{SingleHeader, names, parse_decimal, trim_blanks};
use crate::peer_addr::peer_of;
use authority::AllowList;

/// Rules for a request's head.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: AllowList,
    origins: AllowList,
    /// No hosts are configured, so the endpoint serves only clients on its own machine.
    pub(crate) is_local_only: bool,
    /// Maximum size of a body in bytes.
    pub(crate) body_limit: usize,
}

const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

impl Guard {
    /// Creates a guard that accepts only requests from and to this machine.
    // spec: HTTP-S-04
    pub(crate) fn new(body_limit: usize) -> Self {
        Self {
            hosts: AllowList::new(LOOPBACK),
            origins: AllowList::new(LOOPBACK),
            is_local_only: true,
            body_limit,
        }
    }

    pub(crate) fn allow_hosts<I: IntoIterator<Item: AsRef<str>>>(&mut self, hosts: I) {
        self.hosts = AllowList::new(hosts);
        self.hosts.warn_about_unmatched("allowed_hosts");
        self.is_local_only = false;
    }

    pub(crate) fn allow_origins<I: IntoIterator<Item: AsRef<str>>>(&mut self, origins: I) {
        self.origins = AllowList::of_origins(origins);
        self.origins.warn_about_unmatched("allowed_origins");
    }

    /// Checks a POST of a message whose response has a body.
    pub(crate) fn check_post(&self, head: &Parts) -> Result<(), Rejection> {
        let headers = CheckedHeaders::collect(&head.headers);
        self.check_message(head, &headers)?;
        check_accepts_json_and_events(&head.headers, headers.accept)
    }

    /// Checks a POST of a message whose response has no body. Ignores `Accept`.
    pub(crate) fn check_one_way_post(&self, head: &Parts) -> Result<(), Rejection> {
        self.check_message(head, &CheckedHeaders::collect(&head.headers))
    }

    fn check_message(&self, head: &Parts, headers: &CheckedHeaders<'_>) -> Result<(), Rejection> {
        self.check_sender(head, headers)?;
        check_method(head)?;
        check_content_type(headers)?;
        self.check_content_length(headers.content_length)
    }

    /// Checks the `Host` and the `Origin` of a request, and its peer address.
    pub(crate) fn check_host_and_origin(&self, head: &Parts) -> Result<(), Rejection> {
        self.check_sender(head, &CheckedHeaders::collect(&head.headers))
    }

    fn check_sender(&self, head: &Parts, headers: &CheckedHeaders<'_>) -> Result<(), Rejection> {
        self.check_peer(head)?;
        self.check_host(&head.uri, headers.host)?;
        self.check_origin(&head.headers, headers.origin)
    }

    /// Checks that the client is on this machine, unless hosts are configured. The `Host` header does not
    /// prove it: every client can send `Host: localhost`. Accepts a client whose address is not known.
    // spec: HTTP-S-04
    fn check_peer(&self, head: &Parts) -> Result<(), Rejection> {
        if !self.is_local_only {
            return Ok(());
        }
        match peer_of(head) {
            Some(peer) if !peer.is_loopback() => Err(remote_peer(peer)),
            _ => Ok(()),
        }
    }

    /// Checks the `Host` header and the authority in the request target. HTTP/2 requests have only the
    /// authority, and in HTTP/1 it takes precedence over the header. If both are present, both must be
    /// allowed.
    fn check_host(&self, uri: &Uri, header: SingleHeader<'_>) -> Result<(), Rejection> {
        if self.hosts.allows_any() {
            return Ok(());
        }
        let bad_request = |message: &str| Rejection::http(StatusCode::BAD_REQUEST, message);
        let header = header
            .value()
            .map_err(|_| bad_request("the request has more than one Host header"))?;
        let authority = uri
            .authority()
            .map(|authority| authority.as_str().as_bytes());
        if header.is_none() && authority.is_none() {
            return Err(bad_request(
                "the request has no Host header; this server needs one to tell its own name \
                 from foreign ones",
            ));
        }
        for host in [header.map(HeaderValue::as_bytes), authority]
            .into_iter()
            .flatten()
        {
            if !self.hosts.contains_host(host) {
                return Err(forbidden("Host", host, "allowed_hosts"));
            }
        }
        Ok(())
    }

    // spec: HTTP-S-02, HTTP-S-03, SSE-05
    fn check_origin(&self, headers: &HeaderMap, header: SingleHeader<'_>) -> Result<(), Rejection> {
        if self.origins.allows_any() || header.first.is_none() {
            return Ok(());
        }
        for origin in headers.get_all(names::ORIGIN) {
            let origin = origin.as_bytes();
            if !self.origins.contains_origin(origin) {
                return Err(forbidden("Origin", origin, "allowed_origins"));
            }
        }
        Ok(())
    }

    /// Checks the body's announced size. Ignores a length that is not a number: the HTTP server rejects it,
    /// and the limit applies again while the body is read.
    fn check_content_length(&self, header: SingleHeader<'_>) -> Result<(), Rejection> {
        let length = header.value().map_err(|_| {
            let message = "the request has more than one Content-Length header";
            Rejection::http(StatusCode::BAD_REQUEST, message)
        })?;
        let length = length.and_then(|length| parse_decimal(trim_blanks(length.as_bytes())));
        match length.map(usize::try_from) {
            None => Ok(()),
            Some(Ok(length)) if length <= self.body_limit => Ok(()),
            Some(_) => Err(too_large(self.body_limit)),
        }
    }
}

/// The headers that the guard checks, collected in one pass over all headers.
///
/// A lookup in `HeaderMap` hashes the name, and a request needs up to ten, most for headers that it does not
/// have: one pass takes 4 % fewer instructions per call (`cargo xtask bench --instructions`).
#[derive(Default)]
struct CheckedHeaders<'a> {
    host: SingleHeader<'a>,
    origin: SingleHeader<'a>,
    accept: SingleHeader<'a>,
    content_type: SingleHeader<'a>,
    content_encoding: SingleHeader<'a>,
    content_length: SingleHeader<'a>,
}

impl<'a> CheckedHeaders<'a> {
    fn collect(headers: &'a HeaderMap) -> Self {
        let mut found = Self::default();
        for (name, value) in headers {
            match name {
                _ if name == names::HOST => found.host.add(value),
                _ if name == names::ORIGIN => found.origin.add(value),
                _ if name == names::ACCEPT => found.accept.add(value),
                _ if name == names::CONTENT_TYPE => found.content_type.add(value),
                _ if name == names::CONTENT_ENCODING => found.content_encoding.add(value),
                _ if name == names::CONTENT_LENGTH => found.content_length.add(value),
                _ => {}
            }
        }
        found
    }
}

/// Returns the rejection of a body that exceeds the limit.
pub(crate) fn too_large(limit: usize) -> Rejection {
    let message = format!("the body is larger than the limit of {limit} bytes");
    Rejection::http(StatusCode::PAYLOAD_TOO_LARGE, message)
}

// spec: COMPAT-05, HTTP-SM-19, HTTP-S-10
fn check_method(head: &Parts) -> Result<(), Rejection> {
    if head.method == Method::POST {
        return Ok(());
    }
    if is_preflight(&head.method, &head.headers) {
        return Err(
            Rejection::http(StatusCode::METHOD_NOT_ALLOWED, refuse_preflight())
                .with_header(names::ALLOW, names::ALLOW_POST),
        );
    }
    Err(method_not_allowed(&head.method))
}

/// Returns true for a browser's question whether a page may send a request (CORS).
fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(names::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Logs a preflight request that is refused, and returns the message of its answer. An answer alone would not
/// help the page: it also needs CORS headers in all other answers, which a layer sets.
#[cold]
fn refuse_preflight() -> &'static str {
    static REFUSED: LogLimit = LogLimit::new();
    const CURE: &str = "a web page needs CORS headers, which this endpoint does not send: put a \
        CORS layer around it, as in https://docs.rs/omnimcp/latest/mcp/guide/http/";
    if let Some(suppressed) = REFUSED.permit(Instant::now().into_std()) {
        let reason = CURE;
        tracing::warn!(
            reason,
            suppressed,
            "a browser's preflight request was refused"
        );
    }
    CURE
}

/// Returns the rejection of a method that the endpoint does not serve.
// spec: HTTP-S-10
pub(crate) fn method_not_allowed(method: &Method) -> Rejection {
    let message = format!("{method} is not served here; send each message in a POST of its own");
    Rejection::http(StatusCode::METHOD_NOT_ALLOWED, message)
        .with_header(names::ALLOW, names::ALLOW_POST)
}

// spec: HTTP-S-10
fn check_content_type(headers: &CheckedHeaders<'_>) -> Result<(), Rejection> {
    let reject = |given: &dyn fmt::Display| {
        let message = format!("Content-Type must be {}, not {given}", names::JSON_TYPE);
        Err(Rejection::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
    };
    match headers.content_type.value() {
        Ok(Some(value)) if accept::is_json(value.as_bytes()) => {
            if let Some(charset) = accept::foreign_charset(value.as_bytes()) {
                let message = format!("the charset must be UTF-8, not {}", Quoted(charset));
                return Err(Rejection::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
            }
        }
        Ok(Some(value)) => return reject(&Quoted(value.as_bytes())),
        Ok(None) => return reject(&"absent"),
        Err(_) => return reject(&"sent twice"),
    }
    match headers.content_encoding.first {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            let message = format!(
                "Content-Encoding {} is not supported; send the body as it is",
                Quoted(coding.as_bytes())
            );
            // RFC 9110, 15.5.16: a client that reads this header sends the body again without the coding.
            Err(Rejection::http(StatusCode::UNSUPPORTED_MEDIA_TYPE, message)
                .with_header(names::ACCEPT_ENCODING, names::IDENTITY))
        }
        _ => Ok(()),
    }
}

/// Checks that the client accepts JSON and event streams, because the server chooses between them only
/// after the call has started. A request without `Accept` accepts everything.
// spec: HTTP-S-10
fn check_accepts_json_and_events(
    headers: &HeaderMap,
    header: SingleHeader<'_>,
) -> Result<(), Rejection> {
    let Some(first) = header.first else {
        return Ok(());
    };
    if accept::is_common(first.as_bytes()) || accept::allows_json_and_events(accept_lines(headers))
    {
        return Ok(());
    }
    let types = format!("both {} and {}", names::JSON_TYPE, names::EVENT_STREAM_TYPE);
    Err(not_acceptable(headers, &types))
}

/// Checks that the client accepts event streams, the only response to a GET.
// spec: HTTP-SL-08, HTTP-S-10
pub(crate) fn check_accepts_events(headers: &HeaderMap) -> Result<(), Rejection> {
    if accept::allows_events(accept_lines(headers)) {
        return Ok(());
    }
    Err(not_acceptable(headers, names::EVENT_STREAM_TYPE))
}

/// Returns true for the head of a GET that asks for a page: it names HTML and no event streams, and has no header of the
/// protocol.
pub(crate) fn is_page_request(headers: &HeaderMap) -> bool {
    let has_own = headers.contains_key(names::LAST_EVENT_ID)
        || headers
            .keys()
            .any(|name| name.as_str().starts_with(names::MCP_PREFIX));
    !has_own && accept::asks_for_page(accept_lines(headers))
}

fn accept_lines(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let lines = headers.get_all(names::ACCEPT).into_iter();
    lines.map(HeaderValue::as_bytes)
}

fn not_acceptable(headers: &HeaderMap, required: &str) -> Rejection {
    let given = headers.get(names::ACCEPT).map(HeaderValue::as_bytes);
    let given = Quoted(given.unwrap_or_default());
    let message = format!("Accept must allow {required}, not only {given}");
    Rejection::http(StatusCode::NOT_ACCEPTABLE, message)
}

/// Returns the rejection of a foreign host or origin. Only the log names the setting that allows it.
fn forbidden(header: &str, value: &[u8], setting: &str) -> Rejection {
    let value = Quoted(value);
    tracing::warn!(header, value = %mcp_types::escaped(&value), setting, "request rejected");
    let message = format!("{header} {value} is not served here");
    Rejection::http(StatusCode::FORBIDDEN, message)
}

#[cold]
fn remote_peer(peer: IpAddr) -> Rejection {
    tracing::warn!(peer = %mcp_types::escaped(&peer), setting = "allowed_hosts", "request from another machine rejected");
    let message = "this server serves only clients on its own machine";
    Rejection::http(StatusCode::FORBIDDEN, message)
}

/// A header value in a message: quoted, escaped and truncated.
struct Quoted<'a>(&'a [u8]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MAX_LENGTH: usize = 200;

        let start = self.0.get(..MAX_LENGTH).unwrap_or(self.0);
        let is_truncated = start.len() < self.0.len();
        let ellipsis = if is_truncated { "…" } else { "" };
        write!(f, "\"{}{ellipsis}\"", start.escape_ascii())
    }
}

#[cfg(test)]
mod tests;
