//! Decoding of arguments that are strings on the wire: for prompts, URI templates and completions.

use std::{fmt, vec};

use mcp_types::{JsonObject, RawJson, RawObject, without_position};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess,
    Visitor,
};
use serde_json::Value;
use serde_path_to_error::{Path, Track};

use super::json_arguments;
use super::reason::plain_reason;
use crate::rejection::ArgumentError;
use crate::schema::whole_float;

/// Limit on a malformed value's characters in an error message.
const MAX_SHOWN_CHARS: usize = 64;

/// Decodes arguments into `T`, each field from a string.
///
/// # Errors
///
/// Returns an [`ArgumentError`] with the name of the argument that does not match.
pub(super) fn parse<T: DeserializeOwned>(arguments: &RawObject) -> Result<T, ArgumentError> {
    let members = arguments.parse::<JsonObject>();
    let members = members.map_err(|error| ArgumentError::new("", error.to_string()))?;
    let fields = members.iter().map(|(name, value)| (name.as_str(), value));
    let fields: Vec<_> = fields.collect();
    let fields = StringFields {
        rest: fields.into_iter(),
        next: None,
    };
    T::deserialize(MapAccessDeserializer::new(fields)).map_err(Error::into_argument)
}

/// Decodes one argument, a JSON string or a value of the type itself, into `T`.
///
/// # Errors
///
/// Returns an [`ArgumentError`] whose path starts with `name`.
pub(super) fn parse_one<T: DeserializeOwned>(
    name: &str,
    value: RawJson<'_>,
) -> Result<Option<T>, ArgumentError> {
    match value.text() {
        Some(string) => T::deserialize(StringValue(&string))
            .map(Some)
            .map_err(|error| error.in_field(name).into_argument()),
        None => json_arguments::parse_one(name, value, None),
    }
}

/// The decoder's error, with the value's path.
#[derive(Debug)]
struct Error {
    path: String,
    reason: String,
}

impl Error {
    fn in_field(mut self, name: &str) -> Self {
        self.path = json_arguments::join_path(name, &self.path);
        self
    }

    fn into_argument(self) -> ArgumentError {
        ArgumentError::new(self.path, plain_reason(&self.reason))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Error {}

impl serde::de::Error for Error {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            path: String::new(),
            reason: message.to_string(),
        }
    }
}

/// Map of all arguments. An error of a value has the name of its argument as path.
struct StringFields<'a> {
    rest: vec::IntoIter<(&'a str, &'a Value)>,
    next: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for StringFields<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        self.next = self.rest.next();
        let name = self.next.map(|(name, _)| name.into_deserializer());
        name.map(|name: StrDeserializer<'_, Error>| seed.deserialize(name))
            .transpose()
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self
            .next
            .take()
            .ok_or_else(|| Error::custom("a value was requested before its key"))?;
        let decoded = match value {
            Value::String(string) => seed.deserialize(StringValue(string)),
            other => seed.deserialize(other).map_err(Error::custom),
        };
        decoded.map_err(|error| error.in_field(name))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// Deserializer of one string: numbers and booleans are parsed, sequences and maps are decoded from
/// JSON in the string.
#[derive(Clone, Copy)]
struct StringValue<'a>(&'a str);

impl StringValue<'_> {
    fn expected(self, what: &str) -> Error {
        let shown: String = self.0.chars().take(MAX_SHOWN_CHARS).collect();
        Error::custom(format_args!("expected {what}, got {shown:?}"))
    }

    fn json_error(error: &serde_json::Error, path: &Path) -> Error {
        let is_root = path.iter().len() == 0;
        Error {
            path: if is_root {
                String::new()
            } else {
                path.to_string()
            },
            reason: plain_reason(&without_position(error)),
        }
    }

    /// Parses a number in the syntax of JSON: without `+` and without spaces.
    fn number<N: std::str::FromStr>(self) -> Option<N> {
        let digits = self.0.strip_prefix('-').unwrap_or(self.0);
        let is_plain = digits.starts_with(|c: char| c.is_ascii_digit());
        is_plain.then(|| self.0.parse().ok())?
    }
}

macro_rules! integers {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            // The visitor checks the range of the type.
            if let Some(number) = self.number::<u64>() {
                return visitor.visit_u64(number);
            }
            match self.number::<i64>().or_else(|| whole_float(self.number()?)) {
                Some(number) => visitor.visit_i64(number),
                None => Err(self.expected("a whole number")),
            }
        })*
    };
}

