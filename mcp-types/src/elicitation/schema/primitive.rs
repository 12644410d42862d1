//! Fields with one value: text, numbers, yes or no.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{EnumSchema, MultiSelectSchema};
use crate::setters::setters;
use crate::text::{fixed_text, text_enum};
use crate::{JsonObject, number, reread};

/// A field of a form.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[serde(untagged)]
pub enum PrimitiveSchema {
    /// Text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several texts.
    Enum(EnumSchema),
    /// Some of several texts (2025-11-25 and later).
    MultiSelect(MultiSelectSchema),
    /// A kind of field that this library does not know.
    Other(JsonObject),
}

impl PrimitiveSchema {
    /// What the field is called.
    pub fn title(&self) -> Option<&str> {
        match self {
            Self::String(field) => field.title.as_deref(),
            Self::Number(field) => field.title.as_deref(),
            Self::Boolean(field) => field.title.as_deref(),
            Self::Enum(field) => field.title.as_deref(),
            Self::MultiSelect(field) => field.title.as_deref(),
            Self::Other(members) => members.get("title").and_then(Value::as_str),
        }
    }

    /// What the field is for.
    pub fn description(&self) -> Option<&str> {
        match self {
            Self::String(field) => field.description.as_deref(),
            Self::Number(field) => field.description.as_deref(),
            Self::Boolean(field) => field.description.as_deref(),
            Self::Enum(field) => field.description.as_deref(),
            Self::MultiSelect(field) => field.description.as_deref(),
            Self::Other(members) => members.get("description").and_then(Value::as_str),
        }
    }

    /// The value that the field begins with.
    // spec: ELIC-07
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::String(field) => field.default.clone().map(Value::from),
            Self::Number(field) => field.default.map(|number| field.value(number)),
            Self::Boolean(field) => field.default.map(Value::from),
            Self::Enum(field) => field.default.clone().map(Value::from),
            Self::MultiSelect(field) => field.default.clone().map(Value::from),
            Self::Other(members) => members.get("default").cloned(),
        }
    }
}

/// Read by `type`, and choices by the member that has them.
impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = JsonObject::deserialize(deserializer)?;
        let has = |key: &str| members.contains_key(key);
        let items = members.get("items").and_then(Value::as_object);
        match members.get("type").and_then(Value::as_str) {
            Some("string") if has("enum") || has("oneOf") => {
                reread::members(&members).map(Self::Enum)
            }
            Some("string") => reread::members(&members).map(Self::String),
            Some("number" | "integer") => reread::members(&members).map(Self::Number),
            Some("boolean") => reread::members(&members).map(Self::Boolean),
            Some("array")
                if items.is_some_and(|it| it.contains_key("enum") || it.contains_key("anyOf")) =>
            {
                reread::members(&members).map(Self::MultiSelect)
            }
            _ => Ok(Self::Other(members)),
        }
    }
}

macro_rules! from_field {
    ($($kind:ident($field:ty),)*) => {
        $(impl From<$field> for PrimitiveSchema {
            fn from(field: $field) -> Self {
                Self::$kind(field)
            }
        })*
    };
}

from_field! {
    String(StringSchema),
    Number(NumberSchema),
    Boolean(BooleanSchema),
    Enum(EnumSchema),
    MultiSelect(MultiSelectSchema),
}

/// A field with text.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct StringSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// What the field is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the field is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The fewest characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// The most characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// What kind of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// What the field begins with (2025-11-25 and later).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

fixed_text!(StringType = "string");
fixed_text!(BooleanType = "boolean");

text_enum! {
    /// What kind of text a field has.
    pub enum StringFormat {
        /// An address for mail.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A day: `2026-07-28`.
        Date = "date",
        /// A day and a time of RFC 3339.
        DateTime = "date-time",
    }
}

impl StringSchema {
    /// Any text.
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, describe }

    /// Sets the fewest characters.
    #[must_use]
    pub fn min_length(mut self, characters: u64) -> Self {
        self.min_length = Some(characters);
        self
    }

    /// Sets the most characters.
    #[must_use]
    pub fn max_length(mut self, characters: u64) -> Self {
        self.max_length = Some(characters);
        self
    }

    /// Says what kind of text.
    #[must_use]
    pub fn format(mut self, format: StringFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets what the field begins with (2025-11-25 and later).
    #[must_use]
    pub fn default_value(mut self, text: impl Into<String>) -> Self {
        self.default = Some(text.into());
        self
    }
}

/// A field with a number.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NumberSchema {
    #[serde(rename = "type")]
    kind: NumberType,
    /// What the field is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the field is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The least number.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::plain_option"
    )]
    pub minimum: Option<f64>,
    /// The greatest number.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::plain_option"
    )]
    pub maximum: Option<f64>,
    /// What the field begins with (2025-11-25 and later).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "number::plain_option"
    )]
    pub default: Option<f64>,
}

/// Whether a number may have a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum NumberType {
    Number,
    Integer,
}

impl NumberSchema {
    fn of(kind: NumberType) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
        }
    }

    /// Any number.
    pub fn number() -> Self {
        Self::of(NumberType::Number)
    }

    /// A number without a fraction.
    pub fn integer() -> Self {
        Self::of(NumberType::Integer)
    }

    setters! { title, describe }

    /// Sets the least number.
    #[must_use]
    pub fn minimum(mut self, number: impl Into<f64>) -> Self {
        self.minimum = Some(number.into());
        self
    }

    /// Sets the greatest number.
    #[must_use]
    pub fn maximum(mut self, number: impl Into<f64>) -> Self {
        self.maximum = Some(number.into());
        self
    }

    /// Sets what the field begins with (2025-11-25 and later).
    #[must_use]
    pub fn default_value(mut self, number: impl Into<f64>) -> Self {
        self.default = Some(number.into());
        self
    }

    /// The number has no fraction.
    pub fn is_integer(&self) -> bool {
        self.kind == NumberType::Integer
    }

    /// A number as JSON, without a fraction where it is whole.
    fn value(&self, number: f64) -> Value {
        number::plain(&number, serde_json::value::Serializer).unwrap_or_default()
    }
}

/// A field with yes or no.
// spec: ELIC-05
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BooleanSchema {
    #[serde(rename = "type")]
    kind: BooleanType,
    /// What the field is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the field is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What the field begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

impl BooleanSchema {
    /// Yes or no.
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, describe }

    /// Sets what the field begins with.
    #[must_use]
    pub fn default_value(mut self, yes: bool) -> Self {
        self.default = Some(yes);
        self
    }
}
