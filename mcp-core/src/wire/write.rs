//! Functions that append JSON to a buffer.

use std::mem;

use mcp_types::meta::keys;
use mcp_types::{
    CallToolResult, ContentBlock, ErrorObject, Meta, ProgressToken, RequestId, is_plain,
};
use serde::Serialize;

use super::{ClientRequestContext, EncodedReply, ServerRequestContext};

/// Values of this size in bytes are sent without copying them.
pub(super) const SHARED_BYTES: usize = 16 * 1024;

/// Appends a string, a number or an id as JSON. Such JSON contains no line breaks.
pub(super) fn write_scalar(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let written = serde_json::to_writer(out, value);
    debug_assert!(written.is_ok(), "{written:?}");
}

/// Appends `value` as JSON without line breaks. Raw JSON from a handler may contain line breaks
/// between tokens, and a line break would end the message in an event stream or on a pipe.
///
/// The types of `mcp-types` cannot fail to serialize: their keys are strings, and `out` is memory.
// spec: STDIO-02
pub(super) fn write_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let start = out.len();
    let written = serde_json::to_writer(&mut *out, value);
    debug_assert!(written.is_ok(), "{written:?}");
    clear_line_breaks(out.get_mut(start..).unwrap_or_default());
}

/// Replaces the line breaks between the tokens of JSON by spaces.
pub(super) fn clear_line_breaks(json: &mut [u8]) {
    let mut rest = json;
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
pub(super) fn splice_json(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    let start = out.len();
    let is_first = out.last() == Some(&b'{');
    write_json(out, value);
    debug_assert_eq!(out.get(start), Some(&b'{'), "the value is not an object");
    if is_first {
        out.remove(start);
    } else if out.get(start + 1) == Some(&b'}') {
        out.truncate(start);
        out.push(b'}');
    } else if let Some(brace) = out.get_mut(start) {
        *brace = b',';
    }
}

/// Appends the members of a tool result like [`splice_json`].
///
/// Most results are one text. Without the derived serializer such a result takes 830 instructions less
/// (docs/decisions/0002-split-of-messages.md), and a large text is not copied.
pub(super) fn splice_tool_result(out: &mut EncodedReply, mut result: CallToolResult) {
    let head = &mut out.head;
    let Some(text) = result.sole_text() else {
        let texts = result.content.iter().filter_map(ContentBlock::as_text);
        head.reserve(texts.map(str::len).sum());
        return splice_json(head, &result);
    };
    if head.last() != Some(&b'{') {
        head.push(b',');
    }
    head.extend_from_slice(br#""content":[{"type":"text","text":"#);
    if !is_plain(text) {
        head.reserve(text.len());
        write_scalar(head, text);
    } else {
        head.push(b'"');
        if text.len() < SHARED_BYTES {
            head.extend_from_slice(text.as_bytes());
        } else {
            out.shared = mem::take(text).into();
        }
        out.push(b"\"");
    }
    out.push(b"}]}");
}

/// Encodes a session request. `own` is the parameters' `_meta`; the keys of `head` are
/// added to it. An empty `_meta` is left out.
// spec: BASE-01, META-06
pub(super) fn write_request(
    head: &RequestHead<'_>,
    own: Option<Meta>,
    write_params: impl FnOnce(&mut Vec<u8>),
) -> Vec<u8> {
    let mut out = Vec::with_capacity(256);
    // spec: BASE-15
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_scalar(&mut out, head.id);
    out.extend_from_slice(br#","method":"#);
    write_scalar(&mut out, head.method);
    out.extend_from_slice(br#","params":{"#);
    let mut meta = own.unwrap_or_default();
    for (key, value) in head.extra_meta.into_iter().flat_map(|meta| &**meta) {
        if !keys::ENVELOPE.contains(&key.as_str()) {
            meta = meta.with(key, value.clone());
        }
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
        write_scalar(out, id);
        out.push(b',');
    }
    out.extend_from_slice(br#""error":"#);
    write_json(out, error);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use mcp_types::{Annotations, CallToolResult, ContentBlock, Meta, TextContent};

    use super::{EncodedReply, SHARED_BYTES, splice_json, splice_tool_result};

    #[test]
    fn splice_tool_result_equals_splice_json() {
        let annotated = ContentBlock::text("a").annotations(Annotations::default());
        let mut with_meta = TextContent::default();
        with_meta.text = "a".to_owned();
        with_meta.meta = Some(Meta::default().with("a", 1));
        for result in [
            CallToolResult::from_text(""),
            CallToolResult::from_text("a".repeat(SHARED_BYTES)),
            CallToolResult::from_text("\n".repeat(SHARED_BYTES)),
            CallToolResult::from_text("a \"quoted\" text\r\n\u{1}\u{2028}é"),
            CallToolResult::error("a"),
            CallToolResult::from_json(&[1]).unwrap(),
            CallToolResult::from_text("a").meta("a", 1),
            CallToolResult::new(Vec::new()),
            CallToolResult::new(vec![ContentBlock::text("a"), ContentBlock::text("b")]),
            CallToolResult::new(vec![ContentBlock::image(&b"a"[..], "image/png")]),
            CallToolResult::new(vec![annotated]),
            CallToolResult::new(vec![ContentBlock::Text(with_meta)]),
        ] {
            for start in [r#"{"#, r#"{"resultType":"complete""#] {
                let mut expected = start.as_bytes().to_vec();
                splice_json(&mut expected, &result);
                let mut written = EncodedReply::default();
                written.head.extend_from_slice(start.as_bytes());
                splice_tool_result(&mut written, result.clone());
                let written = written.into_bytes();
                assert_eq!(
                    String::from_utf8_lossy(&written),
                    String::from_utf8_lossy(&expected)
                );
            }
        }
    }

    #[test]
    fn large_text_is_not_copied() {
        let text = "a".repeat(SHARED_BYTES);
        let address = text.as_ptr();
        let mut written = EncodedReply::default();
        splice_tool_result(&mut written, CallToolResult::from_text(text));
        assert_eq!(written.shared.as_ptr(), address);
    }
}
