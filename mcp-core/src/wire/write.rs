//! Functions that append JSON to a buffer.

use mcp_types::json::{self, Write};
use mcp_types::meta::keys;
use mcp_types::{CallToolResult, ContentBlock, ErrorObject, Meta, ProgressToken, RequestId};

use super::{ClientRequestContext, ServerRequestContext, write_text};

/// Appends `value` as JSON without line breaks. Raw JSON from a handler may contain line breaks
/// between tokens, and a line break would end the message in an event stream or on a pipe.
///
/// Values that contain no raw JSON (strings, numbers, ids) are written by [`json::write`].
// spec: STDIO-02
pub(super) fn write_json(out: &mut Vec<u8>, value: &dyn Write) {
    let start = out.len();
    json::write(out, value);
    let mut rest = out.get_mut(start..).unwrap_or_default();
    // Line breaks inside strings are escaped, so these are between tokens.
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        let Some((line_break, after)) = rest.get_mut(at..).and_then(<[u8]>::split_first_mut) else {
            return;
        };
        *line_break = b' ';
        rest = after;
    }
}

/// Appends the members of `value`, an object, to the open object at the end of `out`, and closes it.
pub(super) fn splice_json(out: &mut Vec<u8>, value: &dyn Write) {
    let start = out.len();
    let is_first = out.last() == Some(&b'{');
    write_json(out, value);
    debug_assert_eq!(out.get(start), Some(&b'{'), "the value is no object");
    if is_first {
        out.remove(start);
    } else if out.get(start + 1) == Some(&b'}') {
        out.truncate(start);
        out.push(b'}');
    } else if let Some(brace) = out.get_mut(start) {
        *brace = b',';
    }
}

/// Appends the members of a tool result to the open object at the end of `out`, and closes it.
/// Results that contain nothing but text, the most frequent ones, are written without a serializer.
pub(super) fn splice_called(out: &mut Vec<u8>, result: &CallToolResult) {
    let texts = || result.content.iter().map(ContentBlock::as_plain_text);
    let is_plain = result.structured_content.is_none()
        && result.meta.is_none()
        && texts().all(|text| text.is_some());
    if !is_plain {
        return splice_json(out, result);
    }
    if out.last() != Some(&b'{') {
        out.push(b',');
    }
    out.extend_from_slice(br#""content":["#);
    for (index, text) in texts().flatten().enumerate() {
        out.extend_from_slice(match index {
            0 => br#"{"type":"text","text":"#.as_slice(),
            _ => br#",{"type":"text","text":"#,
        });
        write_text(out, text);
        out.push(b'}');
    }
    out.push(b']');
    if let Some(is_error) = result.is_error {
        out.extend_from_slice(match is_error {
            true => br#","isError":true"#.as_slice(),
            false => br#","isError":false"#,
        });
    }
    out.push(b'}');
}

/// Encodes a request of a session. `own` is the `_meta` of the parameters; the keys of `head` are
/// added to it. An empty `_meta` is left out.
// spec: BASE-01, META-06
pub(super) fn write_request(
    head: &RequestHead<'_>,
    own: Option<Meta>,
    write_params: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_json(&mut out, head.id);
    out.extend_from_slice(br#","method":"#);
    write_text(&mut out, head.method);
    out.extend_from_slice(br#","params":{"#);
    let mut meta = own.unwrap_or_default();
    for (key, value) in head.extra_meta.into_iter().flat_map(Meta::as_object) {
        meta = meta.with(key, value.clone());
    }
    if let Some(token) = head.progress_token {
        meta = meta.with(keys::PROGRESS_TOKEN, token.as_id().clone());
    }
    if !meta.is_empty() {
        out.extend_from_slice(br#""_meta":"#);
        write_json(&mut out, &meta);
    }
    write_params(&mut out);
    out.push(b'}');
    out
}

/// The fields that every request of a session has.
pub(super) struct RequestHead<'a> {
    id: &'a RequestId,
    method: &'a str,
    progress_token: Option<&'a ProgressToken>,
    extra_meta: Option<&'a Meta>,
}

impl<'a> RequestHead<'a> {
    pub(super) fn from_client(method: &'a str, context: &ClientRequestContext<'a>) -> Self {
        Self {
            id: context.id,
            method,
            progress_token: context.progress_token,
            extra_meta: context.meta,
        }
    }

    pub(super) fn from_server(method: &'a str, context: &ServerRequestContext<'a>) -> Self {
        Self {
            id: context.id,
            method,
            progress_token: context.progress_token,
            extra_meta: context.meta,
        }
    }
}

/// Appends an error response. `id` is `None` when the id could not be read.
// spec: BASE-10, BASE-11
pub(super) fn write_error(out: &mut Vec<u8>, id: Option<&RequestId>, error: &ErrorObject) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","#);
    if let Some(id) = id {
        out.extend_from_slice(br#""id":"#);
        json::write(out, id);
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    write_json(out, error);
    out.push(b'}');
}
