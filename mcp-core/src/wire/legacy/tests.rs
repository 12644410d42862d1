//! Legacy messages, byte by byte.

use std::sync::Arc;

use mcp_types::legacy_tasks::{TaskMetadata, TaskSupport};
use mcp_types::{
    Annotations, CallToolParams, CallToolResult, ContentBlock, Icon, Implementation,
    ListToolsResult, Message, Meta, Page, ProgressUpdate, ProtocolVersion, RawObject, RequestId,
    ResourceLink, Tool,
};
use serde_json::{Value, json};

use crate::connection::{ClientProfile, ServerProfile};
use crate::message::{
    Call, ClientRequest, Fault, ItemKind, Listing, Reply, ResultBody, ServerNotification,
};
use crate::wire::{self, ClientRequestContext, ReplyTarget};

const R1: ProtocolVersion = ProtocolVersion::V2024_11_05;
const R2: ProtocolVersion = ProtocolVersion::V2025_03_26;
const R3: ProtocolVersion = ProtocolVersion::V2025_06_18;
const R4: ProtocolVersion = ProtocolVersion::V2025_11_25;
const ALL: [ProtocolVersion; 4] = [R1, R2, R3, R4];

fn answer(version: ProtocolVersion, reply: impl Into<Reply>) -> Value {
    let to = ReplyTarget {
        id: RequestId::from(7),
        profile: Arc::new(ServerProfile::new(Implementation::new("calc", "1.0.0"))),
        version,
    };
    let bytes = to.encode(reply.into(), Vec::new()).into_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

fn result(version: ProtocolVersion, reply: impl Into<Reply>) -> Value {
    let answer = answer(version, reply);
    assert_eq!(answer["id"], 7);
    answer["result"].clone()
}

#[test]
fn legacy_result_has_no_modern_fields() {
    for version in ALL {
        let plain = result(version, CallToolResult::from_text("hi"));
        assert_eq!(
            plain,
            json!({"content": [{"type": "text", "text": "hi"}]}),
            "{version}"
        );
        let empty = result(version, ResultBody::Other(RawObject::default()));
        assert_eq!(empty, json!({}), "{version}");
    }
}

#[test]
fn structured_content_is_wrapped_or_removed() {
    let array = || CallToolResult::from_json(&json!([1])).unwrap();
    let object = || CallToolResult::from_json(&json!({"a": 1})).unwrap();
    for (version, wrapped, plain) in [
        (R1, Value::Null, Value::Null),
        (R2, Value::Null, Value::Null),
        (R3, json!({"result": [1]}), json!({"a": 1})),
        (R4, json!({"result": [1]}), json!({"a": 1})),
    ] {
        assert_eq!(
            result(version, array())["structuredContent"],
            wrapped,
            "{version}"
        );
        assert_eq!(
            result(version, object())["structuredContent"],
            plain,
            "{version}"
        );
        assert_eq!(
            result(version, array())["content"][0]["text"],
            "[1]",
            "{version}"
        );
    }
}

#[test]
fn unknown_content_becomes_text() {
    let content = vec![
        ContentBlock::audio(b"abc", "audio/wav"),
        ContentBlock::from(ResourceLink::new("file:///a", "a")),
    ];
    for (version, kinds) in [
        (R1, ["text", "text"]),
        (R2, ["audio", "text"]),
        (R3, ["audio", "resource_link"]),
        (R4, ["audio", "resource_link"]),
    ] {
        let result = result(version, CallToolResult::new(content.clone()));
        let found = [&result["content"][0]["type"], &result["content"][1]["type"]];
        assert_eq!(found, kinds, "{version}");
    }
    let words = result(R1, CallToolResult::new(content));
    assert_eq!(words["content"][0]["text"], "[sound, audio/wav, 3 bytes]");
    assert_eq!(words["content"][1]["text"], "a: file:///a");
}

#[test]
fn newer_fields_in_blocks_are_removed() {
    let mut annotations = Annotations::default();
    annotations.priority = Some(0.5);
    annotations.last_modified = Some("2025-01-01".to_owned());
    let block = json!({
        "type": "text", "text": "hi", "annotations": annotations, "_meta": {"a/b": 1},
    });
    let block: ContentBlock = serde_json::from_value(block).unwrap();
    let old = json!({"type": "text", "text": "hi", "annotations": {"priority": 0.5}});
    for version in ALL {
        let narrowed = result(version, CallToolResult::new(vec![block.clone()]));
        let expected = if [R1, R2].contains(&version) {
            old.clone()
        } else {
            json!(block)
        };
        assert_eq!(narrowed["content"][0], expected, "{version}");
    }
}

fn tool() -> Tool {
    let schema = json!({"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "number"}}});
    let mut tool = Tool::new("add")
        .title("Add")
        .read_only()
        .icon(Icon::new("data:image/png;base64,"))
        .meta("a/b", 1);
    tool.output_schema = schema.as_object().cloned().map(Arc::new);
    let execution = tool.execution.get_or_insert_default();
    execution.task_support = Some(TaskSupport::Optional);
    tool
}

// spec: TASKL-01
#[test]
fn newer_fields_in_tools_are_removed() {
    let page = Arc::new(Listing::new(ListToolsResult::from(vec![tool()])));
    let listed = |version| {
        let tools = result(version, ResultBody::ListTools(page.clone()));
        let tool = tools["tools"][0].as_object().unwrap().clone();
        let names: Vec<_> = tool.keys().cloned().collect();
        (tool, names.join(" "))
    };
    for (version, members) in [
        (R1, "name inputSchema"),
        (R2, "name inputSchema annotations"),
        (R3, "name title inputSchema outputSchema annotations _meta"),
        (
            R4,
            "name title inputSchema outputSchema annotations execution icons _meta",
        ),
    ] {
        assert_eq!(listed(version).1, members, "{version}");
    }
    assert_eq!(
        listed(R4).0["outputSchema"],
        json!({
            "type": "object",
            "properties": {"result": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
            "required": ["result"],
            "$defs": {"n": {"type": "number"}},
        })
    );
    // The list itself is unchanged.
    assert_eq!(page.tools[0], tool());
}

#[test]
fn call_with_a_task_is_an_ordinary_call() {
    // spec: TASKL-01, TASKL-02
    for (task, kept) in [
        ("{\"ttl\":5}", true),
        ("{}", true),
        ("7", false),
        ("null", false),
    ] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","task":{task}}}}}"#
        );
        for version in ALL {
            let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
                panic!("{text}")
            };
            let decoded = wire::decode_request(&request, version).unwrap();
            let ClientRequest::Call(Call::CallTool(params)) = decoded.request else {
                panic!("{version} {task}")
            };
            assert_eq!(params.name, "add");
            assert_eq!(
                params.task.is_some(),
                kept && version == R4,
                "{version} {task}"
            );
        }
    }
    let mut asked = CallToolParams::new("add", None);
    asked.task = Some(TaskMetadata::default());
    for version in ALL {
        let (text, _) = over_the_wire(version, &ClientRequest::Call(Call::CallTool(asked.clone())));
        let is_sent = text["params"].get("task").is_some();
        assert_eq!(is_sent, version == R4, "{version} {text}");
    }
}

#[test]
fn fault_has_the_code_for_its_revision() {
    // spec: RSRC-05
    for version in ALL {
        let missing = Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: "a:b".into(),
        };
        let error = answer(version, missing)["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(-32002), &json!("a:b"))
        );

        let supported = vec!["2025-11-25".to_owned()];
        let unsupported = Fault::UnsupportedVersion {
            requested: "9".into(),
            supported,
        };
        let error = answer(version, unsupported)["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["requested"]),
            (&json!(-32602), &json!("9"))
        );

        let tool = answer(version, Fault::no_such_tool("x"));
        assert_eq!(tool["error"]["code"], -32602, "{version}");
        let mismatch = answer(version, Fault::HeaderMismatch("x".into()));
        assert_eq!(mismatch["error"]["code"], -32602, "{version}");
    }
    let visit = || Fault::Protocol(mcp_types::ErrorObject::new(-32042, "visit"));
    let codes = ALL.map(|version| answer(version, visit())["error"]["code"].clone());
    assert_eq!(codes, [-32603, -32603, -32603, -32042]);
    let input = Reply::InputRequired(mcp_types::InputRequired::default());
    assert_eq!(answer(R4, input)["error"]["code"], -32603);
}

