//! Results that gateways pass on without decoding their content.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use bytes::Bytes;
use mcp_types::{CacheHint, CallToolResult, Meta, Method, ProtocolVersion, RawJson, RawObject};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::narrow::object_content;
use super::{
    DecodeError, EncodedReply, SHARED_BYTES, clear_line_breaks, mend, results, write_json,
    write_scalar,
};
use crate::deserialize::DeserializeError;
use crate::message::{DecodedResult, Fault, RawResult, Reply, ResultBody};

/// The maximum number of members in a raw result. A result with more members is decoded.
const MAX_MEMBERS: usize = 64;

/// The member with structured content.
const STRUCTURE: &str = "structuredContent";
/// Members that the wire adds to results.
const STAMPS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Reads the result of `method` without decoding its content. A result without the content that the method prescribes
/// is decoded, and so is that of a method whose result nobody passes on.
#[inline]
pub(super) fn read(
    method: Option<Method>,
    raw: RawJson<'_>,
    version: ProtocolVersion,
    cache: Option<CacheHint>,
) -> Result<ResultBody, DecodeError> {
    // Half a character passes no strict reader of JSON, such as that of the gateway's client.
    let mended = match mend::whole_characters(method, raw.as_str()) {
        Cow::Borrowed(_) => None,
        Cow::Owned(text) => RawObject::from_text(text).ok(),
    };
    let raw = mended.as_ref().map_or(raw, RawObject::as_raw);
    match method.and_then(|method| split(method, raw, version)) {
        Some(result) => Ok(ResultBody::Raw(Box::new(RawResult { cache, ..result }))),
        None => results::read(method, raw),
    }
}

#[inline]
fn split(method: Method, raw: RawJson<'_>, version: ProtocolVersion) -> Option<RawResult> {
    let (content, decode): (_, fn(&str) -> _) = match method {
        Method::CallTool => ("content", |json| {
            serde_json::from_str(json).map(DecodedResult::CallTool)
        }),
        Method::GetPrompt => ("messages", |json| {
            serde_json::from_str(json).map(DecodedResult::GetPrompt)
        }),
        Method::ReadResource => ("contents", |json| {
            serde_json::from_str(json).map(DecodedResult::ReadResource)
        }),
        _ => return None,
    };
    let ResultMembers { meta, members } = raw.read().ok()?;
    let result = RawResult {
        method,
        version,
        meta,
        members,
        cache: None,
        wraps_structure: false,
        decode,
    };
    let has_content = |json: &[u8]| json.starts_with(b"[");
    let is_valid = result.member(content).is_some_and(has_content) && are_unique(&result.members);
    is_valid.then_some(result)
}

/// Returns false if two members have one name: two readers would take different ones.
#[inline]
fn are_unique(members: &[(Box<str>, Bytes)]) -> bool {
    let mut names = HashSet::new();
    members.iter().all(|(name, _)| names.insert(name))
}

/// Converts a raw result into the body of a revision that does not have all that the result may contain.
pub(super) fn fit(reply: &mut Reply, to: ProtocolVersion) {
    let Reply::Complete { body, .. } = reply else {
        return;
    };
    let ResultBody::Raw(raw) = body else {
        return;
    };
    if fits(raw, to) {
        narrow_structure(raw, to);
        return;
    }
    match decode(raw) {
        Ok(decoded) => *body = decoded,
        Err(error) => *reply = Fault::internal(error.to_string()).into(),
    }
}

/// Returns true if the revision has all kinds of content that the result may contain.
// spec: TOOL-13
fn fits(raw: &RawResult, to: ProtocolVersion) -> bool {
    let has_all_content = to.has_icons() && to.has_sampling_tools();
    to >= raw.version || has_all_content
}

/// Converts structured content into the object that an older revision requires.
// spec: TOOL-14, TOOL-18
fn narrow_structure(raw: &mut RawResult, to: ProtocolVersion) {
    let is_older = to < raw.version;
    let mut members = raw.members.iter_mut();
    let content = members.find(|(name, _)| **name == *STRUCTURE);
    if let Some((_, json)) = content
        && (is_older || raw.wraps_structure)
        && let Ok(text) = std::str::from_utf8(json)
        && let Some(object) = object_content(text, raw.wraps_structure, to)
    {
        *json = object.into();
    }
}

