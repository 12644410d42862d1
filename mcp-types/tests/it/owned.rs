//! Owned messages keep everything that arrives, and write the edits of programs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use mcp_types::{
    CallToolResult, ClientMessage, ClientParams, ContentBlock, JsonObject, ListToolsResult,
    Lossless, Meta, ParseError, RawJson, RawObject, ReadResourceParams, RequestId, ServerMessage,
    ServerParams, Tool,
};
use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::{json_schemas, spec};

/// JSON with the text of its scalars: other digits are another number.
#[derive(Debug, Clone, PartialEq)]
enum Tree {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    Scalar(String),
}

impl Tree {
    fn of(text: &str) -> Self {
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        match raw.get().as_bytes()[0] {
            b'{' => {
                let object = RawObject::from_text(raw.get()).unwrap();
                let members = object.as_raw().members();
                let members =
                    members.map(|(key, value)| (key.into_owned(), Self::of(value.as_str())));
                Self::Object(members.collect())
            }
            b'[' => {
                let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap();
                Self::List(list.iter().map(|element| Self::of(element.get())).collect())
            }
            _ => Self::Scalar(raw.get().to_owned()),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Object(members) => {
                let members = members
                    .iter()
                    .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), value.text()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
            Self::List(elements) => {
                let elements: Vec<_> = elements.iter().map(Self::text).collect();
                format!("[{}]", elements.join(","))
            }
            Self::Scalar(text) => text.clone(),
        }
    }

    /// Returns the member `key`, which is added if it is missing.
    fn member(&mut self, key: &str) -> &mut Self {
        let Self::Object(members) = self else {
            panic!("{key} of {self:?}")
        };
        let place = members.iter().position(|(name, _)| name == key);
        let place = place.unwrap_or_else(|| {
            members.push((key.to_owned(), Self::of("{}")));
            members.len() - 1
        });
        &mut members[place].1
    }

    /// Returns the name of the member with the message's content.
    fn part(&self) -> Option<&'static str> {
        let Self::Object(members) = self else {
            return None;
        };
        let mut parts = ["params", "result"].into_iter();
        parts.find(|part| members.iter().any(|(name, _)| name == part))
    }

    /// Adds a member to each object. The chosen places take turns.
    fn sprinkle(&mut self, unknown: &[(String, String, bool)], turn: &mut usize) {
        match self {
            Self::Object(members) => {
                for (_, value) in members.iter_mut() {
                    value.sprinkle(unknown, turn);
                }
                let (key, value, first) = &unknown[*turn % unknown.len()];
                *turn += 1;
                if members.iter().all(|(name, _)| name != key) {
                    let place = if *first { 0 } else { members.len() };
                    members.insert(place, (key.clone(), Self::of(value)));
                }
            }
            Self::List(elements) => {
                for element in elements {
                    element.sprinkle(unknown, turn);
                }
            }
            Self::Scalar(_) => {}
        }
    }
}

/// A message, the side that sends it, and the method of a response's request.
#[derive(Debug, Clone)]
struct Sample {
    text: String,
    of_client: bool,
    answers: Option<String>,
}

impl Sample {
    /// Reads the message, edits it, and writes it.
    fn edited(&self, text: &str, edit: impl Fn(&mut Meta)) -> String {
        let edit = |meta: Option<&mut Meta>| {
            if let Some(meta) = meta {
                edit(meta);
            }
        };
        if self.of_client {
            let mut message: ClientMessage = serde_json::from_str(text).unwrap();
            edit(message.meta_mut());
            serde_json::to_string(&message).unwrap()
        } else {
            let mut message: ServerMessage = serde_json::from_str(text).unwrap();
            edit(message.meta_mut());
            serde_json::to_string(&message).unwrap()
        }
    }

    /// Reads and writes the message.
    fn again(&self, text: &str) -> String {
        if self.of_client {
            let message = ClientMessage::parse(text.as_bytes()).unwrap();
            serde_json::to_string(&message).unwrap()
        } else {
            let message = ServerMessage::parse(text.as_bytes()).unwrap();
            serde_json::to_string(&message).unwrap()
        }
    }

    #[track_caller]
    fn check(&self) {
        let again = self.again(&self.text);
        let value = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        if self.of_client {
            json_schemas::accepts::<ClientMessage>(&value(&self.text));
        } else {
            json_schemas::accepts::<ServerMessage>(&value(&self.text));
        }
        assert_eq!(value(&again), value(&self.text));
        assert_eq!(
            Tree::of(&again).text().len(),
            Tree::of(&self.text).text().len()
        );
    }

