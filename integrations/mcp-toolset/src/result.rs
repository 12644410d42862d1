//! Definitions, calls and results in the provider shapes.

use mcp_types::{Blob, CallToolResult, ContentBlock, ResourceContents, escape_block, shorten};
use serde_json::{Value, json};

use crate::media::{Media, MediaTaken, media};
use crate::provider::{Profile, Provider};

/// A tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelCall {
    /// The id that the result repeats. Empty if the provider has none.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// Returns a definition in a provider's shape.
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

/// Returns the definitions as the `tools` value of a request.
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

/// Blocks of a result. The texts of further ones are joined.
const MAX_PARTS: usize = 100;
/// Maximum length of a name or an address in a result, in characters.
const MAX_NAME: usize = 2000;

/// A part of a result, as models read it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Text(String),
    Media(Media),
}

impl Part {
    /// The text of a part, or the line in place of media.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Media(media) => media.note,
        }
    }
}

/// Returns the parts of a result: at least one. Blank texts are left out, because a provider refuses them. Structured content
/// is read only if nothing else remains. Media that the provider does not accept are lines of text.
pub(crate) fn parts(
    result: &CallToolResult,
    provider: Provider,
    is_text_only: bool,
    taken: &mut MediaTaken,
) -> Vec<Part> {
    // Anthropic, error: "all content must be type `text` if `is_error` is true".
    let is_text_only = is_text_only || result.is_error() && matches!(provider, Provider::Anthropic);
    let profile = (!is_text_only).then_some(provider.profile());
    let blocks = result.content.iter();
    let mut parts: Vec<Part> = blocks.map(|block| part(block, profile, taken)).collect();
    parts.retain(|part| !matches!(part, Part::Text(text) if text.trim().is_empty()));
    if parts.is_empty() {
        let structured = result.structured_content.as_ref();
        let text = structured.map(|structured| clean(structured.get()));
        parts.push(Part::Text(
            text.unwrap_or_else(|| "(the result is empty)".to_owned()),
        ));
    }
    if parts.len() > MAX_PARTS {
        let further = parts.split_off(MAX_PARTS - 1).into_iter();
        let further: Vec<_> = further.map(Part::into_text).collect();
        parts.push(Part::Text(further.join("\n")));
    }
    parts
}

