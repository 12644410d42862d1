//! Repairs of JSON that does not fit its type, or that JavaScript has cut inside of a character.
//!
//! The error of the reader names the value to replace, so that no data elsewhere changes. Only values that were refused
//! come here, and results that are passed on undecoded, in which half characters are looked for: the reading of a valid
//! result costs nothing more.

use std::borrow::Cow;
use std::ops::Range;

use mcp_types::{Method, escape_line, shorten, without_position};
use serde::de::DeserializeOwned;

use crate::deserialize::{self, DeserializeError};

/// The maximum number of values that are replaced in one document.
const MAX_REPAIRS: usize = 8;

/// The maximum number of characters of a reason.
const MAX_REASON: usize = 200;

/// Members that decide how a result is understood. An unreadable one is an error.
pub(super) const DECISIVE: [&str; 3] = ["resultType", "protocolVersion", "supportedVersions"];

/// Values that may be replaced.
#[derive(Clone, Copy)]
pub(super) enum Repairs {
    /// Values with an evident meaning: `[]` and `true` as an empty object, `null` as an empty list, and `data:` URLs as
    /// their Base64.
    Evident,
    /// In addition, unreadable members are absent. The list has the values of absent members that the type requires.
    Optional(&'static [(&'static str, &'static str)]),
}

/// A document that was read.
pub(super) struct Mended<T> {
    pub(super) value: T,
    /// The members that could not be read and count as absent: their paths, and the reasons.
    pub(super) absent: Vec<(String, String)>,
}

/// Reads a document as `T`, with repairs where it does not fit.
///
/// # Errors
///
/// Returns the first error that no repair cures.
pub(super) fn read<T: DeserializeOwned>(
    json: &str,
    repairs: Repairs,
) -> Result<Mended<T>, DeserializeError> {
    let (mut text, mut absent) = (Cow::Borrowed(json), Vec::new());
    let mut error = match deserialize::from_str(&text) {
        Ok(value) => return Ok(Mended { value, absent }),
        Err(error) => error,
    };
    for _ in 0..MAX_REPAIRS {
        let Some(span) = error.span(&text) else {
            return Err(error);
        };
        let mut next = None;
        for candidate in candidates(&error.path, &text[span.clone()], repairs) {
            let repaired = replace(&text, &span, &candidate);
            let read = deserialize::from_str(&repaired);
            // An error at the same place: the candidate does not fit.
            let is_cured = match &read {
                Ok(_) => true,
                Err(other) => other
                    .span(&repaired)
                    .is_none_or(|at| at.start != span.start),
            };
            if is_cured {
                if candidate == "null" {
                    absent.push((error.path.clone(), reason(&error, "")));
                }
                next = Some((repaired, read));
                break;
            }
        }
        match next {
            Some((_, Ok(value))) => return Ok(Mended { value, absent }),
            Some((repaired, Err(other))) => (text, error) = (repaired.into(), other),
            None => return Err(error),
        }
    }
    Err(error)
}

/// The values that may stand for a value that does not fit.
fn candidates<'v>(path: &str, value: &'v str, repairs: Repairs) -> Vec<Cow<'v, str>> {
    let mut found = Vec::new();
    let is_empty_list = value
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(|inner| inner.trim().is_empty());
    if is_empty_list || value == "true" {
        found.push("{}".into());
    }
    if value == "null" {
        found.push("[]".into());
    }
    if let Some((_, base64)) = value
        .strip_prefix("\"data:")
        .and_then(|url| url.split_once(";base64,"))
    {
        found.push(format!("\"{base64}").into());
    }
    let Repairs::Optional(defaults) = repairs else {
        return found;
    };
    let member = path.split(['.', '[']).next().unwrap_or_default();
    if path.is_empty() || DECISIVE.contains(&member) {
        return found;
    }
    // A capability that is declared in an unknown form is still declared.
    if path.starts_with("capabilities.") && value != "false" {
        found.push("{}".into());
    }
    if let Some((_, default)) = defaults.iter().find(|(name, _)| *name == path) {
        found.push((*default).into());
    }
    if value != "null" {
        found.push("null".into());
    }
    found
}

fn replace(text: &str, span: &Range<usize>, value: &str) -> String {
    let (before, after) = (&text[..span.start], &text[span.end..]);
    [before, value, after].concat()
}

