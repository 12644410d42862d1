//! Deviations of each member of items, content blocks and results: one of them is malformed, the others are kept.

use mcp_client::{Client, ConnectMode, Over};
use serde_json::{Value, json};

use super::columns::{check_list, check_result, check_used};
use super::quirks::Call;
use super::raw;
use crate::script::{Script, result};

/// Values of wrong types. The last one is a text that is cut inside of a character.
const WRONG: [&str; 9] = [
    "null",
    "7",
    "1.5",
    "true",
    "false",
    "[]",
    "{}",
    r#""text""#,
    r#""cut \ud83d""#,
];

/// Returns the JSON texts of a value in which one member at any depth is dropped or replaced, with the member's path.
fn deviations(value: &Value) -> Vec<(String, String)> {
    let mut found = Vec::new();
    deviate(value, &mut Vec::new(), value, &mut found);
    found
}

const MARK: &str = "the place of the value";

fn deviate(
    whole: &Value,
    path: &mut Vec<String>,
    value: &Value,
    found: &mut Vec<(String, String)>,
) {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| (at.to_string(), item))
            .collect(),
        _ => Vec::new(),
    };
    for (name, child) in children {
        path.push(name);
        let pointer = format!(
            "/{}",
            path.join("/").replace("com.example/x", "com.example~1x")
        );
        let mut marked = whole.clone();
        *marked.pointer_mut(&pointer).unwrap() = MARK.into();
        let marked = marked.to_string();
        for wrong in WRONG {
            let text = marked.replace(&format!("\"{MARK}\""), wrong);
            found.push((format!("{pointer} = {wrong}"), text));
        }
        found.push((format!("{pointer} dropped"), without(whole, path)));
        deviate(whole, path, child, found);
        path.pop();
    }
}

fn without(whole: &Value, path: &[String]) -> String {
    let mut whole = whole.clone();
    let (last, parents) = path.split_last().unwrap();
    let mut parent = &mut whole;
    for name in parents {
        parent = match parent {
            Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
            object => &mut object[&**name],
        };
    }
    match parent {
        Value::Object(members) => drop(members.shift_remove(last)),
        Value::Array(items) => drop(items.remove(last.parse().unwrap())),
        _ => unreachable!(),
    }
    whole.to_string()
}

fn annotations() -> Value {
    json!({"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"})
}