    fn is_known(&self) -> bool {
        if self.of_client {
            let message = ClientMessage::parse(self.text.as_bytes()).unwrap();
            !matches!(
                message,
                ClientMessage::Request {
                    params: ClientParams::Other { .. },
                    ..
                } | ClientMessage::Notification {
                    params: ClientParams::Other { .. }
                }
            )
        } else {
            let message = ServerMessage::parse(self.text.as_bytes()).unwrap();
            !matches!(
                message,
                ServerMessage::Request {
                    params: ServerParams::Other { .. },
                    ..
                } | ServerMessage::Notification {
                    params: ServerParams::Other { .. }
                }
            )
        }
    }
}

/// The messages of the transcripts.
fn transcripts() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../integrations/mcp-testing/tests/it/transcripts");
    let mut samples = Vec::new();
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        let mut asked: HashMap<String, String> = HashMap::new();
        for line in text.lines() {
            let of_client = line.starts_with("-> ");
            let line = line.trim_start_matches(['<', '-', '>', ' ']);
            let message = line.trim_start_matches("data: ");
            if !message.starts_with('{') {
                continue;
            }
            let value: Value = serde_json::from_str(message).unwrap();
            let id = value["id"].to_string();
            if let Some(method) = value["method"].as_str() {
                asked.insert(id.clone(), method.to_owned());
            }
            samples.push(Sample {
                text: message.to_owned(),
                of_client,
                answers: asked
                    .get(&id)
                    .filter(|_| value.get("result").is_some())
                    .cloned(),
            });
        }
    }
    samples
}

/// The official examples in messages. Parts of messages are in a result.
fn examples() -> Vec<Sample> {
    let root = spec::folder().join("2026-07-28/examples");
    let mut samples = Vec::new();
    for kind in fs::read_dir(&root).unwrap() {
        let kind = kind.unwrap().path();
        let name = kind.file_name().unwrap().to_string_lossy().into_owned();
        for file in fs::read_dir(&kind).unwrap() {
            samples.push(sample(&name, spec::read_json(&file.unwrap().path())));
        }
    }
    samples
}

fn sample(kind: &str, value: Value) -> Sample {
    let asks_client = matches!(
        kind,
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest"
    );
    let answers_server = matches!(
        kind,
        "CreateMessageResult" | "ElicitResult" | "ListRootsResult"
    );
    let is_message = value.get("jsonrpc").is_some();
    let message = if asks_client {
        let params = value.get("params").cloned().unwrap_or_else(|| json!({}));
        json!({"jsonrpc": "2.0", "id": 1, "method": value["method"], "params": params})
    } else if kind.ends_with("Error") && !is_message {
        json!({"jsonrpc": "2.0", "id": 1, "error": value})
    } else if kind.ends_with("Result") {
        json!({"jsonrpc": "2.0", "id": 1, "result": value})
    } else if !is_message {
        json!({"jsonrpc": "2.0", "id": 1, "result": {"part": value}})
    } else {
        value
    };
    let asks_server = kind.ends_with("Request") && !asks_client;
    Sample {
        text: message.to_string(),
        of_client: asks_server || answers_server || kind == "CancelledNotification",
        answers: kind.ends_with("Result").then(|| kind.to_owned()),
    }
}

#[test]
fn messages_in_transcripts_round_trip() {
    let samples = transcripts();
    assert!(samples.len() > 120, "only {} messages", samples.len());
    for sample in samples {
        sample.check();
        assert_eq!(sample.again(&sample.text), sample.text);
        assert!(sample.is_known(), "{sample:?}");
    }
}

#[test]
fn official_examples_round_trip() {
    let samples = examples();
    assert!(samples.len() >= 129, "only {} examples", samples.len());
    for sample in samples {
        sample.check();
        assert!(sample.is_known(), "{sample:?}");
    }
}

