//! The JSON schemas of the types (feature `schemars`) accept what the types read, and refuse broken values.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use mcp_types::ext::tasks::Task;
use mcp_types::{
    CallToolParams, CallToolResult, ClientCapabilities, ClientMessage, CompletionReference,
    ContentBlock, CreateMessageParams, ElicitParams, ElicitResult, ErrorObject, FormSchema,
    GetPromptResult, InitializeParams, InputRequest, ListToolsResult, LogMessage, Lossless, Meta,
    PrimitiveSchema, ProgressParams, ProtocolVersion, ReadResourceResult, RequestId, Resource,
    ResourceContents, SamplingMessage, ServerMessage, SubscriptionFilter, Tool,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::values;

static VALIDATORS: LazyLock<Mutex<HashMap<&str, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Returns the validator of `T`'s schema.
fn validator<T: JsonSchema>() -> Arc<Validator> {
    let mut validators = VALIDATORS.lock().unwrap();
    let made = validators.entry(std::any::type_name::<T>());
    let made = made.or_insert_with(|| {
        let schema = schemars::schema_for!(T);
        Arc::new(jsonschema::validator_for(schema.as_value()).unwrap())
    });
    Arc::clone(made)
}

/// Checks a value that is valid for `T`.
#[track_caller]
pub(crate) fn accepts<T: JsonSchema>(value: &Value) {
    let errors: Vec<_> = validator::<T>()
        .iter_errors(value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    let name = std::any::type_name::<T>();
    assert!(errors.is_empty(), "{name}: {errors:#?}\n{value:#}");
}

/// Returns whether the schema of `T` accepts a value.
pub(crate) fn is_valid<T: JsonSchema>(value: &Value) -> bool {
    validator::<T>().is_valid(value)
}

#[test]
fn schema_accepts_each_value_with_its_type() {
    let mut checked = 0;
    for case in values::all() {
        if let Some(is_valid) = case.is_valid {
            assert!(is_valid(&case.value), "{}: {:#}", case.name, case.value);
            checked += 1;
        }
    }
    assert!(checked > 150, "only {checked} values");
}

/// A member that is missing or has a wrong type is refused by the schema if the type refuses it.
#[test]
fn schema_refuses_what_the_type_refuses() {
    let mut refused = 0;
    let mut accepted = Vec::new();
    for case in values::all() {
        let (Some(is_valid), Some(read)) = (case.is_valid, case.read) else {
            continue;
        };
        let Some(members) = case.value.as_object() else {
            continue;
        };
        for key in members.keys() {
            let mut without = case.value.clone();
            without.as_object_mut().unwrap().shift_remove(key);
            let mut wrong = vec![without];
            for value in [json!([[]]), json!(0.5), json!("\u{0}"), json!({"\u{0}": 0})] {
                let mut changed = case.value.clone();
                changed[key] = value;
                wrong.push(changed);
            }
            for broken in wrong {
                if read(&broken.to_string()).is_err() {
                    refused += 1;
                    if is_valid(&broken) {
                        accepted.push(format!("{}.{key}: {broken}", case.name));
                    }
                }
            }
        }
    }
    assert!(accepted.is_empty(), "accepted: {accepted:#?}");
    assert!(refused > 1000, "only {refused} values");
}

#[track_caller]
fn refuses<T: JsonSchema + DeserializeOwned>(broken: Value) {
    let name = std::any::type_name::<T>();
    assert!(!is_valid::<T>(&broken), "{name} accepts {broken}");
    let read = serde_json::from_value::<T>(broken.clone());
    assert!(read.is_err(), "{name} reads {broken}");
}

#[test]
fn schema_refuses_broken_values() {
    let schema = json!({"type": "object"});
    refuses::<RequestId>(json!(1.5));
    refuses::<RequestId>(json!(null));
    refuses::<ProtocolVersion>(json!("2026-07-29"));
    refuses::<Meta>(json!([]));
    refuses::<Tool>(json!({"name": "a"}));
    refuses::<Tool>(json!({"name": 1, "inputSchema": schema}));
    refuses::<Tool>(json!({"name": "a", "inputSchema": []}));
    refuses::<Tool>(json!({"name": "a", "inputSchema": schema, "annotations": {"title": 1}}));
    refuses::<ListToolsResult>(json!({"tools": [{"name": "a"}]}));
    refuses::<ListToolsResult>(json!({}));
    refuses::<CallToolParams>(json!({"name": "a", "arguments": []}));
    refuses::<CallToolParams>(json!({"arguments": {}}));
    refuses::<CallToolResult>(json!({"content": [{"type": "text"}]}));
    refuses::<CallToolResult>(json!({"content": {}}));
    refuses::<CallToolResult>(json!({"content": [], "isError": "yes"}));
    refuses::<ContentBlock>(json!({"text": "hi"}));
    refuses::<ContentBlock>(json!({"type": "image", "data": "aGk="}));
    refuses::<ContentBlock>(json!({"type": "resource", "resource": {"uri": "a:b"}}));
    refuses::<ContentBlock>(json!({"type": "resource_link", "uri": "a:b"}));
    refuses::<ContentBlock>(json!({"type": 1}));
    refuses::<ResourceContents>(json!({"text": "hi"}));
    refuses::<ReadResourceResult>(json!({"contents": [{"uri": "a:b"}]}));
    refuses::<Resource>(json!({"uri": "a:b"}));
    refuses::<Resource>(json!({"uri": "a:b", "name": "b", "size": "1"}));
    refuses::<GetPromptResult>(json!({"messages": [{"role": "user"}]}));
    refuses::<CompletionReference>(json!({"type": "ref/prompt"}));
    refuses::<CompletionReference>(json!({"type": "ref/tool", "name": "a"}));
    refuses::<ClientCapabilities>(json!({"sampling": true}));
    refuses::<InitializeParams>(json!({"protocolVersion": "1", "capabilities": {}}));
    refuses::<LogMessage>(json!({"level": "loud", "data": 1}));
    refuses::<LogMessage>(json!({"level": "info"}));
    refuses::<ProgressParams>(json!({"progressToken": 1, "progress": "1"}));
    refuses::<SubscriptionFilter>(json!({"resourceSubscriptions": "a:b"}));
    refuses::<SamplingMessage>(json!({"role": "user", "content": "hi"}));
    refuses::<CreateMessageParams>(json!({"messages": []}));
    refuses::<ElicitParams>(json!({"message": "m"}));
    refuses::<ElicitParams>(json!({"mode": "url", "message": "m"}));
    refuses::<ElicitResult>(json!({"content": {}}));
    refuses::<FormSchema>(json!({"type": "object"}));
    refuses::<FormSchema>(json!({"type": "array", "properties": {}}));
    refuses::<PrimitiveSchema>(json!({"type": "string", "minLength": "1"}));
    refuses::<PrimitiveSchema>(json!({"type": "string", "enum": [1]}));
    refuses::<PrimitiveSchema>(json!({"type": "array", "items": {"enum": 1}}));
    refuses::<PrimitiveSchema>(json!(true));
    refuses::<InputRequest>(json!({"method": "elicitation/create"}));
    refuses::<InputRequest>(json!({"params": {}}));
    refuses::<ErrorObject>(json!({"code": 1}));
    refuses::<Task>(json!({"taskId": "t", "status": "working"}));
    refuses::<Lossless<Tool>>(json!({"name": "a"}));
    refuses::<ClientMessage>(json!({"jsonrpc": "2.0", "id": 1}));
    refuses::<ClientMessage>(json!({"jsonrpc": "2.0", "id": 1, "result": []}));
    refuses::<ServerMessage>(json!({"id": 1, "result": {}}));
    refuses::<ServerMessage>(json!({"jsonrpc": "2.0", "error": {"code": 1}}));
}

#[test]
fn schema_accepts_unknown_kinds() {
    accepts::<ContentBlock>(&json!({"type": "hologram", "x": 1}));
    accepts::<ElicitParams>(&json!({"mode": "voice", "message": "m"}));
    accepts::<PrimitiveSchema>(&json!({"type": ["string", "null"]}));
    accepts::<InputRequest>(&json!({"method": "com.example/ask", "params": {}}));
    accepts::<ClientMessage>(&json!({"jsonrpc": "2.0", "id": 1, "method": "com.example/sum"}));
    // A message with parameters of another type is one that the receiver refuses.
    let broken = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 1}});
    assert!(!is_valid::<ClientMessage>(&broken));
}