#[test]
fn progress_message_exists_since_2025_03_26() {
    // spec: PROG-02
    let note = ServerNotification::Progress {
        token: 1.into(),
        progress: ProgressUpdate::new(0.5).message("x"),
    };
    for version in ALL {
        let mut text = Vec::new();
        assert!(wire::write_server(&note, (None, None), version, &mut text));
        let value: Value = serde_json::from_slice(&text).unwrap();
        let words = &value["params"]["message"];
        assert_eq!(words.is_null(), version == R1, "{version}: {value}");
    }
}

/// Encodes a call as a client and decodes it as a server.
fn over_the_wire(
    version: ProtocolVersion,
    request: &ClientRequest,
) -> (Value, Result<wire::DecodedRequest, Fault>) {
    let (id, profile) = (
        RequestId::from("a"),
        ClientProfile::new(Implementation::new("agent", "1")),
    );
    let token = "t".into();
    let meta = Meta::default().with("traceparent", "00-1");
    let mut from = ClientRequestContext::new(&id, &profile);
    from.progress_token = Some(&token);
    from.meta = Some(&meta);
    let text = wire::encode_request(request, &from, version);
    let Ok(Message::Request(request)) = Message::parse(&text) else {
        panic!()
    };
    (
        serde_json::from_slice(&text).unwrap(),
        wire::decode_request(&request, version),
    )
}

