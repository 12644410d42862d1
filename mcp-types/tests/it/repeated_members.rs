//! Tests that a known member which occurs twice is refused, in structs and in tagged unions, whatever the
//! order of the members.

use mcp_types::codes;
use mcp_types::ext::{apps, tasks};
use mcp_types::meta::keys;
use mcp_types::{
    CallToolResult, CompletionReference, ContentBlock, ElicitParams, ElicitUrlParams, ErrorObject,
    InputRequest, InputRequests, InputResponses, Meta, PrimitiveSchema, RawObject,
    ResourceContents, SamplingContent, Tool, ToolResultContent,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::values;

/// Returns `true` for definitions whose members are names chosen by the sender.
fn is_map(definition: &str) -> bool {
    definition.ends_with("MetaObject") || matches!(definition, "InputRequests" | "InputResponses")
}

/// Members with any JSON in them. Repeated members inside of it are not checked.
const ANY_JSON: [&str; 14] = [
    "_meta",
    "data",
    "experimental",
    "extensions",
    "frontmatter",
    "input",
    "inputRequests",
    "inputResponses",
    "inputSchema",
    "metadata",
    "outputSchema",
    "properties",
    "result",
    "structuredContent",
];

/// Returns texts of `value` in which one member of one object is repeated at its start or at its end.
fn with_repeated_member(value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(k, v)| (k, v.to_string())).collect();
            let object = |members: &[(&String, String)]| {
                let members = members.iter().map(|(key, text)| format!("{key:?}:{text}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            };
            let mut texts = Vec::new();
            for (index, (key, text)) in members.iter().enumerate() {
                for at in [0, members.len()] {
                    let mut repeated = members.clone();
                    repeated.insert(at, (key, text.clone()));
                    texts.push(object(&repeated));
                }
                if is_any_json(key, &value[*key]) {
                    continue;
                }
                for text in with_repeated_member(&value[*key]) {
                    let mut changed = members.clone();
                    changed[index].1 = text;
                    texts.push(object(&changed));
                }
            }
            texts
        }
        Value::Array(items) => {
            let mut texts = Vec::new();
            for (index, item) in items.iter().enumerate() {
                for text in with_repeated_member(item) {
                    let mut changed: Vec<_> = items.iter().map(Value::to_string).collect();
                    changed[index] = text;
                    texts.push(format!("[{}]", changed.join(",")));
                }
            }
            texts
        }
        _ => Vec::new(),
    }
}

fn is_any_json(key: &str, value: &Value) -> bool {
    let is_raw_object = matches!(key, "arguments" | "content")
        && value.is_object()
        && value.get("type").is_none_or(|kind| !kind.is_string());
    is_raw_object || ANY_JSON.contains(&key)
}

#[track_caller]
fn refused(name: &str, text: &str, read: impl Fn(&str) -> serde_json::Result<()>) {
    let error = read(text).expect_err(&format!("{name}: {text}"));
    assert!(
        error.to_string().contains("duplicate field"),
        "{name}: {error}: {text}"
    );
}

#[test]
fn repeated_member_in_any_struct_is_refused() {
    let mut count = 0;
    for case in values::all() {
        let Some(read) = case.read.filter(|_| !is_map(case.name)) else {
            continue;
        };
        read(&case.value.to_string()).unwrap();
        for text in with_repeated_member(&case.value) {
            refused(case.name, &text, read);
            count += 1;
        }
    }
    println!("{count} repeated members");
    assert!(count > 2500, "only {count} repeated members");
}

#[test]
fn repeated_member_in_error_data_and_extension_is_refused() {
    #[track_caller]
    fn check<T: Serialize + DeserializeOwned>(value: &T) {
        let value = serde_json::to_value(value).unwrap();
        let texts = with_repeated_member(&value);
        assert!(!texts.is_empty(), "{value}");
        for text in texts {
            refused(std::any::type_name::<T>(), &text, |text| {
                serde_json::from_str::<T>(text).map(drop)
            });
        }
    }

    check(&codes::MissingResource::default());
    check(&codes::MissingCapabilities::default());
    check(&codes::UnsupportedVersion::default());
    let url = ElicitUrlParams::new("m", "https://example.com");
    let mut required = codes::RequiredElicitations::default();
    required.elicitations.push(url);
    check(&required);

    let mut task = tasks::Task::new("t", "2026-07-28T12:00:00Z");
    (task.ttl_ms, task.poll_interval_ms) = (Some(1), Some(1));
    task.status_message = Some("m".to_owned());
    let responses = InputResponses::from([("r".to_owned(), RawObject::default())]);
    let roots = InputRequests::from([("r".to_owned(), InputRequest::ListRoots)]);
    task.input_requests = Some(roots);
    task.result = RawObject::from_value(&CallToolResult::default()).ok();
    task.error = Some(ErrorObject::new(1, "e"));
    check(&task);
    check(&tasks::TaskParams::from("t"));
    check(&tasks::UpdateTaskParams::new("t", responses));

    check(&apps::ToolUi::new("ui://x").visible_to(apps::Visibility::App));
}

/// A tagged union.
struct Union {
    name: &'static str,
    tag: &'static str,
    /// Variants: the tag, then known members.
    variants: Vec<(&'static str, Vec<(&'static str, Value)>)>,
    read: fn(&str) -> serde_json::Result<Value>,
}

