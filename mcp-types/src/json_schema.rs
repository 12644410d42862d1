//! JSON schemas of types whose serialization is written by hand (feature `schemars`).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::meta::{Baggage, TraceParent, TraceState};
use crate::method::{Method, MethodKind};
use crate::{
    content::Blob, elicitation::ElicitParams, extra::ExtraFields, input::InputRequest,
    raw::RawObject, sampling::CreateMessageParams, version::ProtocolVersion,
};

/// Implements `JsonSchema` with a schema that is written in place.
macro_rules! inline_schema {
    ($($type:ident => $schema:expr;)*) => {
        $(impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        })*
    };
}

inline_schema! {
    RawObject => json_schema!({"type": "object"});
    ExtraFields => json_schema!({"type": "object", "additionalProperties": true});
    Blob => json_schema!({
        "type": "string",
        "contentEncoding": "base64",
        "pattern": "^[A-Za-z0-9+/]*={0,2}$",
    });
    ProtocolVersion => json_schema!({"type": "string", "enum": ProtocolVersion::ALL});
    TraceParent => json_schema!({"type": "string"});
    TraceState => json_schema!({"type": "string"});
    Baggage => json_schema!({"type": "string"});
}

impl JsonSchema for InputRequest {
    fn schema_name() -> Cow<'static, str> {
        "InputRequest".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let known = [Method::Elicit, Method::CreateMessage, Method::ListRoots];
        json_schema!({"anyOf": [
            {
                "type": "object",
                "properties": {
                    "method": {"const": Method::Elicit.as_str()},
                    "params": generator.subschema_for::<ElicitParams>(),
                },
                "required": ["method", "params"],
            },
            {
                "type": "object",
                "properties": {
                    "method": {"const": Method::CreateMessage.as_str()},
                    "params": generator.subschema_for::<CreateMessageParams>(),
                },
                "required": ["method", "params"],
            },
            {
                "type": "object",
                "properties": {"method": {"const": Method::ListRoots.as_str()}},
                "required": ["method"],
            },
            {
                "type": "object",
                "properties": {
                    "method": {"type": "string", "not": {"enum": known.map(Method::as_str)}},
                    "params": {"type": ["object", "null"]},
                },
                "required": ["method"],
            },
        ]})
    }
}

/// Returns the schema of one side's messages, from its methods and their parameters.
pub(crate) fn message(methods: &[(Method, Schema)], generator: &mut SchemaGenerator) -> Schema {
    let id = generator.subschema_for::<crate::jsonrpc::RequestId>();
    let error = generator.subschema_for::<crate::jsonrpc::ErrorObject>();
    let of = |method: Value, params: Value, is_request: Option<bool>| {
        let mut schema = json!({
            "type": "object",
            "properties": {"jsonrpc": {"const": "2.0"}, "method": method, "params": params},
            "required": ["jsonrpc", "method"],
        });
        match is_request {
            Some(true) => schema["required"] = json!(["jsonrpc", "id", "method"]),
            Some(false) => schema["not"] = json!({"required": ["id"]}),
            None => {}
        }
        schema["properties"]["id"] = json!(id);
        schema
    };
    let mut kinds: Vec<Value> = methods
        .iter()
        .map(|(method, params)| {
            let is_request = method.spec().kind == MethodKind::Request;
            of(
                json!({"const": method.as_str()}),
                json!(params),
                Some(is_request),
            )
        })
        .collect();
    let known: Vec<_> = methods.iter().map(|(method, _)| method.as_str()).collect();
    kinds.push(of(
        json!({"type": "string", "not": {"enum": known}}),
        json!({"type": "object"}),
        None,
    ));
    kinds.push(json!({
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "id": id, "result": {"type": "object"}},
        "required": ["jsonrpc", "id", "result"],
    }));
    kinds.push(json!({
        "type": "object",
        "properties": {"jsonrpc": {"const": "2.0"}, "id": id, "error": error},
        "required": ["jsonrpc", "error"],
    }));
    json_schema!({"anyOf": kinds})
}
