//! Arguments of tools that headers repeat: written by the client, compared by the server. Which
//! arguments these are says [`ParamHeaders`].
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http>

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use mcp_core::{Fault, MirroredArgument, ParamHeaders};
use mcp_types::RawObject;

use super::names;
use super::value::{decode, encode};

/// Client: writes the headers of arguments. Names that are none are left out: nobody plans such.
// spec: XHDR-02, XHDR-13
#[inline]
pub(super) fn emit(params: &[(Box<str>, Box<str>)], headers: &mut HeaderMap) {
    for (name, value) in params {
        if let Some(name) = header_name(name) {
            // A map of headers has an end, and a server may plan more than fit: it will say so.
            let _ = headers.try_insert(name, encode(value));
        }
    }
}

fn header_name(name: &str) -> Option<HeaderName> {
    let name = format!("{}{name}", names::MCP_PARAM_PREFIX);
    HeaderName::from_bytes(name.as_bytes()).ok()
}

/// Server: compares the headers of a call with its arguments.
///
/// ```
/// use http::HeaderMap;
/// use mcp_core::ParamHeaders;
/// use mcp_transport_http::headers::verify_arguments;
/// use mcp_types::{JsonObject, RawObject};
///
/// let schema: JsonObject = serde_json::from_str(
///     r#"{"type": "object", "properties": {"city": {"type": "string", "x-mcp-header": "City"}}}"#,
/// )?;
/// let plan = ParamHeaders::from_schema(&schema)?.ok_or("no annotation")?;
/// let arguments = RawObject::from_text(r#"{"city": "Zürich"}"#)?;
/// let mut headers = HeaderMap::new();
/// assert!(verify_arguments(&headers, &plan, Some(&arguments)).is_err());
/// headers.insert("mcp-param-city", "=?base64?WsO8cmljaA==?=".parse()?);
/// assert!(verify_arguments(&headers, &plan, Some(&arguments)).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// [`Fault::HeaderMismatch`] that names the header, the argument and both values.
// spec: XHDR-16, XHDR-17
pub fn verify_arguments(
    headers: &HeaderMap,
    plan: &ParamHeaders,
    arguments: Option<&RawObject>,
) -> Result<(), Fault> {
    let arguments = plan.values(arguments);
    let arguments = arguments.map_err(|error| mismatch(error.to_string()))?;
    arguments
        .iter()
        .try_for_each(|argument| compare(headers, argument))
}

fn compare(headers: &HeaderMap, argument: &MirroredArgument<'_>) -> Result<(), Fault> {
    let Some(name) = header_name(argument.header) else {
        return Ok(());
    };
    let path = argument.argument;
    let mut given = headers.get_all(&name).iter();
    let (header, None) = (given.next(), given.next()) else {
        // spec: HTTP-SM-11
        return Err(mismatch(format!("the header {name} comes twice")));
    };
    let header = header.map(|header| read(&name, header)).transpose()?;
    let text = argument.value.as_ref().and_then(|value| value.text());
    match (&argument.value, header) {
        (None, None) => Ok(()),
        // What routes by the header would see an argument that the tool does not.
        (None, Some(header)) => Err(mismatch(format!(
            "the header {name} says {header:?}, but the argument `{path}` is not given; leave the \
             header out"
        ))),
        (Some(value), _) if value.is_unsafe_integer() => Err(mismatch(format!(
            "the argument `{path}` is repeated by the header {name} and must be within ±(2^53-1)"
        ))),
        (Some(value), Some(header)) if value.matches_header(&header) => Ok(()),
        // That it is no valid argument is told when the arguments are read.
        (Some(_), None) if text.is_none() => Ok(()),
        (Some(_), None) => Err(mismatch(format!(
            "the header {name} is missing; it repeats the argument `{path}`"
        ))),
        (Some(_), Some(header)) => Err(mismatch(match text {
            Some(text) => format!(
                "the header {name} says {header:?}, but the argument `{path}` says {text:?}"
            ),
            None => format!(
                "the header {name} says {header:?}, but the argument `{path}` is no single value"
            ),
        })),
    }
}

fn read<'a>(name: &HeaderName, header: &'a HeaderValue) -> Result<Cow<'a, str>, Fault> {
    decode(header.as_bytes())
        .map_err(|error| mismatch(format!("the header {name} cannot be read: {error}")))
}

fn mismatch(text: String) -> Fault {
    Fault::HeaderMismatch(text.into())
}

#[cfg(test)]
mod tests;
