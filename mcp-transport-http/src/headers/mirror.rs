//! Headers that repeat what the body says, so that proxies can route without reading it: written
//! by the client, compared by the server.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{Fault, Mirror};
use mcp_types::{Method, Request};

use super::value::{decode, encode, trim_blanks};
use super::{names, params};

/// Client: writes the headers that mirror a request.
///
/// ```
/// use http::HeaderMap;
/// use mcp_core::Mirror;
/// use mcp_transport_http::headers::{emit, names};
/// use mcp_types::{Method, ProtocolVersion};
///
/// let mut headers = HeaderMap::new();
/// let call = Mirror::new(ProtocolVersion::LATEST, Method::CallTool.as_str(), Some("añadir"));
/// emit(&call, &mut headers);
/// assert_eq!(headers[names::MCP_NAME], "=?base64?YcOxYWRpcg==?=");
/// ```
// spec: HTTP-C-04, HTTP-C-05
pub fn emit(mirror: &Mirror, headers: &mut HeaderMap) {
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
    let value = headers.get(names::MCP_PROTOCOL_VERSION)?;
    std::str::from_utf8(trim_blanks(value.as_bytes())).ok()
}

/// Server: compares the headers of a request with its body, which names `version`.
///
/// # Errors
///
/// [`Fault::HeaderMismatch`] that names the header and both values.
// spec: HTTP-SM-10
pub fn verify(headers: &HeaderMap, request: &Request<'_>, version: &str) -> Result<(), Fault> {
    // spec: HTTP-SM-02, HTTP-SM-03, GAP-03
    compare(
        headers,
        &names::MCP_PROTOCOL_VERSION,
        &"the request's `_meta`",
        version,
    )?;
    // spec: HTTP-SM-06
    compare(headers, &names::MCP_METHOD, &"`method`", &request.method)?;
    // spec: HTTP-SM-07, HTTP-SM-08, GAP-11
    let param = Method::from_name(&request.method).and_then(|method| method.spec().name_param);
    let Some(param) = param else { return Ok(()) };
    match request.params.optional::<Cow<'_, str>>(param) {
        Ok(Some(name)) => compare(
            headers,
            &names::MCP_NAME,
            &format_args!("`params.{param}`"),
            &name,
        ),
        // What is wrong with the parameters is told when they are read.
        Ok(None) | Err(_) => only(headers, &names::MCP_NAME).map(drop),
    }
}

fn compare(
    headers: &HeaderMap,
    name: &HeaderName,
    of: &dyn fmt::Display,
    expected: &str,
) -> Result<(), Fault> {
    let value = only(headers, name)?;
    // The usual value is plain and equal.
    if value.as_bytes() == expected.as_bytes() && value.to_str().is_ok_and(|plain| !is_odd(plain)) {
        return Ok(());
    }
    // spec: XHDR-16, HTTP-SM-09
    let given = decode(value.as_bytes())
        .map_err(|error| mismatch(format!("the header {name} cannot be read: {error}")))?;
    if given == expected {
        return Ok(());
    }
    Err(mismatch(format!(
        "the header {name} says {given:?}, but {of} says {expected:?}"
    )))
}

/// Text that only looks equal: its real value is behind the sentinel or without the blanks.
fn is_odd(plain: &str) -> bool {
    plain.starts_with(['=', ' ', '\t']) || plain.ends_with([' ', '\t'])
}

/// The one value of a header that must be there.
// spec: HTTP-SM-11
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<&'a HeaderValue, Fault> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value),
        (None, _) => Err(mismatch(format!("the header {name} is missing"))),
        (Some(_), Some(_)) => Err(mismatch(format!("the header {name} comes twice"))),
    }
}

fn mismatch(text: String) -> Fault {
    Fault::HeaderMismatch(text.into())
}

#[cfg(test)]
mod tests;