macro_rules! from_json {
    ($($method:ident ($($argument:ident: $ty:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $ty,)* visitor: V) -> Result<V::Value, Error> {
            let mut json = serde_json::Deserializer::from_str(self.0);
            let mut track = Track::new();
            let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
            let value = tracked.$method($($argument,)* visitor);
            let value = value.and_then(|value| json.end().map(|()| value));
            value.map_err(|error| Self::json_error(&error, &track.path()))
        })*
    };
}

impl<'de> Deserializer<'de> for StringValue<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.expected("`true` or `false`")),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = self.number();
        visitor.visit_i128(number.ok_or_else(|| self.expected("a whole number"))?)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = self.number();
        visitor.visit_u128(number.ok_or_else(|| self.expected("a whole number"))?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_f64(visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let number = self.number().filter(|number: &f64| number.is_finite());
        visitor.visit_f64(number.ok_or_else(|| self.expected("a number"))?)
    }

    from_json! {
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    serde::forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use mcp_types::RawObject;
    use serde::Deserialize;
    use serde_json::json;

    use super::parse;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Level {
        Low,
        High,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Id(u8);

    #[derive(Debug, PartialEq, Deserialize)]
    struct All {
        id: Id,
        big: u128,
        signed: Option<i64>,
        share: f32,
        on: bool,
        level: Option<Level>,
        letter: char,
        list: Vec<u8>,
        text: String,
    }

    fn all(change: &[(&str, serde_json::Value)]) -> Result<All, String> {
        let mut members = json!({
            "id": "7", "big": "340282366920938463463374607431768211455", "signed": "-3",
            "share": "0.5", "on": "true", "level": "high", "letter": "é", "list": "[1, 2]",
            "text": "7",
        });
        for (name, value) in change {
            members[*name] = value.clone();
        }
        parse(&RawObject::from_value(&members).unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn strings_are_converted_to_every_type() {
        assert_eq!(
            all(&[]).unwrap(),
            All {
                id: Id(7),
                big: u128::MAX,
                signed: Some(-3),
                share: 0.5,
                on: true,
                level: Some(Level::High),
                letter: 'é',
                list: vec![1, 2],
                text: "7".to_owned(),
            }
        );
    }

    #[test]
    fn values_with_their_own_type_and_whole_floats_are_accepted() {
        for (name, value) in [
            ("id", json!(7)),
            ("id", json!("7.0")),
            ("signed", json!(-3)),
            ("signed", json!("-3.0")),
            ("on", json!(true)),
            ("list", json!([1, 2])),
        ] {
            assert_eq!(all(&[(name, value)]), all(&[]), "{name}");
        }
        assert_eq!(all(&[("signed", json!(null))]).unwrap().signed, None);
    }

    #[test]
    fn mismatch_names_argument_and_expected_type() {
        for (name, value, expected) in [
            ("id", json!("x"), "`id`: expected a whole number, got \"x\""),
            (
                "id",
                json!("+7"),
                "`id`: expected a whole number, got \"+7\"",
            ),
            (
                "id",
                json!(" 7"),
                "`id`: expected a whole number, got \" 7\"",
            ),
            ("id", json!(""), "`id`: expected a whole number, got \"\""),
            (
                "id",
                json!("300"),
                "`id`: 300 is out of range, expected 0 to 255",
            ),
            (
                "id",
                json!("-1"),
                "`id`: -1 is out of range, expected 0 to 255",
            ),
            ("text", json!(7), "`text`: expected a string, got a number"),
            (
                "share",
                json!("NaN"),
                "`share`: expected a number, got \"NaN\"",
            ),
            (
                "share",
                json!("1e999"),
                "`share`: expected a number, got \"1e999\"",
            ),
            (
                "on",
                json!("yes"),
                "`on`: expected `true` or `false`, got \"yes\"",
            ),
            (
                "level",
                json!("mid"),
                "`level`: expected \"low\" or \"high\", got \"mid\"",
            ),
            (
                "list",
                json!("1"),
                "`list`: expected an array, got a number",
            ),
            (
                "list",
                json!("[1, \"x\"]"),
                "`list[1]`: expected a whole number, got a string",
            ),
            ("list", json!("[1] x"), "`list`: trailing characters"),
        ] {
            let error = all(&[(name, value)]).unwrap_err();
            assert_eq!(error, format!("invalid arguments: {expected}"));
        }
    }
}
