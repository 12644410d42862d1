//! Constraints and annotations with the values that JSON Schema and providers allow.

use mcp_schema::Type;
use regex_syntax::ast::ErrorKind;
use regex_syntax::ast::parse::Parser;
use serde_json::{Value, json};

use crate::provider::Profile;

/// The keyword of a server for a provider.
#[derive(Debug, PartialEq)]
pub(super) enum Keyword {
    /// Stays with this value.
    Valid(Value),
    /// Becomes a part of the description.
    Told,
    /// Says nothing.
    Void,
}

/// The values of a keyword.
#[derive(Debug, Clone, Copy)]
enum Values {
    Number,
    /// A number above 0.
    Factor,
    /// A whole number from 0.
    Count,
    Flag,
    Text,
    List,
    Any,
    Pattern,
    Format,
}

const NUMBERS: &[Type] = &[Type::Integer, Type::Number];
const STRINGS: &[Type] = &[Type::String];
const ARRAYS: &[Type] = &[Type::Array];
const OBJECTS: &[Type] = &[Type::Object];
const ALL: &[Type] = &[];

/// The keywords, their values, and the types that they constrain. No types: all.
const KEYWORDS: [(&str, Values, &[Type]); 17] = [
    ("title", Values::Text, ALL),
    ("default", Values::Any, ALL),
    ("examples", Values::List, ALL),
    ("minimum", Values::Number, NUMBERS),
    ("maximum", Values::Number, NUMBERS),
    ("exclusiveMinimum", Values::Number, NUMBERS),
    ("exclusiveMaximum", Values::Number, NUMBERS),
    ("multipleOf", Values::Factor, NUMBERS),
    ("minLength", Values::Count, STRINGS),
    ("maxLength", Values::Count, STRINGS),
    ("pattern", Values::Pattern, STRINGS),
    ("format", Values::Format, ALL),
    ("minItems", Values::Count, ARRAYS),
    ("maxItems", Values::Count, ARRAYS),
    ("uniqueItems", Values::Flag, ARRAYS),
    ("minProperties", Values::Count, OBJECTS),
    ("maxProperties", Values::Count, OBJECTS),
];

/// Largest count that providers read: 2^53.
const MAX_COUNT: u64 = 1 << 53;

/// Formats of numbers in OpenAPI, with their types. All other formats are those of strings.
const NUMBER_FORMATS: [(&str, Type); 4] = [
    ("int32", Type::Integer),
    ("int64", Type::Integer),
    ("float", Type::Number),
    ("double", Type::Number),
];

/// Returns a keyword for a provider. `kinds`: the types of the schema.
pub(super) fn keyword(name: &str, value: &Value, kinds: &[Type], profile: &Profile) -> Keyword {
    let row = KEYWORDS.iter().find(|(keyword, ..)| *keyword == name);
    let Some((_, values, types)) = row else {
        return Keyword::Told;
    };
    let constrains = |types: &[Type]| types.iter().any(|kind| kinds.contains(kind));
    if !types.is_empty() && !constrains(types) {
        return Keyword::Void;
    }
    let valid = match values {
        Values::Number => number(value),
        Values::Factor => number(value).filter(|value| value.as_f64() > Some(0.0)),
        Values::Count => count(value),
        Values::Flag => flag(value),
        Values::Text => value.is_string().then(|| value.clone()),
        Values::List => value.is_array().then(|| value.clone()),
        Values::Any => Some(value.clone()),
        Values::Pattern => {
            let is_accepted = |text: &&str| accepts_pattern(text, profile.has_plain_patterns);
            value.as_str().filter(is_accepted).map(Value::from)
        }
        Values::Format => {
            let is_accepted = |text: &&str| accepts_format(text, kinds, profile);
            value.as_str().filter(is_accepted).map(Value::from)
        }
    };
    let is_invalid = valid.is_none();
    let stays = || profile.keywords.is_none_or(|all| all.contains(&name));
    match valid {
        Some(value) if stays() => Keyword::Valid(value),
        None if matches!(values, Values::Number | Values::Factor | Values::Count) => Keyword::Void,
        _ if name == "title" => Keyword::Void,
        _ if is_invalid && matches!(values, Values::Flag | Values::Text) => Keyword::Void,
        _ => Keyword::Told,
    }
}

