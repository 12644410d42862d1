//! Definitions, calls and results in the shapes of providers.

use mcp_types::{CallToolResult, ContentBlock, ResourceContents, escape_block};
use serde_json::{Value, json};

use crate::provider::Provider;

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelCall {
    /// The id that the result repeats. Empty if the provider has none.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Returns a definition in the shape of a provider.
pub(crate) fn definition(provider: Provider, name: &str, text: &str, schema: Value) -> Value {
    match provider {
        Provider::Anthropic => json!({"name": name, "description": text, "input_schema": schema}),
        Provider::OpenAiChat => json!({
            "type": "function",
            "function": {"name": name, "description": text, "parameters": schema},
        }),
        Provider::OpenAiResponses | Provider::OpenAiResponsesStrict => json!({
            "type": "function",
            "name": name,
            "description": text,
            "parameters": schema,
            "strict": provider.profile().is_strict,
        }),
        Provider::Gemini => {
            let mut definition = json!({"name": name, "description": text});
            let properties = schema["properties"].as_object();
            if properties.is_some_and(|properties| !properties.is_empty()) {
                definition["parameters"] = schema;
            }
            definition
        }
    }
}

/// Returns the definitions as the value of a request's `tools`.
pub(crate) fn tools(provider: Provider, definitions: Vec<Value>) -> Value {
    match provider {
        Provider::Gemini => json!([{ "functionDeclarations": definitions }]),
        _ => Value::Array(definitions),
    }
}

/// Returns the tool calls of a reply, or of its message.
pub(crate) fn calls(provider: Provider, reply: &Value) -> Vec<ModelCall> {
    let blocks = |at: &[&str]| {
        let found = at
            .iter()
            .find_map(|pointer| reply.pointer(pointer)?.as_array());
        found.or_else(|| reply.as_array()).into_iter().flatten()
    };
    let is_kind = |block: &&Value, kind: &str| block["type"] == kind;
    match provider {
        Provider::Anthropic => blocks(&["/content"])
            .filter(|block| is_kind(block, "tool_use"))
            .map(|block| call(&block["id"], &block["name"], &block["input"]))
            .collect(),
        Provider::OpenAiChat => blocks(&[
            "/choices/0/message/tool_calls",
            "/message/tool_calls",
            "/tool_calls",
        ])
        .map(|block| {
            let function = &block["function"];
            call(&block["id"], &function["name"], &function["arguments"])
        })
        .collect(),
        Provider::OpenAiResponses | Provider::OpenAiResponsesStrict => blocks(&["/output"])
            .filter(|block| is_kind(block, "function_call"))
            .map(|block| call(&block["call_id"], &block["name"], &block["arguments"]))
            .collect(),
        Provider::Gemini => blocks(&["/candidates/0/content/parts", "/content/parts", "/parts"])
            .filter_map(|part| part.get("functionCall"))
            .map(|block| call(&block["id"], &block["name"], &block["args"]))
            .collect(),
    }
}

/// Reads a call. Arguments may be JSON in a string; a string that is not JSON stays one.
fn call(id: &Value, name: &Value, arguments: &Value) -> ModelCall {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = match arguments {
        Value::String(json) if json.trim().is_empty() => json!({}),
        Value::String(json) => serde_json::from_str(json).unwrap_or_else(|_| arguments.clone()),
        Value::Null => json!({}),
        arguments => arguments.clone(),
    };
    ModelCall {
        id: text(id),
        name: text(name),
        arguments,
    }
}

/// A part of a result, as models read it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    /// MIME type, and data in base64.
    Image(String, String),
}

/// Returns the parts of a result. Structured content is read only if there is no other.
pub(crate) fn parts(result: &CallToolResult) -> Vec<Part> {
    let mut parts: Vec<Part> = result.content.iter().map(part).collect();
    if parts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        parts.push(Part::Text(clean(structured.get())));
    }
    parts
}

fn part(block: &ContentBlock) -> Part {
    match block {
        ContentBlock::Text(text) => Part::Text(clean(&text.text)),
        ContentBlock::Image(image) => Part::Image(image.mime_type.clone(), base64(&image.data)),
        ContentBlock::Audio(audio) => {
            let (kind, size) = (&audio.mime_type, audio.data.as_bytes().len());
            Part::Text(clean(&format!("[audio {kind}, {size} bytes]")))
        }
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::Text(text) => {
                Part::Text(clean(&format!("[resource {}]\n{}", text.uri, text.text)))
            }
            ResourceContents::Blob(blob) => {
                let (uri, size) = (&blob.uri, blob.blob.as_bytes().len());
                let kind = blob.mime_type.as_deref().unwrap_or("bytes");
                if kind.starts_with("image/") {
                    Part::Image(kind.to_owned(), base64(&blob.blob))
                } else {
                    Part::Text(clean(&format!("[resource {uri}, {kind}, {size} bytes]")))
                }
            }
            _ => Part::Text("[resource of an unknown kind]".to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            let text = link.description.as_deref().unwrap_or(&link.name);
            Part::Text(clean(&format!("[link {}: {text}]", link.uri)))
        }
        other => Part::Text(clean(&serde_json::to_string(other).unwrap_or_default())),
    }
}

fn base64(data: &mcp_types::Blob) -> String {
    let json = serde_json::to_value(data).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

/// Returns a text of a server with visible escapes for control characters and hidden ones.
pub(crate) fn clean(text: &str) -> String {
    escape_block(&text.replace("\r\n", "\n")).into_owned()
}

/// Returns a result in the shape of a provider.
pub(crate) fn block(provider: Provider, call: &ModelCall, parts: &[Part], is_error: bool) -> Value {
    let text = || {
        let texts = parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Image(kind, data) => {
                format!("[image {kind}, {} characters of base64]", data.len())
            }
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    match provider {
        Provider::Anthropic => {
            let content = parts.iter().map(|part| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Image(kind, data) => json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": kind, "data": data},
                }),
            });
            json!({
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": content.collect::<Vec<_>>(),
                "is_error": is_error,
            })
        }
        Provider::OpenAiChat => {
            let text = marked(text(), is_error);
            json!({"role": "tool", "tool_call_id": call.id, "content": text})
        }
        Provider::OpenAiResponses | Provider::OpenAiResponsesStrict => {
            let has_image = parts.iter().any(|part| matches!(part, Part::Image(..)));
            let output = if has_image {
                let items = parts.iter().map(|part| match part {
                    Part::Text(text) => json!({"type": "input_text", "text": text}),
                    Part::Image(kind, data) => {
                        let url = format!("data:{kind};base64,{data}");
                        json!({"type": "input_image", "image_url": url})
                    }
                });
                Value::Array(items.collect())
            } else {
                json!(marked(text(), is_error))
            };
            json!({"type": "function_call_output", "call_id": call.id, "output": output})
        }
        Provider::Gemini => {
            let key = if is_error { "error" } else { "output" };
            let mut response = json!({"name": call.name, "response": {key: text()}});
            if !call.id.is_empty() {
                response["id"] = json!(call.id);
            }
            let images = parts.iter().filter_map(|part| match part {
                Part::Image(kind, data) => {
                    Some(json!({"inlineData": {"mimeType": kind, "data": data}}))
                }
                Part::Text(_) => None,
            });
            let images: Vec<_> = images.collect();
            if !images.is_empty() {
                response["parts"] = json!(images);
            }
            json!({ "functionResponse": response })
        }
    }
}

/// Marks the text of an error, where the provider has no field for it.
fn marked(text: String, is_error: bool) -> String {
    if is_error {
        format!("Error: {text}")
    } else {
        text
    }
}
