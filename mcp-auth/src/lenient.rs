//! Members of documents that some servers write in another type: numbers as text, ids as numbers.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads text, or a number as its text.
pub(crate) fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(serde::de::Error::custom("neither text nor a number")),
    }
}

/// Reads a number of seconds, which may be text. Other values count as absent.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let number = match Value::deserialize(deserializer)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    Ok(number
        .filter(|&number: &f64| number > 0.0)
        .map(|number| number as u64))
}
