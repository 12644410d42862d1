//! Excerpts of error answers that are not OAuth errors.

use serde_json::Value;

/// Members that explain an error, in the order in which they are tried.
const MEMBERS: [&str; 7] = [
    "message",
    "error_description",
    "errorSummary",
    "detail",
    "title",
    "reason",
    "error",
];
/// Longest word in an excerpt. Longer ones could be tokens.
const MAX_WORD: usize = 32;

/// Returns the explanation in an error answer: a member of its JSON, or the title of its page.
pub(crate) fn of(body: &[u8]) -> Option<String> {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => explanation(&value)?.to_owned(),
        Err(_) => title(std::str::from_utf8(body).ok()?)?.to_owned(),
    };
    let words = text.split_whitespace().map(|word| match word.len() {
        0..=MAX_WORD => word,
        _ => "…",
    });
    let text: Vec<_> = words.collect();
    Some(text.join(" ")).filter(|text| !text.is_empty())
}

/// Looks into the members, and into lists and objects in them: two levels deep.
fn explanation(value: &Value) -> Option<&str> {
    let first = match value {
        Value::Array(elements) => elements.first()?,
        value => value,
    };
    let Value::Object(members) = first else {
        return inner(first);
    };
    let nested = |name: &&str| match members.get(*name) {
        Some(Value::Array(elements)) => elements.first().and_then(inner),
        Some(member) => inner(member),
        None => None,
    };
    MEMBERS.iter().chain(&["errors"]).find_map(nested)
}

fn inner(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(members) => {
            let mut texts = MEMBERS.iter().filter_map(|name| members.get(*name));
            texts.find_map(Value::as_str)
        }
        _ => None,
    }
}

/// Returns the title of a page, or the first line of other text.
fn title(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with('<') {
        return text.lines().next();
    }
    // Offsets in the lower-case text are those of the text: ASCII letters keep their length.
    let lower = text.to_ascii_lowercase();
    let start = lower.find("<title>")? + "<title>".len();
    let end = start + lower.get(start..)?.find("</title>")?;
    text.get(start..end)
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn excerpt_is_the_explanation_without_long_words() {
        let long = "x".repeat(40);
        let secret = format!(r#"{{"message":"the token {long} is unknown"}}"#);
        for (body, expected) in [
            (r#"{"message":"Not Found"}"#, Some("Not Found")),
            (r#"{"error":{"code":7,"message":"quota"}}"#, Some("quota")),
            (
                r#"{"errorCode":"E1","errorSummary":"no access"}"#,
                Some("no access"),
            ),
            (r#"{"errors":[{"detail":"gone"}]}"#, Some("gone")),
            (r#"["invalid"]"#, Some("invalid")),
            (
                "<html><head><TITLE>Access\n denied</TITLE></head>",
                Some("Access denied"),
            ),
            (
                "upstream connect error\nmore",
                Some("upstream connect error"),
            ),
            (&secret, Some("the token … is unknown")),
            (r#"{"access_token":"hidden"}"#, None),
            ("<html>hidden</html>", None),
            ("", None),
        ] {
            assert_eq!(of(body.as_bytes()).as_deref(), expected, "{body}");
        }
    }
}