fn icons() -> Value {
    json!([{"src": "https://a.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}])
}

fn lists() -> [(&'static str, &'static str, Value, Value); 4] {
    let meta = json!({"com.example/x": {"y": 1}});
    [
        (
            "tools",
            "name",
            json!({"name": "good", "inputSchema": {"type": "object"}}),
            json!({
                "name": "odd", "title": "t", "description": "d", "icons": icons(), "_meta": meta,
                "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                "outputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"},
                "annotations": {"title": "t", "readOnlyHint": true, "destructiveHint": false,
                    "idempotentHint": true, "openWorldHint": false},
            }),
        ),
        (
            "resources",
            "uri",
            json!({"uri": "a:good", "name": "n"}),
            json!({
                "uri": "a:odd", "name": "n", "title": "t", "description": "d", "mimeType": "text/plain", "size": 7,
                "icons": icons(), "annotations": annotations(), "_meta": meta,
            }),
        ),
        (
            "resourceTemplates",
            "uriTemplate",
            json!({"uriTemplate": "a:good", "name": "n"}),
            json!({
                "uriTemplate": "a:odd", "name": "n", "title": "t", "description": "d", "mimeType": "text/plain",
                "icons": icons(), "annotations": annotations(), "_meta": meta,
            }),
        ),
        (
            "prompts",
            "name",
            json!({"name": "good"}),
            json!({
                "name": "odd", "title": "t", "description": "d", "icons": icons(), "_meta": meta,
                "arguments": [{"name": "a", "title": "t", "description": "d", "required": true}],
            }),
        ),
    ]
}

pub(super) async fn names(client: &Client, list: &str) -> Vec<String> {
    match list {
        "tools" => {
            let items = client.list_tools().await.unwrap();
            items.into_iter().map(|item| item.name).collect()
        }
        "resources" => {
            let items = client.list_resources().await.unwrap();
            items.into_iter().map(|item| item.uri).collect()
        }
        "resourceTemplates" => {
            let items = client.list_resource_templates().await.unwrap();
            items.into_iter().map(|item| item.uri_template).collect()
        }
        _ => {
            let items = client.list_prompts().await.unwrap();
            items.into_iter().map(|item| item.name).collect()
        }
    }
}

#[tokio::test]
async fn malformed_item_is_left_out_and_the_others_stay() {
    for (list, name, good, odd) in lists() {
        let mut other = good.clone();
        let good_name = good[name].as_str().unwrap();
        let other_name = good_name.replace("good", "other");
        other[name] = (&*other_name).into();
        for (place, text) in deviations(&odd) {
            let page = format!(r#"{{"{list}":[{good},{text},{other}]}}"#);
            check_list(list, &page, [good_name, &other_name], &place).await;
            let client = Script::new([vec![raw(&page)]]).client().await;
            let names = names(&client, list).await;
            let first_and_last = (
                names.first().map(|name| &**name),
                names.last().map(|name| &**name),
            );
            assert_eq!(
                first_and_last,
                (Some(good_name), Some(&*other_name)),
                "{list}: {place}"
            );
            let omissions = client.omissions();
            assert_eq!(
                names.len() + omissions.len(),
                3,
                "{list}: {place}: {omissions:?}"
            );
            for omission in omissions {
                assert_eq!(omission.place, format!("{list}[1]"), "{place}");
                assert!(!omission.reason.is_empty() && omission.reason.len() < 1000);
            }
        }
    }
}

#[tokio::test]
async fn page_keeps_its_items_despite_a_malformed_member() {
    for (list, name, good, _) in lists() {
        let page = json!({"nextCursor": "1", "_meta": {"com.example/x": 1}, "ttlMs": 5, "cacheScope": "public", list: [good]});
        for (place, text) in deviations(&page) {
            if place.starts_with(&format!("/{list}")) {
                continue;
            }
            let last = json!({ list: [] });
            let client = Script::new([vec![raw(&text)], vec![result(&last)]])
                .client()
                .await;
            let expected = good[name].as_str().unwrap();
            assert_eq!(names(&client, list).await, [expected], "{list}: {place}");
        }
    }
}

#[tokio::test]
async fn malformed_content_block_becomes_a_note() {
    let meta = json!({"com.example/x": 1});
    let resource = json!({"uri": "a:", "mimeType": "text/plain", "text": "a", "_meta": meta});
    let blocks = [
        json!({"type": "text", "text": "a", "annotations": annotations(), "_meta": meta}),
        json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": annotations(), "_meta": meta}),
        json!({"type": "audio", "data": "aGk=", "mimeType": "audio/wav", "annotations": annotations(), "_meta": meta}),
        json!({"type": "resource", "resource": resource, "annotations": annotations(), "_meta": meta}),
        json!({"type": "resource_link", "uri": "a:", "name": "n", "title": "t", "description": "d",
            "mimeType": "text/plain", "size": 7, "icons": icons(), "annotations": annotations(), "_meta": meta}),
    ];
    let (first, last) = (
        json!({"type": "text", "text": "first"}),
        json!({"type": "text", "text": "last"}),
    );
    for block in &blocks {
        for (place, text) in deviations(block) {
            let called =
                format!(r#"{{"content":[{first},{text},{last}],"structuredContent":{{"a":1}}}}"#);
            let message = |block: &str| format!(r#"{{"role":"user","content":{block}}}"#);
            let (first, text, last) = (
                message(&first.to_string()),
                message(&text),
                message(&last.to_string()),
            );
            check_result(&called, &["first", "last"], &place).await;
            let prompt = format!(r#"{{"messages":[{first},{text},{last}]}}"#);
            check_used(Call::Prompt, &prompt, &["first", "last"], &place).await;
            let client = Script::new([vec![raw(&called)], vec![raw(&prompt)]])
                .client()
                .await;
            let called = client
                .call("a", ())
                .await
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(called.structured_content.is_some(), "{place}");
            let prompt = client.get_prompt("a", ()).await.unwrap();
            let messages: Vec<_> = prompt
                .messages
                .into_iter()
                .map(|message| message.content)
                .collect();
            for content in [called.content, messages] {
                assert_eq!(content.len(), 3, "{place}");
                let texts = (content[0].as_text(), content[2].as_text());
                assert_eq!(texts, (Some("first"), Some("last")), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn result_keeps_the_rest_if_contents_or_members_are_malformed() {
    let part =
        json!({"uri": "a:", "mimeType": "text/plain", "text": "a", "_meta": {"com.example/x": 1}});
    for (place, text) in deviations(&part) {
        let read = format!(r#"{{"contents":[{{"uri":"b:","text":"first"}},{text}]}}"#);
        check_used(Call::Resource, &read, &["b: first"], &place).await;
        let client = Script::new([vec![raw(&read)]]).client().await;
        let read = client
            .read_resource("a:")
            .await
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(
            (read.contents.len(), read.contents[0].as_text()),
            (2, Some("first")),
            "{place}"
        );
    }
    let called = json!({"content": [{"type": "text", "text": "a"}], "structuredContent": {"a": 1},
        "isError": false, "_meta": {"com.example/x": 1}});
    for (place, text) in deviations(&called) {
        // Without its content, the result is malformed.
        if place.starts_with("/content =") {
            continue;
        }
        let client = Script::new([vec![raw(&text)]]).client().await;
        let called = client
            .call("a", ())
            .await
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        if !place.starts_with("/content") {
            check_result(&text, &["a"], &place).await;
            assert_eq!(called.content[0].as_text(), Some("a"), "{place}");
        }
    }
}

#[tokio::test]
async fn client_keeps_server_with_malformed_initialize_member() {
    let opened = json!({
        "protocolVersion": "2025-11-25", "instructions": "i", "_meta": {"com.example/x": 1},
        "serverInfo": {"name": "n", "version": "1", "title": "t", "icons": icons()},
        "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}, "prompts": {},
            "logging": {}, "completions": {}, "experimental": {"a": {}}, "extensions": {"com.example/x": {}}},
    });
    for (place, text) in deviations(&opened) {
        if place.starts_with("/protocolVersion") {
            continue;
        }
        let (script, _inbound) = Script::session([vec![raw(&text)]]);
        let connecting = Client::builder()
            .mode(ConnectMode::Legacy)
            .connect(Over(script.channel()));
        let client = connecting
            .await
            .unwrap_or_else(|error| panic!("{place}: {error}"));
        let capabilities = client.server_capabilities().unwrap();
        let is_concerned =
            place.starts_with("/capabilities/tools") || place.starts_with("/capabilities =");
        if !is_concerned && !place.starts_with("/capabilities dropped") {
            assert!(capabilities.tools.is_some(), "{place}");
        }
    }
}