/// Returns the reason for messages: the path below `item`, and the error without its position.
pub(super) fn reason(error: &DeserializeError, item: &str) -> String {
    let message = without_position(&error.error);
    if message.contains("recursion limit") {
        return "it is nested too deeply".to_owned();
    }
    let path = error.path.strip_prefix(item).unwrap_or(&error.path);
    let path = path.trim_start_matches('.');
    let colon = if path.is_empty() { "" } else { ": " };
    let text = format!("{path}{colon}{message}");
    escape_line(&shorten(&text, MAX_REASON)).into_owned()
}

/// Returns the text of a result without half characters. A result that has some is logged.
pub(super) fn whole_characters(method: Option<Method>, json: &str) -> Cow<'_, str> {
    let text = without_lone_surrogates(json);
    if matches!(text, Cow::Owned(_)) {
        let method = method.map_or("", Method::as_str);
        tracing::warn!(
            method,
            "a result contains half characters, which are read as U+FFFD"
        );
    }
    text
}

/// Replaces escapes of half a surrogate pair by U+FFFD. JavaScript writes them when it cuts a text inside of a
/// character.
pub(super) fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = json.get(at..).and_then(|rest| rest.find('\\')) {
        let start = at + found;
        let Some(unit) = code_unit(json, start) else {
            // Another escape, of which a second backslash is a part.
            at = start + 2;
            continue;
        };
        let is_pair = matches!(unit, 0xD800..=0xDBFF)
            && matches!(code_unit(json, start + 6), Some(0xDC00..=0xDFFF));
        at = if is_pair { start + 12 } else { start + 6 };
        if !is_pair && matches!(unit, 0xD800..=0xDFFF) {
            out.push_str(&json[copied..start]);
            out.push_str("\\ufffd");
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

/// Returns the UTF-16 code unit of the escape `\uXXXX` at a position.
fn code_unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use mcp_types::{InitializeResult, ListToolsResult};

    use super::{Repairs, read, without_lone_surrogates};

    #[test]
    fn half_pairs_become_replacement_characters_and_other_escapes_stay() {
        for (text, expected) in [
            (r#""a""#, r#""a""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 \uD83D\u0041""#, r#""\ufffd \ufffd\u0041""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""é\n\ud83d"#, r#""é\n\ufffd"#),
            (r#""\u12"#, r#""\u12"#),
            ("\\", "\\"),
        ] {
            assert_eq!(without_lone_surrogates(text), expected);
        }
    }

    #[test]
    fn empty_list_is_an_object_only_where_an_object_must_stand() {
        let json = r#"{"tools":[{"name":"a","inputSchema":[ ],"annotations":true,
            "_meta":{"x":[],"y":true}}],"_meta":[]}"#;
        let page = read::<ListToolsResult>(json, Repairs::Evident)
            .unwrap()
            .value;
        let tool = serde_json::to_string(&page.tools[0]).unwrap();
        let expected =
            r#"{"name":"a","inputSchema":{},"annotations":{},"_meta":{"x":[],"y":true}}"#;
        assert_eq!(tool, expected);
        for refused in [
            r#"{"tools":[{"name":[],"inputSchema":{}}]}"#,
            r#"{"tools":[{"name":"a","inputSchema":{},"_meta":[],"_meta":[]}]}"#,
            r#"{"tools":{}}"#,
            r#"{}"#,
            "[]",
        ] {
            assert!(read::<ListToolsResult>(refused, Repairs::Evident).is_err());
        }
    }

    #[test]
    fn unreadable_optional_member_is_absent_and_decisive_one_an_error() {
        let defaults: &[(&str, &str)] = &[("serverInfo", r#"{"name":""}"#)];
        let json = r#"{"protocolVersion":"2025-06-18","instructions":7,"serverInfo":null,
            "capabilities":{"tools":[],"prompts":"yes","resources":false}}"#;
        let read = |json: &str| read::<InitializeResult>(json, Repairs::Optional(defaults));
        let mended = read(json).unwrap();
        let capabilities = &mended.value.capabilities;
        assert!(capabilities.tools.is_some() && capabilities.prompts.is_some());
        assert!(capabilities.resources.is_none());
        let paths: Vec<_> = mended.absent.iter().map(|(path, _)| &**path).collect();
        assert_eq!(paths, ["instructions", "capabilities.resources"]);
        let json = json.replace(r#""2025-06-18""#, "7");
        assert_eq!(read(&json).err().unwrap().path, "protocolVersion");
    }
}
