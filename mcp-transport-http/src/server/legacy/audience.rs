//! Who hears of the changes of a session.

use http::HeaderValue;
use http::request::Parts;
use mcp_core::Subscriber;

use super::super::config::Config;

/// Who sends a request, as subscriptions look at them.
pub(super) fn audience(parts: Box<Parts>, config: &Config) -> Subscriber {
    Subscriber::new(parts.into(), config.gate.clone())
}

/// The same for as long as a stream lives. The head is copied: as it came, it holds on to the whole
/// buffer that it was read into.
pub(super) fn lasting_audience(mut parts: Box<Parts>, config: &Config) -> Subscriber {
    for value in parts.headers.values_mut() {
        let is_sensitive = value.is_sensitive();
        if let Ok(own) = HeaderValue::from_bytes(value.as_bytes()) {
            *value = own;
            value.set_sensitive(is_sensitive);
        }
    }
    if let Ok(own) = parts.uri.to_string().parse() {
        parts.uri = own;
    }
    audience(parts, config)
}
