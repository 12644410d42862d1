//! Where in a message something does not fit.
//!
//! A deserializer that keeps track of the path would do it, too; but every type of the protocol
//! would be compiled once more for it, and that is a quarter of this crate.

use std::fmt;

use serde::de::DeserializeOwned;

/// How often a text is read again to find a place: a hostile one is not read for ever.
const MOST_AGAIN: usize = 8;

/// What does not fit, and where it is.
#[derive(Debug)]
#[non_exhaustive]
pub struct Misfit {
    /// The path of the innermost value that does not fit; empty for the whole text.
    pub path: String,
    /// What is wrong with it.
    pub error: serde_json::Error,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.error.fmt(f)
    }
}

/// Reads JSON as `T`.
///
/// # Errors
///
/// [`Misfit`] with the path of what does not fit.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Misfit> {
    read_by(text, |part| serde_json::from_str(part))
}

/// Reads JSON with a function that says whether a text fits.
pub(crate) fn read_by<T>(
    text: &str,
    read: impl Fn(&str) -> serde_json::Result<T>,
) -> Result<T, Misfit> {
    read(text).map_err(|error| locate(text, error, &|part| read(part).map(drop)))
}

#[cold]
fn locate(
    text: &str,
    error: serde_json::Error,
    again: &dyn Fn(&str) -> serde_json::Result<()>,
) -> Misfit {
    let mut read = read_until(text, &error);
    // What a type itself finds wrong is reported behind the object or array that it is the last
    // member of. With that one left open, the same is wrong still, unless it was the object's fault.
    for _ in 0..MOST_AGAIN {
        let Some(inner) = read.strip_suffix(['}', ']']) else {
            break;
        };
        match again(inner) {
            Err(error) if !error.is_eof() => read = inner.trim_ascii_end(),
            _ => break,
        }
    }
    let path = path(read.as_bytes());
    Misfit { path, error }
}

/// The path of what does not fit in a text that is not read again.
pub fn path_of(text: &str, error: &serde_json::Error) -> String {
    path(read_until(text, error).as_bytes())
}

/// What had been read when the error came up.
fn read_until<'a>(text: &'a str, error: &serde_json::Error) -> &'a str {
    let before = text.split_inclusive('\n').take(error.line().max(1) - 1);
    let at = before.map(str::len).sum::<usize>() + error.column();
    text.get(..at).unwrap_or_default()
}

/// A container that has been entered: in an object the key that was read last, in an array the
/// number of the element.
enum Step<'a> {
    Key(&'a [u8]),
    Index(usize),
}

/// The path of the value that `read` ends in or with.
fn path(read: &[u8]) -> String {
    let mut steps = Vec::new();
    let mut string: &[u8] = b"";
    let mut rest = read;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, steps.last_mut()) {
            // What is only looked at has not been entered.
            (b'{' | b'[', _) if after.is_empty() => {}
            (b'{', _) => steps.push(Step::Key(b"")),
            (b'[', _) => steps.push(Step::Index(0)),
            (b'}' | b']', _) => drop(steps.pop()),
            (b'"', _) => (string, rest) = after.split_at(string_length(after)),
            (b':', Some(Step::Key(key))) => *key = string,
            (b',', Some(Step::Key(key))) => *key = b"",
            (b',', Some(Step::Index(index))) => *index += 1,
            _ => {}
        }
    }
    written(&steps)
}

/// The length of a string whose first quotation mark has been read, and that of the last one with
/// it.
fn string_length(text: &[u8]) -> usize {
    let mut escaped = false;
    let end = text.iter().position(|byte| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

fn written(steps: &[Step<'_>]) -> String {
    let mut path = String::new();
    for step in steps {
        match step {
            Step::Key(b"") => {}
            Step::Key(key) => {
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(dot);
                path.push_str(&name(key));
            }
            Step::Index(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// The name that a key spells, whose last quotation mark comes with it.
fn name(key: &[u8]) -> String {
    let key = String::from_utf8_lossy(key);
    serde_json::from_str(&format!("\"{key}"))
        .unwrap_or_else(|_| key.trim_end_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use mcp_types::{CallToolResult, CompleteParams, ListToolsResult};
    use serde::de::DeserializeOwned;

    use super::read;

    #[track_caller]
    fn check<T: DeserializeOwned>(text: &str, path: &str) {
        let error = serde_json::from_str::<T>(text).map(drop).unwrap_err();
        let told = read::<T>(text).map(drop).unwrap_err().to_string();
        let rest = told.strip_suffix(&error.to_string()).unwrap();
        assert_eq!(rest.strip_suffix(": ").unwrap_or(rest), path, "{told}");
    }

    #[test]
    fn the_path_leads_to_what_does_not_fit() {
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
    fn so_it_does_where_a_type_complains_late() {
        let reference = |argument: &str| format!(r#"{{{argument}"ref":{{"type":"ref/prompt"}} }}"#);
        check::<CompleteParams>(&reference(r#""argument":{"name":"a","value":"b"},"#), "ref");
        check::<CompleteParams>(&reference(""), "ref");
        let image = r#"{"type":"image","mimeType":"a/b","data":"?"}"#;
        check::<CallToolResult>(&format!(r#"{{"content":[{image}]}}"#), "content[0].data");
        let late = r#"{"content":[{"text":7,"type":"text"}]}"#;
        check::<CallToolResult>(late, "content[0]");
    }
}
