//! JSON deserialization whose errors name the path of the value that does not fit.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// A value in a JSON document that does not fit the type that is read.
#[derive(Debug)]
#[non_exhaustive]
pub struct DeserializeError {
    /// The path of the innermost value that does not fit, such as `tools[1].name`. Empty for the
    /// document itself.
    pub path: String,
    /// The error of `serde_json`.
    pub error: serde_json::Error,
    /// The offset of that value in the document.
    start: usize,
}

impl DeserializeError {
    /// The error of a type that was read from `json`.
    pub(crate) fn new(json: &str, error: serde_json::Error) -> Self {
        let (path, start) = place_at(json, offset(json, &error), error.is_syntax());
        Self { path, error, start }
    }

    /// Returns the place of the value in `json`, the document of this error. `None` for a syntax error.
    pub(crate) fn span(&self, json: &str) -> Option<Range<usize>> {
        let rest = json.get(self.start..)?;
        let value: &RawValue = serde_json::Deserializer::from_str(rest)
            .into_iter()
            .next()?
            .ok()?;
        let blanks = rest.len() - rest.trim_start().len();
        let start = self.start + blanks;
        Some(start..start + value.get().len())
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
struct Open<'a> {
    kind: Container<'a>,
    start: usize,
    /// The offset of the item, or of the current member's value.
    value: Option<usize>,
}

enum Container<'a> {
    Array(usize),
    /// With the current member's key.
    Object(Option<&'a str>),
    /// Ends exactly at the position.
    Ended,
}

impl<'a> Open<'a> {
    fn new(kind: Container<'a>, start: usize, value: Option<usize>) -> Self {
        Self { kind, start, value }
    }
}

/// The path and the start of the innermost value that begins before or at `end` and does not end before it.
/// `is_syntax`: the error is about the byte before `end`, and not about the value behind it.
fn place_at(json: &str, end: usize, is_syntax: bool) -> (String, usize) {
    let bytes = &json.as_bytes()[..end];
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        let mut last = open.last_mut();
        match (byte, last.as_mut().map(|open| &mut open.kind)) {
            (b'"', parent) => {
                at += string_len(&bytes[at..]);
                if let Some(Container::Object(key @ None)) = parent {
                    *key = json.get(start..at);
                }
            }
            (b'[', _) => open.push(Open::new(Container::Array(0), start, Some(at))),
            (b'{', _) => open.push(Open::new(Container::Object(None), start, None)),
            (b',', Some(Container::Array(index))) => {
                *index += 1;
                last.into_iter().for_each(|open| open.value = Some(at));
            }
            (b',', Some(Container::Object(key))) => {
                *key = None;
                last.into_iter().for_each(|open| open.value = None);
            }
            (b':', Some(Container::Object(_))) => {
                last.into_iter().for_each(|open| open.value = Some(at));
            }
            (b']' | b'}', Some(kind)) if at == end => *kind = Container::Ended,
            (b']' | b'}', _) => drop(open.pop()),
            _ => {}
        }
    }
    if is_syntax && open.last().is_some_and(|last| last.start + 1 == end) {
        open.pop();
    }
    let start = open.last().map_or(0, |last| match last.kind {
        Container::Ended => last.start,
        _ => last.value.unwrap_or(last.start),
    });
    (path(open), start)
}

fn path(open: Vec<Open<'_>>) -> String {
    let mut path = String::new();
    for container in open {
        match container.kind {
            Container::Array(index) => path.push_str(&format!("[{index}]")),
            Container::Object(Some(key)) => {
                let key: String = serde_json::from_str(key).unwrap_or_default();
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{key}"));
            }
            Container::Object(None) | Container::Ended => {}
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
