//! Values as strings of JSON, for `#[serde(with = "mcp::typed::json_text")]`: prompt arguments are strings.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize as _, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Writes a value as a string that contains its JSON.
///
/// # Errors
///
/// Returns an error if the value cannot be serialized.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let text = serde_json::to_string(value).map_err(S::Error::custom)?;
    serializer.serialize_str(&text)
}

/// Reads a value from a string that contains its JSON, or from a bare string: `"high"` and `high`.
///
/// # Errors
///
/// Returns an error if the string is neither the JSON of a value nor a value itself.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    let read = serde_json::from_str(&text);
    read.or_else(|error| {
        serde_json::from_value(Value::String(text)).map_err(|_| D::Error::custom(error))
    })
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Arguments {
        #[serde(default, skip_serializing_if = "Option::is_none", with = "super")]
        depth: Option<u32>,
        #[serde(with = "super")]
        tags: Vec<String>,
    }

    #[test]
    fn values_are_written_as_json_text() {
        let arguments = Arguments {
            depth: Some(3),
            tags: vec!["a".to_owned()],
        };
        let value = serde_json::to_value(&arguments).unwrap();
        assert_eq!(value, json!({"depth": "3", "tags": "[\"a\"]"}));
        assert_eq!(
            serde_json::from_value::<Arguments>(value).unwrap(),
            arguments
        );
        let bare: String = super::deserialize(json!("high")).unwrap();
        assert_eq!(bare, "high");
        let error = super::deserialize::<u32, _>(json!("high")).unwrap_err();
        assert!(error.to_string().contains("expected value"), "{error}");
    }
}
