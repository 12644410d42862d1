//! The shapes of replies: [`ReplyError`].

use mcp_types::escape_line;
use serde_json::Value;

use crate::provider::Provider;
use crate::rank::cut;

/// Members that an error names, and their length in characters.
const MAX_MEMBERS: usize = 8;
const MAX_MEMBER_CHARS: usize = 40;

/// The error for a reply that does not have its provider's shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a reply of {provider:?} with {expected}, got {found}")]
#[non_exhaustive]
pub struct ReplyError {
    /// The provider that was named in the call.
    pub provider: Provider,
    /// The member that a reply has.
    expected: &'static str,
    /// The members that it has, without their values.
    found: String,
}

/// Checks that a reply, the message in it, or its list of blocks has the shape of a provider.
///
/// # Errors
///
/// Returns a [`ReplyError`] if it has not.
pub(crate) fn check(provider: Provider, reply: &Value) -> Result<(), ReplyError> {
    let is_list = |member: &str| reply.get(member).is_some_and(Value::is_array);
    let is_object = |member: &str| reply.get(member).is_some_and(Value::is_object);
    let (expected, has_shape) = match provider {
        Provider::Anthropic => ("`content`", is_list("content") && !is_list("output")),
        Provider::OpenAiChat => {
            let is_message = reply["role"].is_string() && !is_list("parts");
            let is_message = is_message && !has_blocks(&reply["content"], "tool_use");
            let has_calls = is_list("tool_calls") || is_object("message");
            ("`choices`", is_list("choices") || has_calls || is_message)
        }
        Provider::OpenAiResponses | Provider::OpenAiResponsesStrict => {
            ("`output`", is_list("output"))
        }
        Provider::Gemini => {
            let is_blocked = is_object("promptFeedback");
            let is_content = is_object("content") || is_list("parts");
            (
                "`candidates`",
                is_list("candidates") || is_blocked || is_content,
            )
        }
    };
    let is_block_list = reply.as_array().is_some_and(|blocks| {
        let mut blocks = blocks.iter();
        blocks.all(|block| block.is_object() && is_block(provider, block))
    });
    if has_shape || is_block_list {
        return Ok(());
    }
    Err(ReplyError {
        provider,
        expected,
        found: describe(reply),
    })
}

/// Returns whether an object can be a block of a provider's reply.
fn is_block(provider: Provider, block: &Value) -> bool {
    let kind = block["type"].as_str();
    match provider {
        Provider::Anthropic => {
            kind.is_some_and(|kind| !matches!(kind, "function" | "function_call" | "message"))
        }
        Provider::OpenAiChat => block.get("function").is_some(),
        Provider::OpenAiResponses | Provider::OpenAiResponsesStrict => {
            kind.is_some_and(|kind| !matches!(kind, "function" | "tool_use" | "text"))
        }
        Provider::Gemini => kind.is_none() && block.get("function").is_none(),
    }
}

fn has_blocks(content: &Value, kind: &str) -> bool {
    let mut blocks = content.as_array().into_iter().flatten();
    blocks.any(|block| block["type"] == kind)
}

fn describe(reply: &Value) -> String {
    match reply {
        Value::Object(members) => {
            let names = members.keys().take(MAX_MEMBERS);
            let names = names.map(|name| format!("`{}`", escape_line(cut(name, MAX_MEMBER_CHARS))));
            format!("an object with {}", names.collect::<Vec<_>>().join(", "))
        }
        Value::Array(_) => "a list of other blocks".to_owned(),
        Value::String(_) => "a string".to_owned(),
        _ => "another value".to_owned(),
    }
}