fn read<T: Serialize + DeserializeOwned>(text: &str) -> serde_json::Result<Value> {
    let value: T = serde_json::from_str(text)?;
    serde_json::to_value(value)
}

fn read_block_of_tool_result(text: &str) -> serde_json::Result<Value> {
    read::<ToolResultContent>(&format!(r#"{{"toolUseId":"t","content":[{text}]}}"#))
}

fn read_list_of_blocks(text: &str) -> serde_json::Result<Value> {
    read::<SamplingContent>(&format!("[{text}]"))
}

#[expect(clippy::too_many_lines, reason = "one table of cases")]
fn unions() -> Vec<Union> {
    let hints = ("annotations", json!({"priority": 1}));
    let meta = ("_meta", json!({"a": 1}));
    let contents = json!({"uri": "u", "text": "t"});
    let plain_blocks = vec![
        (
            "text",
            vec![("text", json!("a")), hints.clone(), meta.clone()],
        ),
        (
            "image",
            vec![
                ("data", json!("aGk=")),
                ("mimeType", json!("m")),
                hints.clone(),
            ],
        ),
        (
            "audio",
            vec![
                ("data", json!("aGk=")),
                ("mimeType", json!("m")),
                meta.clone(),
            ],
        ),
        (
            "resource",
            vec![("resource", contents), hints.clone(), meta.clone()],
        ),
        (
            "resource_link",
            vec![
                ("uri", json!("u")),
                ("name", json!("n")),
                ("size", json!(1)),
                hints,
            ],
        ),
    ];
    let mut blocks = plain_blocks.clone();
    blocks.extend([
        (
            "tool_use",
            vec![
                ("id", json!("i")),
                ("name", json!("n")),
                ("input", json!({"a": 1e5})),
            ],
        ),
        (
            "tool_result",
            vec![
                ("toolUseId", json!("i")),
                ("content", json!([])),
                ("isError", json!(true)),
                meta,
            ],
        ),
    ]);
    let title = ("title", json!("t"));
    let form = json!({"type": "object", "properties": {}});
    let message = ("message", json!("m"));
    let elicit = json!({"message": "m", "requestedSchema": form});
    vec![
        Union {
            name: "ContentBlock",
            tag: "type",
            variants: blocks.clone(),
            read: read::<ContentBlock>,
        },
        Union {
            name: "SamplingContent, one",
            tag: "type",
            variants: blocks.clone(),
            read: read::<SamplingContent>,
        },
        Union {
            name: "SamplingContent, many",
            tag: "type",
            variants: blocks,
            read: read_list_of_blocks,
        },
        Union {
            name: "ToolResultContent::content",
            tag: "type",
            variants: plain_blocks,
            read: read_block_of_tool_result,
        },
        Union {
            name: "CompletionReference",
            tag: "type",
            variants: vec![
                ("ref/prompt", vec![("name", json!("n"))]),
                ("ref/resource", vec![("uri", json!("u"))]),
            ],
            read: read::<CompletionReference>,
        },
        Union {
            name: "ElicitParams",
            tag: "mode",
            variants: vec![
                ("form", vec![message.clone(), ("requestedSchema", form)]),
                ("url", vec![message, ("url", json!("https://example.com"))]),
            ],
            read: read::<ElicitParams>,
        },
        Union {
            name: "PrimitiveSchema",
            tag: "type",
            variants: vec![
                ("string", vec![title.clone(), ("minLength", json!(1))]),
                ("string", vec![title.clone(), ("enum", json!(["a"]))]),
                (
                    "string",
                    vec![
                        title.clone(),
                        ("oneOf", json!([{"const": "a", "title": "A"}])),
                    ],
                ),
                ("number", vec![title.clone(), ("minimum", json!(0.5))]),
                ("integer", vec![title.clone(), ("maximum", json!(1))]),
                ("boolean", vec![title.clone(), ("default", json!(true))]),
                (
                    "array",
                    vec![
                        title.clone(),
                        ("items", json!({"type": "string", "enum": ["a"]})),
                    ],
                ),
                (
                    "array",
                    vec![
                        title,
                        ("items", json!({"anyOf": [{"const": "a", "title": "A"}]})),
                    ],
                ),
            ],
            read: read::<PrimitiveSchema>,
        },
        Union {
            name: "InputRequest",
            tag: "method",
            variants: vec![
                ("elicitation/create", vec![("params", elicit)]),
                (
                    "sampling/createMessage",
                    vec![("params", json!({"messages": [], "maxTokens": 1}))],
                ),
                ("roots/list", vec![("params", json!({}))]),
            ],
            read: read::<InputRequest>,
        },
    ]
}

fn object(members: &[(&str, Value)]) -> String {
    let members = members
        .iter()
        .map(|(key, value)| format!("{key:?}:{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// Returns `members` with `member` inserted first, in the middle and last.
fn in_every_position<'a>(
    members: &[(&'a str, Value)],
    member: &(&'a str, Value),
) -> Vec<Vec<(&'a str, Value)>> {
    let insert = |at| {
        let mut members = members.to_vec();
        members.insert(at, member.clone());
        members
    };
    [0, members.len().div_ceil(2), members.len()]
        .map(insert)
        .into()
}

#[test]
fn union_tag_is_accepted_in_every_position() {
    for union in unions() {
        for (kind, members) in &union.variants {
            let tag = (union.tag, json!(kind));
            let objects = in_every_position(members, &tag);
            let values: Vec<_> = objects
                .iter()
                .map(|members| (union.read)(&object(members)).unwrap())
                .collect();
            assert!(
                values.iter().all(|value| *value == values[0]),
                "{} {kind}: {values:#?}",
                union.name
            );
        }
    }
}

#[test]
fn repeated_union_tag_is_refused_in_every_position() {
    let mut count = 0;
    for union in unions() {
        let unknown = ("x-unknown", vec![("a", json!(1)), ("b", json!([]))]);
        let mut variants = union.variants;
        // Some unions have no variant for other kinds.
        if (union.read)(&format!(r#"{{"{}":"x-unknown"}}"#, union.tag)).is_ok() {
            variants.push(unknown);
        }
        for (kind, members) in &variants {
            for (second, _) in &variants {
                for tagged in in_every_position(members, &(union.tag, json!(kind))) {
                    for members in in_every_position(&tagged, &(union.tag, json!(second))) {
                        let name = format!("{} {kind} {second}", union.name);
                        refused(&name, &object(&members), |text| {
                            (union.read)(text).map(drop)
                        });
                        count += 1;
                    }
                }
            }
        }
    }
    println!("{count} repeated tags");
}

#[test]
fn repeated_union_member_is_refused_in_every_position() {
    let mut count = 0;
    for union in unions() {
        for (kind, members) in &union.variants {
            for tagged in in_every_position(members, &(union.tag, json!(kind))) {
                for member in members {
                    for members in in_every_position(&tagged, member) {
                        let name = format!("{} {kind}", union.name);
                        refused(&name, &object(&members), |text| {
                            (union.read)(text).map(drop)
                        });
                        count += 1;
                    }
                }
            }
        }
    }
    println!("{count} repeated members");
}

#[test]
fn repeated_member_in_resource_contents_is_refused() {
    for contents in [
        json!({"uri": "u", "mimeType": "m", "text": "t", "_meta": {}}),
        json!({"uri": "u", "mimeType": "m", "blob": "aGk=", "_meta": {}}),
    ] {
        for text in with_repeated_member(&contents) {
            refused("ResourceContents", &text, |text| {
                read::<ResourceContents>(text).map(drop)
            });
        }
    }
}

#[test]
fn repeated_unknown_member_keeps_the_last_value() {
    let text = r#"{"name":"a","x":1,"inputSchema":{},"x":2}"#;
    let tool: Tool = serde_json::from_str(text).unwrap();
    assert_eq!(tool.extra["x"], 2);
    let text = r#"{"x":1,"type":"hologram","x":2}"#;
    let ContentBlock::Other(block) = serde_json::from_str(text).unwrap() else {
        panic!("{text}")
    };
    assert_eq!(block["x"], 2);
    let meta: Meta = serde_json::from_str(r#"{"progressToken":1,"progressToken":2}"#).unwrap();
    assert_eq!(meta.get::<i64>(keys::PROGRESS_TOKEN), Some(2));
}
