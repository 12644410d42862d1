//! Raw results, byte by byte.

use mcp_types::ProtocolVersion::{self, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_types::{CallToolParams, Implementation, Message, ReadResourceParams, RequestId};

use super::SHARED_BYTES;
use crate::wire::{self, EncodedReply, ReplyContext, client_for_version};
use crate::{Call, ClientRequest, Reply, ResultBody, ServerProfile};

fn tool_call() -> ClientRequest {
    Call::CallTool(CallToolParams::new("t", None)).into()
}

fn read(request: &ClientRequest, version: ProtocolVersion, result: &str) -> Reply {
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let Message::Response(response) = Message::parse(message.as_bytes()).unwrap() else {
        panic!("no response");
    };
    let wire = client_for_version(version);
    wire.decode_raw_reply(request, &response).unwrap()
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
    let (id, profile) = (
        RequestId::from(7),
        ServerProfile::new(Implementation::new("gate", "1")),
    );
    let context = ReplyContext::new(&id, &profile);
    wire::for_version(version).encode_reply(reply, &context, Vec::new())
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
fn result_keeps_its_json_and_gets_the_fields_of_the_wire() {
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
fn result_without_meta_becomes_one_of_both_eras() {
    let reply = read(&tool_call(), V2025_11_25, r#"{"content":[]}"#);
    assert_eq!(result(reply.clone(), V2025_06_18), r#"{"content":[]}"#);
    let info = r#""io.modelcontextprotocol/serverInfo":{"name":"gate","version":"1"}"#;
    assert_eq!(
        result(reply, V2026_07_28),
        format!(r#"{{"resultType":"complete","_meta":{{{info}}},"content":[]}}"#)
    );
}

#[test]
fn hint_of_a_resource_is_passed_on() {
    let request = Call::ReadResource(ReadResourceParams::new("a:b")).into();
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

#[test]
fn results_of_another_shape_are_decoded() {
    let many: Vec<_> = (0..100).map(|i| format!(r#""m{i}":1"#)).collect();
    let many = format!(r#"{{"content":[],{}}}"#, many.join(","));
    assert!(!is_raw(&read(&tool_call(), V2025_11_25, &many)));
    let list = Call::ListTools(mcp_types::Page::first()).into();
    assert!(!is_raw(&read(&list, V2025_11_25, r#"{"tools":[]}"#)));
    for sent in [
        "{}",
        r#"{"content":{}}"#,
        r#"{"content":[],"content":[]}"#,
        r#"{"content":[],"_meta":1}"#,
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{sent}}}"#);
        let Message::Response(response) = Message::parse(message.as_bytes()).unwrap() else {
            panic!("no response");
        };
        let wire = client_for_version(V2025_11_25);
        assert!(
            wire.decode_raw_reply(&tool_call(), &response).is_err(),
            "{sent}"
        );
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
