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
/// Only a document that does not fit pays for the path: it is parsed a second time.
///
/// # Errors
///
/// Returns [`DeserializeError`] when the document is not JSON or does not fit `T`.
pub fn from_str<T: DeserializeOwned>(json: &str) -> Result<T, DeserializeError> {
    serde_json::from_str(json).map_err(|error| DeserializeError {
        path: find_path::<T>(json),
        error,
    })
}

fn find_path<T: DeserializeOwned>(json: &str) -> String {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    match serde_path_to_error::deserialize::<_, T>(&mut deserializer) {
        Err(error) if error.path().iter().len() > 0 => error.path().to_string(),
        _ => String::new(),
    }
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
