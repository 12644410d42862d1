//! The receiver of notifications about changes, for visibility checks.

use http::HeaderValue;
use http::request::Parts;
use mcp_core::Subscriber;

use super::super::config::Config;

/// Returns the sender of a request as a subscriber.
pub(in crate::server) fn subscriber(head: Box<Parts>, config: &Config) -> Subscriber {
    Subscriber {
        extensions: head.into(),
        gate: config.gate.clone(),
    }
}

/// Returns the sender of a request as a subscriber for the lifetime of a stream.
///
/// URI and header values are copied: as received, they are slices of the connection's read buffer,
/// and the stream would keep that buffer of several kilobytes.
pub(in crate::server) fn long_lived_subscriber(
    mut head: Box<Parts>,
    config: &Config,
) -> Subscriber {
    for value in head.headers.values_mut() {
        let is_sensitive = value.is_sensitive();
        if let Ok(copy) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = copy;
            value.set_sensitive(is_sensitive);
        }
    }
    if let Ok(copy) = head.uri.to_string().parse() {
        head.uri = copy;
    }
    subscriber(head, config)
}
