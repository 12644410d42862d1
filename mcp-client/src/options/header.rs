//! Headers that a caller sets.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ErrorKind;

/// Defines the named setter of a message with `options` and an `error`.
macro_rules! setter {
    (header) => {
        /// Adds an HTTP header. Other transports ignore it. The transport's own headers (`Accept`, `Content-Type`,
        /// `Host`, `Mcp-Session-Id`, …) cannot be set: they are ignored, and a warning is logged.
        pub fn header(
            mut self,
            name: impl TryInto<http::HeaderName> + AsRef<str>,
            value: impl TryInto<http::HeaderValue>,
        ) -> Self {
            crate::options::append_header(&mut self.options.headers, &mut self.error, name, value);
            self
        }
    };
    (meta) => {
        /// Adds a field to the message's `_meta`. It replaces a field of the same name from
        /// [`ClientBuilder::meta`](crate::ClientBuilder::meta). The protocol's own fields cannot be set.
        pub fn meta(mut self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
            let key = key.into();
            if !mcp_types::meta::keys::ENVELOPE.contains(&&*key) {
                let meta = self.options.meta.unwrap_or_default();
                self.options.meta = Some(meta.with(key, value));
            }
            self
        }
    };
    (trace) => {
        /// Adds a trace context (`traceparent`, `tracestate`, `baggage`) to the message.
        pub fn trace(mut self, trace: &mcp_types::meta::TraceContext) -> Self {
            let meta = self.options.meta.unwrap_or_default();
            self.options.meta = Some(meta.with_trace(trace));
            self
        }
    };
}
pub(crate) use setter;

/// Adds a header to those with the same name. An invalid one sets `error`, unless it is set.
pub(crate) fn append_header(
    headers: &mut HeaderMap,
    error: &mut Option<ErrorKind>,
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) {
    match parse_header(name, value) {
        Ok((name, value)) => {
            headers.append(name, value);
        }
        Err(name) => drop(error.get_or_insert(ErrorKind::Header(name))),
    }
}

/// Returns a header whose value is marked as sensitive, or the name of an invalid header: the value may be a
/// secret.
pub(crate) fn parse_header(
    name: impl TryInto<HeaderName> + AsRef<str>,
    value: impl TryInto<HeaderValue>,
) -> Result<(HeaderName, HeaderValue), Box<str>> {
    let shown = name.as_ref().into();
    match (name.try_into(), value.try_into()) {
        (Ok(name), Ok(mut value)) => {
            value.set_sensitive(true);
            Ok((name, value))
        }
        _ => Err(shown),
    }
}
