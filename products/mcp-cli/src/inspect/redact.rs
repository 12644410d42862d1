//! HTTP heads for the page, without secrets.

use http::HeaderMap;
use http::header::{self, HeaderName};
use mcp::http::headers::names::{
    LAST_EVENT_ID, MCP_METHOD, MCP_NAME, MCP_PARAM_PREFIX, MCP_PROTOCOL_VERSION,
};
use mcp::types::shorten;
use serde_json::{Value, json};

use crate::config;
use crate::hosts::is_secret;

/// Largest number of headers that are shown.
const MAX_HEADERS: usize = 64;
/// Longest value that is shown, in characters.
const MAX_VALUE: usize = 512;
/// Text in place of a secret.
const HIDDEN: &str = "(hidden)";

/// Headers of requests whose values are shown. Others may come from the user, and be secrets.
const SHOWN: [HeaderName; 13] = [
    header::ACCEPT,
    header::ACCEPT_ENCODING,
    header::CACHE_CONTROL,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::HOST,
    header::USER_AGENT,
    HeaderName::from_static("traceparent"),
    HeaderName::from_static("tracestate"),
    LAST_EVENT_ID,
    MCP_METHOD,
    MCP_NAME,
    MCP_PROTOCOL_VERSION,
];

/// Returns the headers of a request.
pub(super) fn request(headers: &HeaderMap) -> Value {
    list(headers, |name| {
        SHOWN.iter().any(|shown| shown == name) || name.starts_with(MCP_PARAM_PREFIX)
    })
}

/// Returns the headers of a response.
pub(super) fn response(headers: &HeaderMap) -> Value {
    list(headers, |name| {
        // The challenge tells where to log in.
        name == "www-authenticate" || !is_secret(name)
    })
}

/// Returns a URL without its user and its query.
pub(super) fn url(url: &str) -> String {
    let mut shown = config::public_url(url);
    if url.contains('?') {
        shown.push_str("?…");
    }
    shortened(&shown)
}

/// Cuts a long text.
pub(super) fn shortened(text: &str) -> String {
    shorten(text, MAX_VALUE).into_owned()
}

fn list(headers: &HeaderMap, is_shown: impl Fn(&str) -> bool) -> Value {
    let pairs = headers.iter().take(MAX_HEADERS).map(|(name, value)| {
        let name = name.as_str();
        let is_shown = is_shown(name) && !value.is_sensitive();
        let value = match value.to_str() {
            Ok(value) if is_shown => shortened(value),
            Ok(_) => HIDDEN.to_owned(),
            Err(_) => "(no ASCII)".to_owned(),
        };
        json!([name, value])
    });
    pairs.collect()
}
