//! JSON deserialization whose errors name the path of the value that does not fit.

use std::fmt;

use serde::de::DeserializeOwned;

/// A value in a JSON document that does not fit the type that is read.
#[derive(Debug)]
#[non_exhaustive]
pub struct DeserializeError {
    /// The path of the innermost value that does not fit, such as `tools[1].name`. Empty for the
    /// document itself.
    pub path: String,
    /// The error of `serde_json`.
    pub error: serde_json::Error,
}

impl DeserializeError {
    /// The error of a type that was read from `json`.
    pub(crate) fn new(json: &str, error: serde_json::Error) -> Self {
        Self {
            path: path_at(json, offset(json, &error)),
            error,
        }
    }
}

impl fmt::Display for DeserializeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.error.fmt(f)
    }
}

impl std::error::Error for DeserializeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Deserializes a JSON document.
///
/// The path is found from the position in the error, so that each type is compiled for one
/// deserializer only.
///
/// # Errors
///
/// Returns [`DeserializeError`] when the document is not JSON or does not fit `T`.
pub fn from_str<T: DeserializeOwned>(json: &str) -> Result<T, DeserializeError> {
    serde_json::from_str(json).map_err(|error| DeserializeError::new(json, error))
}

/// The number of bytes that were read when the error occurred.
fn offset(json: &str, error: &serde_json::Error) -> usize {
    let lines_before = error.line().saturating_sub(1);
    let start: usize = json
        .split_inclusive('\n')
        .take(lines_before)
        .map(str::len)
        .sum();
    start.saturating_add(error.column()).min(json.len())
}

/// An array or object that has begun.
enum Open<'a> {
    Array(usize),
    /// With the current member's key.
    Object(Option<&'a str>),
    /// Ends exactly at the position.
    Ended,
}

/// The path of the innermost value that begins before or at `end` and does not end before it.
fn path_at(json: &str, end: usize) -> String {
    let bytes = &json.as_bytes()[..end];
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match (byte, open.last_mut()) {
            (b'"', parent) => {
                at += string_len(&bytes[at..]);
                if let Some(Open::Object(key @ None)) = parent {
                    *key = json.get(start..at);
                }
            }
            (b'[', _) => open.push(Open::Array(0)),
            (b'{', _) => open.push(Open::Object(None)),
            (b',', Some(Open::Array(index))) => *index += 1,
            (b',', Some(Open::Object(key))) => *key = None,
            (b']' | b'}', Some(last)) if at == end => *last = Open::Ended,
            (b']' | b'}', _) => drop(open.pop()),
            _ => {}
        }
    }
    let mut path = String::new();
    for container in open {
        match container {
            Open::Array(index) => path.push_str(&format!("[{index}]")),
            Open::Object(Some(key)) => {
                let key: String = serde_json::from_str(key).unwrap_or_default();
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{key}"));
            }
            Open::Object(None) | Open::Ended => {}
        }
    }
    path
}

/// The length of a string without its opening quote.
fn string_len(text: &[u8]) -> usize {
    let mut is_escaped = false;
    let ends = |&byte: &u8| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    };
    text.iter()
        .position(ends)
        .map_or(text.len(), |quote| quote + 1)
}

#[cfg(test)]
mod tests {
    use mcp_types::{CallToolResult, CompleteParams, ListToolsResult};
    use serde::de::DeserializeOwned;

    use super::from_str;

    #[track_caller]
    fn check<T: DeserializeOwned>(json: &str, path: &str) {
        let plain = serde_json::from_str::<T>(json).map(drop).unwrap_err();
        let error = from_str::<T>(json).map(drop).unwrap_err();
        assert_eq!(error.path, path, "{error}");
        assert!(error.to_string().ends_with(&plain.to_string()), "{error}");
    }

    #[test]
    fn error_names_the_path_of_the_value() {
        check::<ListToolsResult>(r#"{"tools":7}"#, "tools");
        check::<ListToolsResult>(r#"{"tools":{}}"#, "tools");
        check::<ListToolsResult>(r#"{}"#, "");
        check::<ListToolsResult>("7", "");
        check::<ListToolsResult>(r#"{"nextCursor":"a","tools":[{"name":"a"}]}"#, "tools[0]");
        let schema = r#""inputSchema":{"type":"object","x":[1,{"}":"]"}]}"#;
        let second = |member: &str| {
            format!("{{\"tools\" : [{{\"name\":\"\\\"}}\",{schema}}},\n  {{{schema}, {member}}}]}}")
        };
        check::<ListToolsResult>(&second(r#""name":[]"#), "tools[1].name");
        check::<ListToolsResult>(&second(r#""name":7, "title":"é""#), "tools[1].name");
        check::<ListToolsResult>(&second(r#""title":"é""#), "tools[1]");
        check::<ListToolsResult>(
            &second(r#""name":"b","annotations":{"readOnlyHint":"no"}"#),
            "tools[1].annotations.readOnlyHint",
        );
        check::<CallToolResult>(r#"{"content":[{"type":"text"}]}"#, "content[0]");
        check::<CallToolResult>(
            r#"{"content":[{"type":"text","text":null},{"type":"other"}]}"#,
            "content[0].text",
        );
        check::<CallToolResult>(r#"{"content":[],"isError":"no"}"#, "isError");
        check::<CallToolResult>(r#"{"content":[],"is\u0045rror":"no"}"#, "isError");
    }

    #[test]
    fn error_after_the_last_member_names_the_object() {
        let reference = |argument: &str| format!(r#"{{{argument}"ref":{{"type":"ref/prompt"}} }}"#);
        check::<CompleteParams>(&reference(r#""argument":{"name":"a","value":"b"},"#), "ref");
        check::<CompleteParams>(&reference(""), "ref");
        let image = r#"{"type":"image","mimeType":"a/b","data":"?"}"#;
        check::<CallToolResult>(&format!(r#"{{"content":[{image}]}}"#), "content[0].data");
        let late = r#"{"content":[{"text":7,"type":"text"}]}"#;
        check::<CallToolResult>(late, "content[0]");
    }
}