// spec: BASE-01, META-06
#[test]
fn legacy_request_has_no_envelope() {
    // spec: BASE-15
    let arguments = RawObject::from_text(r#"{"a": [1]}"#).unwrap();
    let call = Call::CallTool(CallToolParams::new("add", Some(arguments)));
    for version in ALL {
        let (text, decoded) = over_the_wire(version, &ClientRequest::Call(call.clone()));
        assert_eq!(
            text["params"],
            json!({
                "_meta": {"traceparent": "00-1", "progressToken": "t"},
                "name": "add",
                "arguments": {"a": [1]},
            })
        );
        let decoded = decoded.unwrap();
        assert_eq!(decoded.progress_token, Some("t".into()));
        assert!(
            matches!(decoded.request, ClientRequest::Call(Call::CallTool(params)) if params.name == "add")
        );
    }
}

#[test]
fn modern_methods_are_unknown() {
    for version in ALL {
        let (_, decoded) = over_the_wire(version, &ClientRequest::Discover);
        assert!(
            matches!(decoded, Err(Fault::NoSuchMethod { .. })),
            "{version}"
        );
        let (_, decoded) = over_the_wire(
            version,
            &ClientRequest::Call(Call::ListPrompts(Page::default())),
        );
        assert!(decoded.is_ok(), "{version}");
    }
}

#[test]
fn replies_read_back() {
    let request = ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
    for version in ALL {
        let value = answer(version, CallToolResult::from_text("hi")).to_string();
        let Ok(Message::Response(response)) = Message::parse(value.as_bytes()) else {
            panic!()
        };
        let Ok(Reply::Complete {
            body: ResultBody::CallTool(result),
            cache: None,
        }) = Reply::decode(&request, &response, version)
        else {
            panic!("{version}")
        };
        assert_eq!(result.text(), "hi");

        let missing = Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: "a:b".into(),
        };
        let value = answer(version, missing.clone()).to_string();
        let Ok(Message::Response(response)) = Message::parse(value.as_bytes()) else {
            panic!()
        };
        let reply = Reply::decode(&request, &response, version).unwrap();
        assert!(matches!(reply, Reply::Fault(fault) if fault == missing));
    }
}