/// Returns the number that a value is, or that it is the text of.
fn number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => {
            let parsed = serde_json::from_str(text.trim()).ok();
            parsed.filter(Value::is_number)
        }
        _ => None,
    }
}

fn count(value: &Value) -> Option<Value> {
    let number = number(value)?;
    let whole = number.as_u64().or_else(|| {
        let number = number.as_f64()?;
        (number >= 0.0 && number.fract() == 0.0).then_some(number as u64)
    })?;
    (whole <= MAX_COUNT).then(|| json!(whole))
}

/// Returns the boolean that a value is, or that it is the text of.
pub(super) fn flag(value: &Value) -> Option<Value> {
    match value {
        Value::Bool(_) => Some(value.clone()),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(json!(true)),
        Value::String(text) if text.eq_ignore_ascii_case("false") => Some(json!(false)),
        _ => None,
    }
}

fn accepts_format(format: &str, kinds: &[Type], profile: &Profile) -> bool {
    let number = NUMBER_FORMATS.iter().find(|(known, _)| *known == format);
    let kind = number.map_or(Type::String, |(_, kind)| *kind);
    let is_listed = profile
        .formats
        .is_none_or(|formats| formats.contains(&format));
    kinds.contains(&kind) && is_listed
}

/// Returns whether a pattern is a regular expression: of ECMA-262, or of what most engines have in common.
fn accepts_pattern(pattern: &str, is_plain: bool) -> bool {
    /// Parts of patterns that the engines of Rust, Python and RE2 do not share.
    const OTHER: [&str; 13] = [
        "\\p", "\\P", "\\u", "\\x{", "\\z", "\\Z", "\\A", "(?", "&&", "--", "~~", "++", "*+",
    ];

    match Parser::new().parse(pattern) {
        Ok(_) => !is_plain || !OTHER.iter().any(|other| pattern.contains(other)),
        Err(error) => {
            let is_of_ecma = matches!(
                error.kind(),
                ErrorKind::UnsupportedLookAround | ErrorKind::UnsupportedBackreference
            );
            is_of_ecma && !is_plain
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_schema::Type;
    use serde_json::{Value, json};

    use super::{Keyword, keyword};
    use crate::provider::Provider;

    #[test]
    fn keyword_with_a_wrong_value_is_repaired_told_or_left_out() {
        let valid = |value: Value| Keyword::Valid(value);
        for (name, value, kind, expected) in [
            ("minLength", json!("1"), Type::String, valid(json!(1))),
            ("minLength", json!(2.0), Type::String, valid(json!(2))),
            ("minLength", json!(-1), Type::String, Keyword::Void),
            ("maxLength", json!(1e300), Type::String, Keyword::Void),
            ("minLength", json!(1), Type::Integer, Keyword::Void),
            ("multipleOf", json!(0), Type::Integer, Keyword::Void),
            ("multipleOf", json!("0.5"), Type::Number, valid(json!(0.5))),
            ("maximum", json!(true), Type::Number, Keyword::Void),
            ("examples", json!({}), Type::String, Keyword::Told),
            ("examples", json!(["a"]), Type::String, valid(json!(["a"]))),
            ("title", json!(7), Type::String, Keyword::Void),
            (
                "uniqueItems",
                json!("True"),
                Type::Array,
                valid(json!(true)),
            ),
            ("format", json!("int32"), Type::String, Keyword::Told),
            ("format", json!(7), Type::String, Keyword::Told),
            ("pattern", json!("[a"), Type::String, Keyword::Told),
            (
                "pattern",
                json!("^(?!a)"),
                Type::String,
                valid(json!("^(?!a)")),
            ),
            ("x-own", json!(1), Type::String, Keyword::Told),
        ] {
            let profile = Provider::Anthropic.profile();
            let found = keyword(name, &value, &[kind], profile);
            assert_eq!(found, expected, "{name}: {value}");
        }
        let lookahead = json!("^(?!a)");
        let found = keyword(
            "pattern",
            &lookahead,
            &[Type::String],
            Provider::OpenAiChat.profile(),
        );
        assert_eq!(found, Keyword::Told);
    }
}
