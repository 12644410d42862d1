//! `key=value` arguments, typed by a JSON Schema.

use serde_json::{Map, Value};

use crate::failure::{Failure, usage};

/// Splits `key=value`.
pub(crate) fn split(word: &str) -> Result<(&str, &str), Failure> {
    match word.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, value)),
        _ => Err(usage!("{word:?} is not an argument; write KEY=VALUE")),
    }
}

/// Adds arguments to `args`. `key=value` has the type of the property `key` of `schema`, and
/// `key:=json` is JSON.
pub(crate) fn add(
    args: &mut Map<String, Value>,
    words: &[String],
    schema: &Map<String, Value>,
) -> Result<(), Failure> {
    for word in words {
        let (key, text) = split(word)?;
        let json = key.strip_suffix(':');
        let key = json.unwrap_or(key);
        check_known(key, schema)?;
        let value = match json {
            Some(_) => serde_json::from_str(text)
                .map_err(|error| usage!("the value of {key:?} is not JSON: {error}"))?,
            None => typed(key, text, schema)?,
        };
        args.insert(key.to_owned(), value);
    }
    Ok(())
}

/// Converts a value to the type of the property `key`.
pub(crate) fn typed(key: &str, text: &str, schema: &Map<String, Value>) -> Result<Value, Failure> {
    let property = schema
        .get("properties")
        .and_then(|properties| properties.get(key));
    let kind = property
        .and_then(|property| property.get("type"))
        .and_then(Value::as_str);
    let value = match kind {
        Some("string") => Some(text.into()),
        Some("number") => parse_number(text),
        Some("integer") => parse_number(text).filter(|number| number.is_i64() || number.is_u64()),
        Some("boolean") => parse_bool(text).map(Value::Bool),
        Some("array") => serde_json::from_str(text).ok().filter(Value::is_array),
        Some("object") => serde_json::from_str(text).ok().filter(Value::is_object),
        _ => Some(serde_json::from_str(text).unwrap_or_else(|_| text.into())),
    };
    value.ok_or_else(|| {
        let kind = match kind {
            Some(kind @ ("array" | "integer" | "object")) => format!("an {kind}"),
            kind => format!("a {}", kind.unwrap_or_default()),
        };
        usage!("argument {key:?} must be {kind}, got {text:?}")
    })
}

/// Refuses keys that the schema excludes.
fn check_known(key: &str, schema: &Map<String, Value>) -> Result<(), Failure> {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
        && !schema.contains_key("patternProperties");
    let known = schema.get("properties").and_then(Value::as_object);
    if !is_closed || known.is_some_and(|known| known.contains_key(key)) {
        return Ok(());
    }
    let names: Vec<_> = known.into_iter().flat_map(Map::keys).cloned().collect();
    Err(usage!(
        "unknown argument {key:?}; the tool has: {}",
        names.join(", ")
    ))
}

/// Returns the required properties that `args` does not have.
pub(crate) fn missing(args: &Map<String, Value>, schema: &Map<String, Value>) -> Vec<String> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    names
        .filter(|name| !args.contains_key(*name))
        .map(str::to_owned)
        .collect()
}

pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text.to_lowercase().as_str() {
        "true" | "yes" | "y" | "1" => Some(true),
        "false" | "no" | "n" | "0" => Some(false),
        _ => None,
    }
}

pub(crate) fn parse_number(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.is_number().then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{add, missing};

    fn schema() -> Map<String, Value> {
        let schema = json!({
            "properties": {
                "name": {"type": "string"}, "count": {"type": "integer"}, "on": {"type": "boolean"},
                "tags": {"type": "array"}, "any": {},
            },
            "required": ["name", "count"],
            "additionalProperties": false,
        });
        schema.as_object().unwrap().clone()
    }

    fn parsed(words: &[&str]) -> Result<Value, String> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut args = Map::new();
        add(&mut args, &words, &schema()).map_err(|error| error.to_string())?;
        Ok(Value::Object(args))
    }

    #[test]
    fn values_have_the_types_from_the_schema() {
        let words = ["name=12", "count=12", "on=yes", "tags=[1]", "any=null"];
        let expected = json!({"name": "12", "count": 12, "on": true, "tags": [1], "any": null});
        assert_eq!(parsed(&words), Ok(expected));
        assert_eq!(parsed(&["name:=[1]"]), Ok(json!({"name": [1]})));
        assert_eq!(parsed(&["any=a=b"]), Ok(json!({"any": "a=b"})));
    }

    #[test]
    fn value_with_another_type_is_refused() {
        for word in [
            "count=1.5",
            "count=x",
            "on=maybe",
            "tags=1",
            "other=1",
            "name",
            "=1",
            "a:=x",
        ] {
            assert!(parsed(&[word]).is_err(), "{word}");
        }
    }

    #[test]
    fn json_and_text_are_refused_for_an_unknown_argument() {
        for word in ["other=1", "other:=1", "other:={}"] {
            let refused = parsed(&[word]).unwrap_err();
            assert!(refused.contains("unknown argument \"other\""), "{refused}");
        }
        let closed = |schema: Value| {
            let words = ["other:=1".to_owned()];
            add(&mut Map::new(), &words, schema.as_object().unwrap()).is_err()
        };
        assert!(closed(json!({"additionalProperties": false})));
        assert!(!closed(json!({})));
        let patterns = json!({"patternProperties": {"^o": {}}, "additionalProperties": false});
        assert!(!closed(patterns));
    }

    #[test]
    fn missing_arguments_are_named() {
        let args = Map::from_iter([("name".to_owned(), json!("a"))]);
        assert_eq!(missing(&args, &schema()), ["count"]);
    }
}
