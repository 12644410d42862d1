//! Requests for input inside a modern result, without the fields that only sessions have.
//!
//! The requests are edited as JSON, so that fields that this library does not know survive a proxy.

use mcp_types::{ContentBlock, JsonObject, Method, RawObject};
use serde_json::Value;

use super::content::describe;

/// Kinds of content that a conversation cannot contain.
const NOT_SAMPLED: &[&str] = &["resource", "resource_link"];
/// Kinds of content that the result of a tool cannot contain.
const NOT_RESULTS: &[&str] = &["tool_use", "tool_result"];

/// Returns the requests without the fields that the modern era does not have. Unknown values stay
/// unchanged.
// spec: META-17
pub(in crate::wire) fn embedded(raw: RawObject) -> RawObject {
    let Ok(mut requests) = raw.parse::<JsonObject>() else {
        return raw;
    };
    let mut changed = false;
    for request in requests.values_mut() {
        changed |= narrow(request).unwrap_or_default();
    }
    if changed {
        RawObject::from_value(&requests).unwrap_or(raw)
    } else {
        raw
    }
}

/// Returns true if the request was changed.
fn narrow(request: &mut Value) -> Option<bool> {
    let method = request.get("method")?.as_str().and_then(Method::from_name);
    let params = request.get_mut("params")?.as_object_mut()?;
    let mode = params.get("mode").and_then(Value::as_str);
    Some(match (method, mode) {
        (Some(Method::Elicit), None | Some("form")) => remove_fields(params, &["_meta", "task"]),
        (Some(Method::Elicit), Some("url")) => {
            remove_fields(params, &["_meta", "task", "elicitationId"])
        }
        (Some(Method::CreateMessage), _) => {
            let messages =
                elements(params, "messages").filter_map(|message| message.get_mut("content"));
            let replaced = any(messages, |content| replace_content(content, NOT_SAMPLED));
            let tools = elements(params, "tools").filter_map(Value::as_object_mut);
            let removed = any(tools, |tool| remove_fields(tool, &["execution"]));
            remove_fields(params, &["_meta", "task"]) | replaced | removed
        }
        _ => false,
    })
}

fn remove_fields(members: &mut JsonObject, names: &[&str]) -> bool {
    any(names.iter(), |name| members.shift_remove(*name).is_some())
}

fn elements<'a>(members: &'a mut JsonObject, name: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = members.get_mut(name).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// Applies a change to all items. Returns true if one of them was changed.
fn any<T>(all: impl Iterator<Item = T>, mut change: impl FnMut(T) -> bool) -> bool {
    all.fold(false, |changed, item| change(item) | changed)
}

/// Replaces blocks of the kinds in `misplaced` by text that describes them.
// spec: SAMP-07
fn replace_content(content: &mut Value, misplaced: &[&str]) -> bool {
    let blocks = match content {
        Value::Array(blocks) => blocks.as_mut_slice(),
        block => std::slice::from_mut(block),
    };
    any(blocks.iter_mut(), |block| {
        let kind = block.get("type").and_then(Value::as_str);
        let is_misplaced = kind.is_some_and(|kind| misplaced.contains(&kind));
        if !is_misplaced {
            let inner = (kind == Some("tool_result")).then(|| block.get_mut("content"));
            return inner
                .flatten()
                .is_some_and(|inner| replace_content(inner, NOT_RESULTS));
        }
        let Ok(read) = serde_json::from_str::<ContentBlock>(&block.to_string()) else {
            return false;
        };
        let text = [("type", "text".to_owned()), ("text", describe(&read))];
        let text = text.map(|(name, value)| (name.to_owned(), Value::from(value)));
        *block = JsonObject::from_iter(text).into();
        true
    })
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;
    use serde_json::{Value, json};

    use super::embedded;

    #[track_caller]
    fn check(request: Value, expected: &Value) {
        let raw = RawObject::from_value(&json!({ "key": request })).unwrap();
        let written = embedded(raw.clone());
        let read: Value = written.parse().unwrap();
        assert_eq!(&read["key"], expected);
        // An unchanged value is not encoded again.
        assert_eq!(written == raw, request_of(&raw) == *expected);
    }

    fn request_of(raw: &RawObject) -> Value {
        raw.parse::<Value>().unwrap()["key"].clone()
    }

    #[test]
    fn session_fields_are_removed() {
        let form = |more: &str| {
            let text = format!(
                r#"{{"method":"elicitation/create",
                    "params":{{"message":"m","requestedSchema":{{"type":"object"}}{more}}}}}"#
            );
            serde_json::from_str::<Value>(&text).unwrap()
        };
        check(form(""), &form(""));
        check(
            form(r#","mode":"form","x":1.0"#),
            &form(r#","mode":"form","x":1.0"#),
        );
        check(
            form(r#","_meta":{"a":1},"task":{},"x":1"#),
            &form(r#","x":1"#),
        );
        let url = json!({"method": "elicitation/create", "params": {
            "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "e",
        }});
        let mut plain = url.clone();
        plain["params"]
            .as_object_mut()
            .unwrap()
            .remove("elicitationId");
        check(url, &plain);
    }

    #[test]
    fn resources_in_a_conversation_become_text() {
        let asked = |content: &Value, more: &Value| {
            json!({"method": "sampling/createMessage", "params": {
                "messages": [{"role": "user", "content": content}],
                "maxTokens": 9,
                "tools": [more],
            }})
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let link = json!({"type": "resource_link", "name": "n", "uri": "a:b"});
        let tool = json!({"name": "add", "inputSchema": {"type": "object"}});
        let mut runs = tool.clone();
        runs["execution"] = json!({"taskSupport": "optional"});
        check(asked(&link, &runs), &asked(&text("n: a:b"), &tool));
        let called = json!({"type": "tool_use", "id": "1", "name": "add", "input": {}});
        let result = |content: &Value| json!([called, {"type": "tool_result", "toolUseId": "1", "content": [content, link]}]);
        check(
            asked(&result(&called), &tool),
            &asked(&result(&text("[call of add: {}]")), &tool),
        );
        // A malformed block.
        let broken = json!({"type": "resource", "resource": 7});
        check(asked(&broken, &tool), &asked(&broken, &tool));
    }

    #[test]
    fn unknown_requests_stay_unchanged() {
        for other in [
            json!(7),
            json!({"method": "roots/list", "params": {"_meta": {}}}),
            json!({"method": "other/ask", "params": {"_meta": {}}}),
            json!({"method": "elicitation/create", "params": {"mode": "new", "task": {}}}),
        ] {
            check(other.clone(), &other);
        }
    }
}