/// Decodes a raw result.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`] when the server has sent a result that the method does not have.
fn decode(raw: &RawResult) -> Result<ResultBody, DecodeError> {
    let mut out = EncodedReply::default();
    encode(raw.clone(), &mut out);
    let malformed = |error: &dyn fmt::Display| DecodeError::malformed(Some(raw.method), error);
    let json = String::from_utf8(out.into_bytes().into()).map_err(|error| malformed(&error))?;
    match (raw.decode)(&json) {
        Ok(DecodedResult::CallTool(mut result)) => {
            result.wraps_structure = raw.wraps_structure;
            Ok(result.into())
        }
        Ok(DecodedResult::GetPrompt(result)) => Ok(result.into()),
        Ok(DecodedResult::ReadResource(result)) => Ok(result.into()),
        Err(error) => Err(malformed(&DeserializeError::new(&json, error))),
    }
}

/// Appends a result with its `_meta`.
// spec: BASE-26
pub(super) fn encode(raw: RawResult, out: &mut EncodedReply) {
    let open = out.open_part();
    open.push(b'{');
    if let Some(meta) = &raw.meta {
        open.extend_from_slice(br#""_meta":"#);
        write_json(open, meta);
    }
    splice(raw.members, out);
}

/// Appends members to the open object at the end of `out`, and closes it. The first large one is not copied.
pub(super) fn splice(members: Vec<(Box<str>, Bytes)>, out: &mut EncodedReply) {
    for (name, json) in members {
        let open = out.open_part();
        // After a shared part the open part is empty.
        if open.last() != Some(&b'{') {
            open.push(b',');
        }
        write_scalar(open, &name);
        open.push(b':');
        if json.len() >= SHARED_BYTES && out.shared.is_empty() {
            out.shared = json;
        } else {
            out.push(&json);
        }
    }
    out.push(b"}");
}

/// Returns the body with its content decoded.
///
/// # Errors
///
/// Returns [`DecodeError::Malformed`] when the server has sent a result that the method does not have.
pub fn decoded(body: ResultBody) -> Result<ResultBody, DecodeError> {
    match body {
        ResultBody::Raw(raw) => decode(&raw),
        body => Ok(body),
    }
}

/// Returns the result of a tool, with its content decoded.
///
/// Returns `None` for the result of another method, and for a malformed result.
pub fn tool_result(body: &ResultBody) -> Option<Cow<'_, CallToolResult>> {
    match body {
        ResultBody::CallTool(result) => Some(Cow::Borrowed(result)),
        ResultBody::Raw(raw) => match decode(raw) {
            Ok(ResultBody::CallTool(result)) => Some(Cow::Owned(result)),
            _ => None,
        },
        _ => None,
    }
}

/// The members of a result as JSON.
struct ResultMembers {
    meta: Option<Meta>,
    members: Vec<(Box<str>, Bytes)>,
}

impl<'de> Deserialize<'de> for ResultMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = ResultMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ResultMembers, A::Error> {
        let (mut meta, mut members) = (None, Vec::new());
        while let Some(name) = map.next_key::<Box<str>>()? {
            let value: &RawValue = map.next_value()?;
            match &*name {
                "_meta" if meta.is_some() => return Err(A::Error::duplicate_field("_meta")),
                "_meta" => meta = serde_json::from_str(value.get()).map_err(A::Error::custom)?,
                name if STAMPS.contains(&name) => {}
                _ if members.len() == MAX_MEMBERS => {
                    return Err(A::Error::custom("too many members"));
                }
                _ => members.push((name, without_line_breaks(value.get()))),
            }
        }
        Ok(ResultMembers { meta, members })
    }
}

