//! Headers that repeat what the body says, so that proxies can route without reading it: written
//! by the client, compared by the server.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{Fault, MirroredHeaders};
use mcp_types::{Method, Request};

use super::found::Found;
use super::value::{decode, encode, trim_blanks};
use super::{names, params};

/// Client: writes the headers that mirror a request.
///
/// ```
/// use http::HeaderMap;
/// use mcp_core::MirroredHeaders;
/// use mcp_transport_http::headers::{emit, names};
/// use mcp_types::{Method, ProtocolVersion};
///
/// let mut headers = HeaderMap::new();
/// let call = MirroredHeaders::new(ProtocolVersion::LATEST, Method::CallTool.as_str(), Some("añadir"));
/// emit(&call, &mut headers);
/// assert_eq!(headers[names::MCP_NAME], "=?base64?YcOxYWRpcg==?=");
/// ```
// spec: HTTP-C-04, HTTP-C-05
#[inline]
pub fn emit(mirror: &MirroredHeaders, headers: &mut HeaderMap) {
    let version = HeaderValue::from_static(mirror.version.as_str());
    headers.insert(names::MCP_PROTOCOL_VERSION, version);
    headers.insert(names::MCP_METHOD, encode(&mirror.method));
    if let Some(name) = &mirror.name {
        headers.insert(names::MCP_NAME, encode(name));
    }
    params::emit(&mirror.params, headers);
}

/// Server: the version that the headers name, for requests whose body names none.
pub fn version(headers: &HeaderMap) -> Option<&str> {
    named_version(headers.get(names::MCP_PROTOCOL_VERSION))
}

fn named_version(value: Option<&HeaderValue>) -> Option<&str> {
    std::str::from_utf8(trim_blanks(value?.as_bytes())).ok()
}

/// Server: compares the headers of a request with its body, which names `version`.
///
/// # Errors
///
/// [`Fault::HeaderMismatch`] that names the header and both values.
// spec: HTTP-SM-10
pub fn verify(headers: &HeaderMap, request: &Request<'_>, version: &str) -> Result<(), Fault> {
    Mirrored::of(headers).verify(request, version)
}

/// The headers that mirror a request, and the one that names its session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mirrored<'a> {
    version: Found<'a>,
    method: Found<'a>,
    name: Found<'a>,
    pub(crate) session: Found<'a>,
}

impl<'a> Mirrored<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let mut mirrored = Self::default();
        for (name, value) in headers {
            let found = match name {
                _ if *name == names::MCP_PROTOCOL_VERSION => &mut mirrored.version,
                _ if *name == names::MCP_METHOD => &mut mirrored.method,
                _ if *name == names::MCP_NAME => &mut mirrored.name,
                _ if *name == names::MCP_SESSION_ID => &mut mirrored.session,
                _ => continue,
            };
            found.add(value);
        }
        mirrored
    }

    /// See [`version`].
    #[cfg(feature = "server")]
    pub(crate) fn version(&self) -> Option<&'a str> {
        named_version(self.version.first)
    }

    /// The headers name this version.
    #[cfg(feature = "server")]
    pub(crate) fn names(&self, version: mcp_types::ProtocolVersion) -> bool {
        let named = self.version.first.map(HeaderValue::as_bytes);
        named.is_some_and(|named| trim_blanks(named) == version.as_str().as_bytes())
    }

    /// See [`verify`].
    pub(crate) fn verify(&self, request: &Request<'_>, version: &str) -> Result<(), Fault> {
        // spec: HTTP-SM-02, HTTP-SM-03, GAP-03
        let of = &"the request's `_meta`";
        compare(self.version, &names::MCP_PROTOCOL_VERSION, of, version)?;
        // spec: HTTP-SM-06
        let of = &"`method`";
        compare(self.method, &names::MCP_METHOD, of, &request.method)?;
        // spec: HTTP-SM-07, HTTP-SM-08, GAP-11
        let param = Method::from_name(&request.method).and_then(|method| method.spec().name_param);
        let Some(param) = param else { return Ok(()) };
        match request.params.text(param) {
            Ok(Some(name)) => {
                let of = &format_args!("`params.{param}`");
                compare(self.name, &names::MCP_NAME, of, &name)
            }
            // What is wrong with the parameters is told when they are read.
            Ok(None) | Err(_) => only(self.name, &names::MCP_NAME).map(drop),
        }
    }
}

fn compare(
    found: Found<'_>,
    name: &HeaderName,
    of: &dyn fmt::Display,
    expected: &str,
) -> Result<(), Fault> {
    let value = only(found, name)?.as_bytes();
    // The usual value is plain and equal.
    if value == expected.as_bytes() && is_usual(value) {
        return Ok(());
    }
    // spec: XHDR-16, HTTP-SM-09
    let given = decode(value)
        .map_err(|error| mismatch(format!("the header {name} cannot be read: {error}")))?;
    if given == expected {
        return Ok(());
    }
    Err(mismatch(format!(
        "the header {name} says {given:?}, but {of} says {expected:?}"
    )))
}

/// Printable, and not text that only looks equal: whose real value is behind the sentinel or
/// without the blanks.
fn is_usual(value: &[u8]) -> bool {
    let is_odd = matches!(value, [b'=' | b' ', ..] | [.., b' ']);
    !is_odd && value.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// The one value of a header that must be there.
// spec: HTTP-SM-11
fn only<'a>(found: Found<'a>, name: &HeaderName) -> Result<&'a HeaderValue, Fault> {
    match found.only() {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(mismatch(format!("the header {name} is missing"))),
        Err(_) => Err(mismatch(format!("the header {name} comes twice"))),
    }
}

#[cold]
fn mismatch(text: String) -> Fault {
    Fault::HeaderMismatch(text.into())
}

#[cfg(test)]
mod tests;
