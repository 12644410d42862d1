//! Hidden tools, and arguments that headers repeat.

use std::collections::HashMap;

use bytes::Bytes;
use mcp_core::ParamHeaders;
use mcp_types::{JsonObject, Request};
use serde::Deserialize;
use serde_json::Value;

/// Largest number of tools whose headers are kept.
const MAX_TOOLS: usize = 10_000;

/// Removes hidden tools from the response to `tools/list`. Other members stay as they are.
pub(super) fn remove_hidden(response: Bytes, is_hidden: impl Fn(&str) -> bool) -> Bytes {
    let Ok(mut message) = serde_json::from_slice::<Value>(&response) else {
        return response;
    };
    let Some(Value::Array(tools)) = message.pointer_mut("/result/tools") else {
        return response;
    };
    tools.retain(|tool| {
        let name = tool.get("name").and_then(Value::as_str);
        !name.is_some_and(&is_hidden)
    });
    match serde_json::to_vec(&message) {
        Ok(text) => text.into(),
        Err(_) => response,
    }
}

/// The tool arguments that request headers repeat.
#[derive(Debug, Default)]
pub(super) struct ToolHeaders(HashMap<String, ParamHeaders>);

/// A response to `tools/list`.
#[derive(Deserialize)]
struct ListResponse {
    result: Option<Page>,
}

/// One page of tools.
#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    tools: Vec<ListedTool>,
    #[serde(rename = "nextCursor")]
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct ListedTool {
    name: String,
    #[serde(rename = "inputSchema", default)]
    input_schema: JsonObject,
}

impl ToolHeaders {
    /// Reads the response to `tools/list`. Returns the cursor of the next page.
    pub(super) fn learn(&mut self, response: &[u8]) -> Option<String> {
        let response: ListResponse = serde_json::from_slice(response).ok()?;
        let page = response.result?;
        for tool in page.tools {
            match ParamHeaders::from_schema(&tool.input_schema) {
                Ok(Some(headers)) if self.0.len() < MAX_TOOLS => {
                    self.0.insert(tool.name, headers);
                }
                _ => {
                    self.0.remove(&tool.name);
                }
            }
        }
        page.next_cursor
    }

    /// Returns the headers of a call: names without their prefix, and values.
    pub(super) fn params(&self, request: &Request<'_>) -> Vec<(Box<str>, Box<str>)> {
        let Ok(Some(name)) = request.params.text("name") else {
            return Vec::new();
        };
        let arguments = request.params.object("arguments").ok().flatten();
        let headers = self.0.get(&*name);
        let values = headers.and_then(|headers| headers.values(arguments.as_ref()));
        values.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use mcp_types::Message;

    use super::{ToolHeaders, remove_hidden};

    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"nextCursor":"2","tools":[
        {"name":"open","inputSchema":{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"}}}},
        {"name":"secret","inputSchema":{"type":"object"},"x-own":1}],"x-other":true}}"#;

    #[test]
    fn hidden_tools_are_removed_and_other_members_stay() {
        let list = Bytes::from_static(LIST.as_bytes());
        let text = remove_hidden(list, |name| name == "secret");
        let text = std::str::from_utf8(&text).unwrap();
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains(r#""x-other":true"#), "{text}");
        assert!(text.contains(r#""nextCursor":"2""#), "{text}");
    }

    #[test]
    fn error_responses_stay_as_they_are() {
        let text =
            Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#);
        assert_eq!(remove_hidden(text.clone(), |_| true), text);
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let mut headers = ToolHeaders::default();
        assert_eq!(headers.learn(LIST.as_bytes()).as_deref(), Some("2"));
        let params = |tool: &str| {
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{{"region":"eu"}}}}}}"#
            );
            match Message::parse(call.as_bytes()) {
                Ok(Message::Request(request)) => headers.params(&request),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(params("open"), [("Region".into(), "eu".into())]);
        assert!(params("secret").is_empty());
    }
}