/// Copies JSON without the line breaks between tokens.
fn without_line_breaks(json: &str) -> Bytes {
    let mut json = json.as_bytes().to_vec();
    clear_line_breaks(&mut json);
    json.into()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_types::ProtocolVersion::{self, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
    use mcp_types::{CallToolParams, Implementation, Message, ReadResourceParams, RequestId};

    use crate::connection::ServerProfile;
    use crate::message::{Call, ClientRequest, Reply, ResultBody};
    use crate::wire::{EncodedReply, ReplyTarget, SHARED_BYTES};

    fn tool_call() -> ClientRequest {
        Call::CallTool(CallToolParams::new("t", None)).into()
    }

    fn read(request: &ClientRequest, version: ProtocolVersion, result: &str) -> Reply {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        let Message::Response(response) = Message::parse(message.as_bytes()).unwrap() else {
            panic!("no response");
        };
        Reply::decode_raw(request, &response, version).unwrap()
    }

    fn is_raw(reply: &Reply) -> bool {
        matches!(
            reply,
            Reply::Complete {
                body: ResultBody::Raw(_),
                ..
            }
        )
    }

    fn encode(reply: Reply, version: ProtocolVersion) -> EncodedReply {
        let to = ReplyTarget {
            id: RequestId::from(7),
            profile: Arc::new(ServerProfile::new(Implementation::new("gate", "1"))),
            version,
        };
        to.encode(reply, Vec::new())
    }

    fn result(reply: Reply, version: ProtocolVersion) -> String {
        let bytes = encode(reply, version).into_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let result = text
            .strip_prefix(r#"{"jsonrpc":"2.0","id":7,"result":"#)
            .unwrap();
        result.strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn result_keeps_its_json_and_gets_wire_fields() {
        let sent = r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"own"},"a/b":1.0},"content":[{"text":"\u0061","type":"text"}],
        "later":{"x":1.50},"resultType":"complete","ttlMs":5,"isError":true}"#;
        let reply = read(&tool_call(), V2026_07_28, sent);
        let Reply::Complete { body, .. } = &reply else {
            panic!("{reply:?}")
        };
        assert!(is_raw(&reply) && body.is_tool_error());
        let content =
            r#""content":[{"text":"\u0061","type":"text"}],"later":{"x":1.50},"isError":true}"#;
        let meta = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"own"},"a/b":1.0}"#;
        assert_eq!(
            result(reply.clone(), V2026_07_28),
            format!(r#"{{"resultType":"complete",{meta},{content}"#)
        );
        assert_eq!(result(reply, V2025_11_25), format!("{{{meta},{content}"));
    }

    #[test]
    fn result_without_meta_is_written_for_both_eras() {
        let reply = read(&tool_call(), V2025_11_25, r#"{"content":[]}"#);
        assert_eq!(result(reply.clone(), V2025_06_18), r#"{"content":[]}"#);
        let info = r#""io.modelcontextprotocol/serverInfo":{"name":"gate","version":"1"}"#;
        assert_eq!(
            result(reply, V2026_07_28),
            format!(r#"{{"resultType":"complete","_meta":{{{info}}},"content":[]}}"#)
        );
    }

    #[test]
    fn hint_for_a_resource_is_passed_on() {
        let request = Call::ReadResource(ReadResourceParams::from("a:b")).into();
        let sent = r#"{"resultType":"complete","ttlMs":7,"cacheScope":"public","contents":[]}"#;
        let Reply::Complete { body, .. } = read(&request, V2026_07_28, sent) else {
            panic!()
        };
        let text = result(body.into(), V2026_07_28);
        assert!(
            text.contains(r#""ttlMs":7,"cacheScope":"public""#),
            "{text}"
        );
        // Legacy results have no such fields, so that those of a legacy server mean something else.
        let Reply::Complete { body, .. } = read(&request, V2025_11_25, sent) else {
            panic!()
        };
        let text = result(body.into(), V2026_07_28);
        assert!(
            text.contains(r#""ttlMs":0,"cacheScope":"private""#),
            "{text}"
        );
        assert_eq!(text.matches("ttlMs").count(), 1);
    }

    #[test]
    fn result_is_decoded_for_revisions_without_its_content() {
        let link = r#"{"resultType":"complete","content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":[1]}"#;
        for (to, expected) in [
            (V2025_11_25, r#""structuredContent":{"result":[1]}"#),
            (V2025_03_26, r#""text":"n: a:b""#),
        ] {
            let text = result(read(&tool_call(), V2026_07_28, link), to);
            assert!(text.contains(expected), "{text}");
        }
        // The content is malformed only for the decoder.
        let broken = r#"{"resultType":"complete","content":[{"type":7}]}"#;
        let reply = read(&tool_call(), V2026_07_28, broken);
        assert!(is_raw(&reply));
        let encoded = encode(reply, V2025_03_26).into_bytes();
        let text = String::from_utf8_lossy(&encoded);
        assert!(text.contains(r#""error":{"code":-32603"#), "{text}");
    }

    // spec: TOOL-18
    #[test]
    fn structured_content_is_wrapped_as_its_schema_says_without_decoding() {
        for (json, is_marked, expected) in [
            (r#"{"a":1}"#, true, r#"{"result":{"a":1}}"#),
            (r#"{"a":1}"#, false, r#"{"a":1}"#),
            ("[1]", false, r#"{"result":[1]}"#),
        ] {
            let sent = format!(
                r#"{{"resultType":"complete","content":[],"structuredContent":{json},"later":1.50}}"#
            );
            let mut reply = read(&tool_call(), V2026_07_28, &sent);
            if let (Reply::Complete { body, .. }, true) = (&mut reply, is_marked) {
                body.wrap_structure();
            }
            let text = result(reply.clone(), V2025_11_25);
            let expected = format!(r#""structuredContent":{expected},"later":1.50}}"#);
            assert!(text.ends_with(&expected), "{text}");
            let text = result(reply, V2026_07_28);
            assert!(
                text.contains(&format!(r#""structuredContent":{json},"#)),
                "{text}"
            );
        }
    }

    #[test]
    fn results_with_another_shape_are_decoded() {
        let many: Vec<_> = (0..100).map(|i| format!(r#""m{i}":1"#)).collect();
        let many = format!(r#"{{"content":[],{}}}"#, many.join(","));
        for sent in [&*many, r#"{"content":[],"new":1,"new":2}"#] {
            assert!(!is_raw(&read(&tool_call(), V2025_11_25, sent)), "{sent}");
        }
        let list = Call::ListTools(mcp_types::Page::default()).into();
        assert!(!is_raw(&read(&list, V2025_11_25, r#"{"tools":[]}"#)));
        for sent in [
            r#"{"content":{}}"#,
            r#"{"content":[],"content":[]}"#,
            r#"{"content":[],"isError":false,"isError":true}"#,
            r#"{"content":[],"_meta":{},"_meta":{}}"#,
        ] {
            let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{sent}}}"#);
            let Message::Response(response) = Message::parse(message.as_bytes()).unwrap() else {
                panic!("no response");
            };
            let read = Reply::decode_raw(&tool_call(), &response, V2025_11_25);
            assert!(read.is_err(), "{sent}");
        }
    }

    #[test]
    fn line_breaks_between_tokens_become_spaces() {
        let sent = "{\"content\": [\r\n{\"type\": \"text\",\n\"text\": \"a\\nb\"}]}";
        let text = result(read(&tool_call(), V2025_11_25, sent), V2025_11_25);
        assert_eq!(text, r#"{"content":[  {"type": "text", "text": "a\nb"}]}"#);
    }

    #[test]
    fn large_content_is_not_copied() {
        let text = "x".repeat(SHARED_BYTES);
        let sent = format!(
            r#"{{"content":[{{"type":"text","text":"{text}"}}],"structuredContent":{{"s":"{text}"}}}}"#
        );
        let reply = read(&tool_call(), V2025_11_25, &sent);
        let Reply::Complete {
            body: ResultBody::Raw(raw),
            ..
        } = &reply
        else {
            panic!("{reply:?}")
        };
        let content = raw.member("content").unwrap().as_ptr();
        let encoded = encode(reply.clone(), V2026_07_28);
        assert_eq!(encoded.shared.as_ptr(), content);
        let value: serde_json::Value = serde_json::from_slice(&encoded.into_bytes()).unwrap();
        assert_eq!(value["result"]["content"][0]["text"], text);
        assert_eq!(value["result"]["structuredContent"]["s"], text);
    }
}
