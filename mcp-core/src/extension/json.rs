//! Parameters, results and settings as JSON objects. The type `()` stands for an empty object.

use mcp_types::{JsonObject, RawObject, RawObjectError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::deserialize::{self, DeserializeError};

/// Reads parameters, a result or settings, without their `_meta`. An empty object, and no object, are
/// also read as `()`.
///
/// # Errors
///
/// Returns [`DeserializeError`] with the path of the value that does not fit.
pub fn from_params<T: DeserializeOwned>(json: Option<&str>) -> Result<T, DeserializeError> {
    let stripped = json.and_then(without_meta);
    let json = stripped.as_deref().or(json).unwrap_or("{}");
    let read = deserialize::from_str(json);
    match read {
        Err(_) if is_empty_object(json) => deserialize::from_str("null").or(read),
        read => read,
    }
}

/// Returns the object without `_meta`, or `None` when it has none.
fn without_meta(json: &str) -> Option<String> {
    memchr::memmem::find(json.as_bytes(), b"\"_meta\"")?;
    let mut members: JsonObject = serde_json::from_str(json).ok()?;
    members.shift_remove("_meta")?;
    serde_json::to_string(&members).ok()
}

fn is_empty_object(json: &str) -> bool {
    let inner = json
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

/// Serializes parameters, a result or settings. The value `()` becomes an empty object.
///
/// # Errors
///
/// Returns [`RawObjectError`] when the value cannot be serialized, or is not an object.
pub fn to_object(value: &impl Serialize) -> Result<RawObject, RawObjectError> {
    match RawObject::from_value(value) {
        Err(RawObjectError::NotAnObject("null")) => Ok(RawObject::default()),
        object => object,
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::{from_params, to_object};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Tick {
        number: u8,
    }

    #[test]
    fn unit_is_an_empty_object() {
        assert_eq!(to_object(&()).unwrap().as_str(), "{}");
        for json in [None, Some("{}"), Some("{ }"), Some(r#"{"_meta":{"a":1}}"#)] {
            from_params::<()>(json).unwrap();
        }
        assert!(from_params::<()>(Some(r#"{"a":1}"#)).is_err());
        assert!(to_object(&7).is_err());
    }

    #[test]
    fn error_names_the_path_of_the_value() {
        let json = to_object(&Tick { number: 3 }).unwrap();
        assert_eq!(
            from_params::<Tick>(Some(json.as_str())).unwrap(),
            Tick { number: 3 }
        );
        let error = from_params::<Tick>(Some(r#"{"number":"x"}"#)).unwrap_err();
        assert!(error.to_string().starts_with("number: "), "{error}");
        assert!(from_params::<Tick>(None).is_err());
    }
}