/// Members that no type knows, with numbers that a `f64` cannot hold. The flag says if the member is the
/// first one.
fn unknown() -> impl Strategy<Value = Vec<(String, String, bool)>> {
    let value = prop_oneof![
        Just("123456789012345678901234567890".to_owned()),
        Just("0.10000000000000000000000001".to_owned()),
        Just("-1.50e+3".to_owned()),
        Just("null".to_owned()),
        Just(r#"{"deep":[1.0,{"name":"x","uri":2.50}]}"#.to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        "\\PC{0,6}".prop_map(|text| Value::from(text).to_string()),
    ];
    vec(("x-[a-z]{1,3}", value, any::<bool>()), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn unknown_members_survive(unknown in unknown()) {
        let mut turn = 0;
        for sample in transcripts().into_iter().chain(examples()) {
            let mut tree = Tree::of(&sample.text);
            let Some(part) = tree.part() else { continue };
            tree.member(part).sprinkle(&unknown, &mut turn);
            let text = tree.text();
            assert_eq!(Tree::of(&sample.again(&text)), tree);
            // With an edit of `_meta` that changes nothing, and with one that adds a member.
            assert_eq!(Tree::of(&sample.edited(&text, |_| {})), tree);
            let edited = sample.edited(&text, |meta| drop(meta.insert("com.example/a", 1)));
            *tree.member(part).member("_meta").member("com.example/a") = Tree::of("1");
            assert_eq!(Tree::of(&edited), tree);
        }
    }

    #[test]
    fn unknown_members_survive_an_edited_result(unknown in unknown()) {
        let mut turn = 0;
        for sample in transcripts().into_iter().chain(examples()) {
            let edit = match sample.answers.as_deref() {
                Some("tools/call" | "CallToolResult") => edit_call as fn(&mut Lossless<JsonObject>),
                Some("tools/list" | "ListToolsResult") => edit_list,
                _ => continue,
            };
            let mut tree = Tree::of(&sample.text);
            tree.member("result").sprinkle(&unknown, &mut turn);
            let ServerMessage::Response { id, mut result } =
                ServerMessage::parse(tree.text().as_bytes()).unwrap() else { unreachable!() };
            edit(&mut result);
            let edited = serde_json::to_string(&ServerMessage::Response { id, result }).unwrap();
            *tree.member("result").member("_meta").member("com.example/a") = Tree::of("true");
            assert_eq!(Tree::of(&edited), tree);
        }
    }
}

fn edit_call(result: &mut Lossless<JsonObject>) {
    let edit = |result: &mut CallToolResult| set(&mut result.meta);
    result.edit(edit).unwrap();
}

fn edit_list(result: &mut Lossless<JsonObject>) {
    let edit = |result: &mut ListToolsResult| set(&mut result.meta);
    result.edit(edit).unwrap();
}

fn set(meta: &mut Option<Meta>) {
    meta.get_or_insert_default().insert("com.example/a", true);
}

#[test]
fn edited_parameters_keep_the_rest() {
    let text = r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"x":1.50,"name":"m_add","arguments":{"a":1e2},"_meta":{"progressToken":1,"y":2.0}}}"#;
    let mut message = ClientMessage::parse(text.as_bytes()).unwrap();
    assert_eq!(message.method(), Some("tools/call"));
    assert_eq!(message.id(), Some(&RequestId::from("a")));
    assert_eq!(message.meta().unwrap().get("progressToken"), Some(1));
    let ClientMessage::Request {
        id,
        params: ClientParams::CallTool(call),
    } = &mut message
    else {
        panic!("{message:?}")
    };
    *id = 7.into();
    call.name = "add".to_owned();
    message.meta_mut().unwrap().remove("progressToken");
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":1.50,"name":"add","arguments":{"a":1e2},"_meta":{"y":2.0}}}"#
    );
}

#[test]
fn meta_edits_by_type_and_by_message_are_merged() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.50,"_meta":{"a":1.0,"b":2}}}"#;
    let mut message = ServerMessage::parse(text.as_bytes()).unwrap();
    let ServerMessage::Notification {
        params: ServerParams::LogMessage(log),
    } = &mut message
    else {
        panic!("{message:?}")
    };
    log.meta.get_or_insert_default().insert("c", 3);
    let meta = message.meta_mut().unwrap();
    meta.remove("b");
    meta.insert("d", 4);
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.50,"_meta":{"a":1.0,"c":3,"d":4}}}"#
    );
}

#[test]
fn edited_list_keeps_members_in_its_elements() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[
        {"name":"a","inputSchema":{"maximum":1.0},"x":123456789012345678901,"icons":[{"src":"i","y":1}]},
        {"name":"b","inputSchema":{}},
        {"name":"c","inputSchema":{"minimum":2.0},"annotations":null}
    ],"resultType":"complete"}}"#;
    let mut message = ServerMessage::parse(text.as_bytes()).unwrap();
    let ServerMessage::Response { result, .. } = &mut message else {
        panic!("{message:?}")
    };
    let count = result.edit(|list: &mut ListToolsResult| {
        list.tools.retain(|tool| tool.name != "b");
        list.tools[0].name = "m_a".to_owned();
        list.tools.push(Tool::new("d"));
        list.tools.len()
    });
    assert_eq!(count.unwrap(), 3);
    let written = serde_json::to_string(&message).unwrap();
    assert!(written.starts_with(
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"m_a","inputSchema":{"maximum":1.0},"icons":[{"src":"i","y":1}],"x":123456789012345678901},{"name":"c","inputSchema":{"minimum":2.0},"annotations":null},{"name":"d""#
    ), "{written}");
    assert!(
        written.ends_with(r#"],"resultType":"complete"}}"#),
        "{written}"
    );
    let ServerMessage::Response { result, .. } = &mut message else {
        unreachable!()
    };
    assert_eq!(result.read_as::<ListToolsResult>().unwrap().tools.len(), 3);
    // Another type is an error, and changes nothing.
    result
        .edit(|_: &mut mcp_types::InitializeResult| ())
        .unwrap_err();
    assert_eq!(serde_json::to_string(&message).unwrap(), written);
}