fn part(block: &ContentBlock, profile: Option<&Profile>, taken: &mut MediaTaken) -> Part {
    let mut media =
        |name: &str, kind: Option<&str>, data: &Blob| match media(name, kind, data, profile, taken)
        {
            Ok(media) => Part::Media(Media {
                note: clean(&media.note),
                ..media
            }),
            Err(note) => Part::Text(clean(&note)),
        };
    match block {
        ContentBlock::Text(text) => Part::Text(clean(&text.text)),
        ContentBlock::Image(image) => media("image", Some(&image.mime_type), &image.data),
        ContentBlock::Audio(audio) => media("audio", Some(&audio.mime_type), &audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::Text(text) => {
                let uri = shorten(&text.uri, MAX_NAME);
                Part::Text(clean(&format!("[resource {uri}]\n{}", text.text)))
            }
            ResourceContents::Blob(blob) => {
                let name = format!("resource {},", shorten(&blob.uri, MAX_NAME));
                media(&name, blob.mime_type.as_deref(), &blob.blob)
            }
            _ => Part::Text("[resource of an unknown kind]".to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            let text = link.description.as_deref().unwrap_or(&link.name);
            let uri = shorten(&link.uri, MAX_NAME);
            Part::Text(clean(&format!("[link {uri}: {text}]")))
        }
        other => Part::Text(clean(&serde_json::to_string(other).unwrap_or_default())),
    }
}

fn is_image(kind: &str) -> bool {
    kind.starts_with("image/")
}

/// Returns a text of a server with visible escapes for control characters and hidden ones.
pub(crate) fn clean(text: &str) -> String {
    escape_block(&text.replace("\r\n", "\n")).into_owned()
}

/// Returns JSON of a server with its texts [cleaned](clean).
pub(crate) fn clean_json(json: Value) -> Value {
    match json {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(items) => items.into_iter().map(clean_json).collect(),
        Value::Object(members) => {
            let members = members.into_iter();
            let members = members.map(|(name, value)| (clean(&name), clean_json(value)));
            Value::Object(members.collect())
        }
        json => json,
    }
}

/// Returns a result in a provider's shape.
pub(crate) fn block(provider: Provider, call: &ModelCall, parts: &[Part], is_error: bool) -> Value {
    let text = || {
        let texts = parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Media(media) => format!("[{}, see below]", media.kind),
        });
        texts.collect::<Vec<_>>().join("\n")
    };
    match provider {
        Provider::Anthropic => {
            let content = parts.iter().map(|part| match part {
                Part::Text(text) => json!({"type": "text", "text": text}),
                Part::Media(media) => json!({
                    "type": "image",
                    "source": {"type": "base64", "media_type": media.kind, "data": media.data},
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
            let has_image = parts.iter().any(|part| matches!(part, Part::Media(..)));
            let output = if has_image {
                let mark = is_error.then(|| json!({"type": "input_text", "text": "Error:"}));
                let items = parts.iter().map(|part| match part {
                    Part::Text(text) => json!({"type": "input_text", "text": text}),
                    Part::Media(media) => {
                        let url = data_url(media.kind, &media.data);
                        json!({"type": "input_image", "image_url": url})
                    }
                });
                Value::Array(mark.into_iter().chain(items).collect())
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
            let images = media_of(parts).filter(|(kind, _)| is_image(kind));
            let images: Vec<_> = images.map(|(kind, data)| inline(kind, data)).collect();
            if !images.is_empty() {
                response["parts"] = json!(images);
            }
            json!({ "functionResponse": response })
        }
    }
}

/// Returns what follows the results of all calls: media that the provider does not accept in a result.
pub(crate) fn media_after(provider: Provider, results: &[(&ModelCall, Vec<Part>)]) -> Vec<Value> {
    let media = results.iter().map(|(call, parts)| (call, media_of(parts)));
    match provider {
        Provider::OpenAiChat => {
            let mut content = Vec::new();
            for (call, media) in media {
                let media: Vec<_> = media.map(|(kind, data)| chat_media(kind, data)).collect();
                if !media.is_empty() {
                    let text = format!(
                        "[Data in the result of the tool call {:?}, not written by the user:]",
                        call.id
                    );
                    content.push(json!({"type": "text", "text": text}));
                    content.extend(media);
                }
            }
            let has_media = !content.is_empty();
            let message = has_media.then(|| json!({"role": "user", "content": content}));
            Vec::from_iter(message)
        }
        Provider::Gemini => {
            let sounds = media.flat_map(|(_, media)| media.filter(|(kind, _)| !is_image(kind)));
            sounds.map(|(kind, data)| inline(kind, data)).collect()
        }
        _ => Vec::new(),
    }
}

fn media_of(parts: &[Part]) -> impl Iterator<Item = (&str, &str)> {
    parts.iter().filter_map(|part| match part {
        Part::Text(_) => None,
        Part::Media(media) => Some((media.kind, &*media.data)),
    })
}

fn chat_media(kind: &str, data: &str) -> Value {
    if is_image(kind) {
        return json!({"type": "image_url", "image_url": {"url": data_url(kind, data)}});
    }
    let format = kind.strip_prefix("audio/").unwrap_or(kind);
    json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
}

fn inline(kind: &str, data: &str) -> Value {
    json!({"inlineData": {"mimeType": kind, "data": data}})
}

fn data_url(kind: &str, data: &str) -> String {
    format!("data:{kind};base64,{data}")
}

/// Marks the text of an error as an error, if the provider has no field for that.
fn marked(text: String, is_error: bool) -> String {
    if is_error {
        format!("Error: {text}")
    } else {
        text
    }
}
