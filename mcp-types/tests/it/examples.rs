//! Tests that the example messages of 2026-07-28 round trip through their types.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;

use mcp_types::codes::{MissingCapabilities, UnsupportedVersion};
use mcp_types::meta::keys;
use mcp_types::{
    BlobResourceContents, BooleanSchema, CacheScope, CallToolParams, CallToolResult, Cancelled,
    ClientCapabilities, CompleteParams, CompleteResult, ContentBlock, CreateMessageParams,
    CreateMessageResult, DiscoverResult, ElicitFormParams, ElicitParams, ElicitResult,
    ElicitUrlParams, EnumSchema, ErrorObject, GetPromptParams, GetPromptResult, Implementation,
    InputRequest, InputRequests, InputRequired, InputResponses, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListToolsResult,
    ListenParams, ListenResult, LogMessage, LoggingLevel, Message, Meta, ModelPreferences,
    MultiSelectSchema, NumberSchema, Page, Params, PlainNotification, PrimitiveSchema,
    ProgressParams, ProgressToken, ProtocolVersion, ReadResourceParams, ReadResourceResult,
    Resource, ResourceContents, ResourceUpdated, Root, SamplingMessage, ServerCapabilities,
    StringSchema, SubscriptionAcknowledged, TextResourceContents, Tool,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{json_schemas, spec};

#[test]
fn example_message_round_trips() {
    let root = spec::folder().join("2026-07-28/examples");
    let mut count = 0;
    for kind in fs::read_dir(&root).unwrap() {
        let kind = kind.unwrap().path();
        let name = kind.file_name().unwrap().to_string_lossy().into_owned();
        for file in fs::read_dir(&kind).unwrap() {
            let file = file.unwrap().path();
            let mut value = spec::read_json(&file);
            if name == "ListRootsRequest" {
                // The example has an `id`, which its schema does not allow.
                value.as_object_mut().unwrap().shift_remove("id").unwrap();
            }
            assert_eq!(again(&name, &value), value, "{}", file.display());
            count += 1;
        }
    }
    println!("{count} examples");
    assert!(count >= 129, "only {count} examples");
}

/// Reads a value as the type of its definition and writes it again.
fn again(kind: &str, value: &Value) -> Value {
    if let Some(message) = kind.strip_suffix("ResultResponse") {
        return response(value, |result| {
            self::result(&format!("{message}Result"), result)
        });
    }
    match kind {
        "HeaderMismatchError" => error_response(value, |_| None),
        "MissingRequiredClientCapabilityError" => {
            error_response(value, |error| data(error.data_as::<MissingCapabilities>()))
        }
        "UnsupportedProtocolVersionError" => {
            error_response(value, |error| data(error.data_as::<UnsupportedVersion>()))
        }
        "InternalError" | "InvalidParamsError" | "MethodNotFoundError" | "ParseError" => {
            plain::<ErrorObject>(value)
        }
        "CreateMessageRequest" | "ElicitRequest" | "ListRootsRequest" => {
            let asked: InputRequest = read(value);
            assert!(!matches!(asked, InputRequest::Other { .. }), "{value}");
            write(&asked)
        }
        "InputRequests" => plain::<InputRequests>(value),
        "InputResponses" => answers(value),
        _ if kind.ends_with("Notification") => notification(value),
        _ if kind.ends_with("Request") => request(value),
        _ if kind.ends_with("Params") => params(kind, value),
        "CreateMessageResult" => plain::<CreateMessageResult>(value),
        "ElicitResult" => plain::<ElicitResult>(value),
        "ListRootsResult" => plain::<ListRootsResult>(value),
        _ if kind.ends_with("Result") => result(kind, value),
        _ => part(kind, value),
    }
}

/// Round trips a part of a message.
fn part(kind: &str, value: &Value) -> Value {
    match kind {
        "AudioContent" | "EmbeddedResource" | "ImageContent" | "ResourceLink" | "TextContent"
        | "ToolResultContent" | "ToolUseContent" => {
            let block: ContentBlock = read(value);
            assert!(!matches!(block, ContentBlock::Other(_)), "{value}");
            write(&block)
        }
        "BlobResourceContents" => {
            assert!(matches!(read(value), ResourceContents::Blob(_)));
            plain::<BlobResourceContents>(value)
        }
        "TextResourceContents" => {
            assert!(matches!(read(value), ResourceContents::Text(_)));
            plain::<TextResourceContents>(value)
        }
        "BooleanSchema" => field::<BooleanSchema>(value),
        "NumberSchema" => field::<NumberSchema>(value),
        "StringSchema" => field::<StringSchema>(value),
        "TitledSingleSelectEnumSchema" | "UntitledSingleSelectEnumSchema" => {
            field::<EnumSchema>(value)
        }
        "TitledMultiSelectEnumSchema" | "UntitledMultiSelectEnumSchema" => {
            field::<MultiSelectSchema>(value)
        }
        "ClientCapabilities" => plain::<ClientCapabilities>(value),
        "ServerCapabilities" => plain::<ServerCapabilities>(value),
        "ModelPreferences" => plain::<ModelPreferences>(value),
        "Resource" => plain::<Resource>(value),
        "Root" => plain::<Root>(value),
        "SamplingMessage" => plain::<SamplingMessage>(value),
        "Tool" => plain::<Tool>(value),
        _ => panic!("no type for {kind}"),
    }
}

fn read<T: DeserializeOwned + JsonSchema>(value: &Value) -> T {
    json_schemas::accepts::<T>(value);
    serde_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{error}: {value}"))
}

fn write(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap()
}

fn plain<T: DeserializeOwned + Serialize + JsonSchema>(value: &Value) -> Value {
    write(&read::<T>(value))
}

/// Round trips a field of a form and checks that the union of all fields reads the same value.
fn field<T>(value: &Value) -> Value
where
    T: DeserializeOwned + Serialize + JsonSchema + Into<PrimitiveSchema> + PartialEq + Debug,
{
    let among: PrimitiveSchema = read(value);
    assert_eq!(read::<T>(value).into(), among);
    plain::<T>(value)
}

/// Round trips parameters. Those of requests are read without their `_meta`, whose keys have separate
/// types.
fn params(kind: &str, value: &Value) -> Value {
    match kind {
        "CancelledNotificationParams" => return plain::<Cancelled>(value),
        "CreateMessageRequestParams" => return plain::<CreateMessageParams>(value),
        "LoggingMessageNotificationParams" => return plain::<LogMessage>(value),
        "ProgressNotificationParams" => return plain::<ProgressParams>(value),
        "ResourceUpdatedNotificationParams" => return plain::<ResourceUpdated>(value),
        "ElicitRequestFormParams" => {
            assert!(matches!(read(value), ElicitParams::Form(_)));
            return plain::<ElicitFormParams>(value);
        }
        "ElicitRequestURLParams" => {
            assert!(matches!(read(value), ElicitParams::Url(_)));
            return plain::<ElicitUrlParams>(value);
        }
        _ => {}
    }
    let mut rest = value.clone();
    let meta = rest.as_object_mut().unwrap().shift_remove("_meta").unwrap();
    let mut out = match kind {
        "CallToolRequestParams" => plain::<CallToolParams>(&rest),
        "CompleteRequestParams" => plain::<CompleteParams>(&rest),
        "GetPromptRequestParams" => plain::<GetPromptParams>(&rest),
        "PaginatedRequestParams" => plain::<Page>(&rest),
        _ => panic!("no type for {kind}"),
    };
    out["_meta"] = envelope(&meta);
    out
}

fn envelope(value: &Value) -> Value {
    let mut meta: Meta = read(value);
    let typed = [
        (
            keys::PROTOCOL_VERSION,
            meta.get::<ProtocolVersion>(keys::PROTOCOL_VERSION)
                .map(|value| write(&value)),
        ),
        (
            keys::CLIENT_INFO,
            meta.get::<Implementation>(keys::CLIENT_INFO)
                .map(|value| write(&value)),
        ),
        (
            keys::CLIENT_CAPABILITIES,
            meta.get::<ClientCapabilities>(keys::CLIENT_CAPABILITIES)
                .map(|value| write(&value)),
        ),
        (
            keys::PROGRESS_TOKEN,
            meta.get::<ProgressToken>(keys::PROGRESS_TOKEN)
                .map(|value| write(&value)),
        ),
        (
            keys::LOG_LEVEL,
            meta.get::<LoggingLevel>(keys::LOG_LEVEL)
                .map(|value| write(&value)),
        ),
    ];
    for (key, value) in typed {
        if let Some(value) = value {
            meta.insert(key, value);
        }
    }
    write(&meta)
}

fn request(value: &Value) -> Value {
    let text = value.to_string();
    let Ok(Message::Request(request)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    let rest: Value = request.params.without_meta().parse().unwrap();
    let mut params = match &*request.method {
        "tools/call" => plain::<CallToolParams>(&rest),
        "completion/complete" => plain::<CompleteParams>(&rest),
        "prompts/get" => plain::<GetPromptParams>(&rest),
        "resources/read" => plain::<ReadResourceParams>(&rest),
        "subscriptions/listen" => plain::<ListenParams>(&rest),
        "server/discover" => plain::<JsonObject>(&rest),
        method if method.ends_with("/list") => plain::<Page>(&rest),
        method => panic!("no type for {method}"),
    };
    params["_meta"] = envelope(&member(&request.params, "_meta"));
    json!({"jsonrpc": "2.0", "id": request.id, "method": request.method, "params": params})
}

fn member(params: &Params<'_>, key: &str) -> Value {
    serde_json::from_str(params.get(key).unwrap().as_str()).unwrap()
}

fn notification(value: &Value) -> Value {
    let text = value.to_string();
    let Ok(Message::Notification(note)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    let all: Value = note.params.to_object().parse().unwrap();
    let params = match &*note.method {
        "notifications/cancelled" => plain::<Cancelled>(&all),
        "notifications/message" => plain::<LogMessage>(&all),
        "notifications/progress" => plain::<ProgressParams>(&all),
        "notifications/resources/updated" => plain::<ResourceUpdated>(&all),
        "notifications/subscriptions/acknowledged" => plain::<SubscriptionAcknowledged>(&all),
        method if method.ends_with("/list_changed") => plain::<PlainNotification>(&all),
        method => panic!("no type for {method}"),
    };
    json!({"jsonrpc": "2.0", "method": note.method, "params": params})
}

/// Round trips a result without the members that the wire adds.
fn result(kind: &str, value: &Value) -> Value {
    let mut rest = value.clone();
    let members = rest.as_object_mut().unwrap();
    let mut stamp = BTreeMap::new();
    for key in ["resultType", "ttlMs", "cacheScope"] {
        if let Some(value) = members.shift_remove(key) {
            stamp.insert(key, value);
        }
    }
    if let Some(scope) = stamp.get_mut("cacheScope") {
        *scope = write(&read::<CacheScope>(scope));
    }
    let mut out = match kind {
        "CallToolResult" => plain::<CallToolResult>(&rest),
        "CompleteResult" => plain::<CompleteResult>(&rest),
        "DiscoverResult" => plain::<DiscoverResult>(&rest),
        "GetPromptResult" => plain::<GetPromptResult>(&rest),
        "InputRequiredResult" => {
            let asked: InputRequired = read(&rest);
            let requests = asked.requests().unwrap();
            assert_eq!(requests.is_empty(), asked.input_requests.is_none());
            if let Some(raw) = &asked.input_requests {
                assert_eq!(write(&requests), write(raw));
            }
            write(&asked)
        }
        "ListPromptsResult" => plain::<ListPromptsResult>(&rest),
        "ListResourcesResult" => plain::<ListResourcesResult>(&rest),
        "ListResourceTemplatesResult" => plain::<ListResourceTemplatesResult>(&rest),
        "ListToolsResult" => plain::<ListToolsResult>(&rest),
        "ReadResourceResult" => plain::<ReadResourceResult>(&rest),
        "SubscriptionsListenResult" => plain::<ListenResult>(&rest),
        _ => panic!("no type for {kind}"),
    };
    for (key, value) in stamp {
        out[key] = value;
    }
    out
}

fn response(value: &Value, result: impl Fn(&Value) -> Value) -> Value {
    let text = value.to_string();
    let Ok(Message::Response(response)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    let raw: Value = serde_json::from_str(response.outcome.unwrap().as_str()).unwrap();
    json!({"jsonrpc": "2.0", "id": response.id, "result": result(&raw)})
}

fn error_response(value: &Value, data: impl Fn(&ErrorObject) -> Option<Value>) -> Value {
    let text = value.to_string();
    let Ok(Message::Response(response)) = Message::parse(text.as_bytes()) else {
        panic!("{text}")
    };
    let error = response.outcome.unwrap_err();
    let mut written = write(&error);
    if let Some(data) = data(&error) {
        written["data"] = data;
    }
    json!({"jsonrpc": "2.0", "id": response.id, "error": written})
}

fn data(typed: Option<impl Serialize>) -> Option<Value> {
    Some(write(&typed.expect("the data has its type")))
}

/// Round trips responses. The example of the requests with the same keys determines their types.
fn answers(value: &Value) -> Value {
    let folder = spec::folder().join("2026-07-28/examples/InputRequests");
    let questions = fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let questions: InputRequests = read(&spec::read_json(&questions));
    let answers: InputResponses = read(value);
    let typed: BTreeMap<_, _> = answers
        .iter()
        .map(|(key, answer)| (key, questions[key].read(answer).unwrap().to_raw().unwrap()))
        .collect();
    assert_eq!(typed.len(), questions.len());
    write(&typed)
}