#[test]
fn redacted_block_has_no_unknown_member() {
    let text = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"4711","raw":"4711"},{"type":"text","text":"ok","z":0}]}}"#;
    let mut message = ServerMessage::parse(text.as_bytes()).unwrap();
    if let ServerMessage::Response { result, .. } = &mut message {
        let edit =
            |result: &mut CallToolResult| result.content[0] = ContentBlock::text("[redacted]");
        result.edit(edit).unwrap();
    }
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[redacted]"},{"type":"text","text":"ok","z":0}]}}"#
    );
}

#[test]
fn unknown_methods_and_invalid_parameters_are_kept() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"com.example/sum","params":{"b":1.0,"a":[]}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/com.example"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        // A method of the other side.
        r#"{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#,
    ] {
        let mut message = ClientMessage::parse(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
        let (ClientMessage::Request { params, .. } | ClientMessage::Notification { params }) =
            &mut message
        else {
            panic!("{message:?}")
        };
        let ClientParams::Other { params, .. } = params else {
            panic!("{text}")
        };
        params.insert("z".to_owned(), Value::Null);
        let written: Value = serde_json::to_value(&message).unwrap();
        assert_eq!(written["params"]["z"], Value::Null);
    }
}

#[test]
fn absent_and_empty_parameters_differ() {
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":1.0}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}"#,
    ] {
        let message = ClientMessage::parse(text.as_bytes()).unwrap();
        assert_eq!(serde_json::to_string(&message).unwrap(), text);
    }
    let mut message = ClientMessage::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).unwrap();
    message.meta_mut().unwrap().insert("a", 1);
    assert_eq!(
        serde_json::to_string(&message).unwrap(),
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":1}}}"#
    );
    assert!(
        ClientMessage::parse(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#)
            .unwrap()
            .meta()
            .is_none()
    );
}

#[test]
fn message_of_own_values_is_written() {
    let message = ClientMessage::Request {
        id: 1.into(),
        params: ClientParams::ReadResource(ReadResourceParams::from("file:///a").into()),
    };
    let text = serde_json::to_string(&message).unwrap();
    assert_eq!(
        text,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}"#
    );
    let mut result = CallToolResult::from_text("hi");
    set(&mut result.meta);
    let mut result = Lossless::from(result);
    assert_eq!(result.meta().get("com.example/a"), Some(true));
    result.meta_mut().insert("b", 2);
    assert_eq!(
        serde_json::to_string(&result).unwrap(),
        r#"{"content":[{"type":"text","text":"hi"}],"_meta":{"com.example/a":true,"b":2}}"#
    );
    assert_eq!(result.into_inner().text(), "hi");
}

#[test]
fn hostile_messages_are_refused() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let many: Vec<_> = (0..100).map(|n| format!(r#""m{n}":0"#)).collect();
    for (text, reason) in [
        ("[]".to_owned(), "batches"),
        ("{".to_owned(), "invalid JSON"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#.to_owned(),
            "`result`: expected a JSON object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#.to_owned(),
            "must be an object",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1,"a":2}}"#.to_owned(),
            "twice",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rm","arguments":{"o":[{"path":"/tmp","\u0070ath":"/"}]}}}"#.to_owned(),
            "a member of `params.arguments` comes twice: path",
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{{}}}}}"#,
                many.join(",")
            ),
            "too many",
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{}}}}}"#,
                deep(200)
            ),
            "recursion",
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{}}}}}"#,
                deep(200_000)
            ),
            "recursion",
        ),
    ] {
        let error = ServerMessage::parse(text.as_bytes()).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        if matches!(error, ParseError::Invalid { .. }) && !text.starts_with('[') {
            assert_eq!(error.id(), Some(&RequestId::from(1)));
        }
    }
    // Parameters that no type interprets pass as they are.
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"a":{}}}}}}}"#,
        deep(10_000)
    );
    let mut message = ClientMessage::parse(text.as_bytes()).unwrap();
    if let ClientMessage::Request {
        params: ClientParams::CallTool(call),
        ..
    } = &mut message
    {
        call.name = "b".to_owned();
    }
    let written = serde_json::to_string(&message).unwrap();
    assert_eq!(written, text.replace(r#""name":"a""#, r#""name":"b""#));
    assert!(RawJson::is_object(
        RawObject::from_text(written).unwrap().as_raw()
    ));
}
