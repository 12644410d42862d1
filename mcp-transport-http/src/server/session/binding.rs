//! The key that binds a session to a part of the program, beside its principal: by default the path.
//!
//! An endpoint can have a service for each tenant, chosen by the path. Without the binding, a session of one
//! tenant would be served at the paths of all others, where the program checks their access instead.

use std::borrow::Cow;
use std::sync::Arc;

use http::request::Parts;
use mcp_core::Fault;

use super::super::config::Config;
use super::table::SessionTable;

/// Maximum length of a key in bytes. Every session keeps one.
const MAX_LENGTH: usize = 1024;

/// Returns the key of a request: that of the configured function, or the path as it reaches the endpoint,
/// without slashes at its end.
fn key<'a>(config: &Config, head: &'a Parts) -> Cow<'a, str> {
    match &config.session_key {
        Some(key) => Cow::Owned(key(head)),
        None => Cow::Borrowed(head.uri.path().trim_end_matches('/')),
    }
}

/// Returns true when a request has the key of a session.
// spec: SESS-11
pub(in crate::server) fn has_key(config: &Config, head: &Parts, session: &str) -> bool {
    *key(config, head) == *session
}

/// Returns the key for a new session.
///
/// # Errors
///
/// Returns a fault when the key is too long.
pub(in crate::server) fn new_key(
    table: &SessionTable,
    config: &Config,
    head: &Parts,
) -> Result<Arc<str>, Fault> {
    let key = key(config, head);
    if key.len() <= MAX_LENGTH {
        return Ok(table.share_key(&key));
    }
    if config.session_key.is_some() {
        let reason = "a session key has at most 1024 bytes";
        tracing::error!(setting = "session_key", reason, "no session opened");
        return Err(Fault::internal("the server has no key for the new session"));
    }
    let message = "the path is longer than 1024 bytes; open a session at a shorter one";
    Err(Fault::InvalidRequest(message.into()))
}
