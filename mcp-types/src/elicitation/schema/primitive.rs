//! Fields of forms: strings, numbers, booleans.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::string_type::StringType;
use super::{EnumSchema, MultiSelectSchema};
use crate::{
    de, extra::JsonObject, number, raw::RawObject, setters::setters, tagged, text_enum::text_enum,
};

/// A form field.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(untagged)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// A string.
    #[cfg_attr(
        feature = "schemars",
        schemars(extend("not" = {"anyOf": [{"required": ["enum"]}, {"required": ["oneOf"]}]}))
    )]
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// A boolean.
    Boolean(BooleanSchema),
    /// One of several values.
    Enum(EnumSchema),
    /// Several of several values (2025-11-25 and later).
    MultiSelect(MultiSelectSchema),
    /// A field of another kind: all members.
    #[cfg_attr(
        feature = "schemars",
        schemars(extend("not" = {"anyOf": [
            {
                "properties": {"type": {"enum": ["string", "number", "integer", "boolean"]}},
                "required": ["type"],
            },
            {
                "properties": {
                    "type": {"const": "array"},
                    "items": {"type": "object", "anyOf": [{"required": ["enum"]}, {"required": ["anyOf"]}]},
                },
                "required": ["type", "items"],
            },
        ]}))
    )]
    Other(JsonObject),
}

impl PrimitiveSchema {
    /// Returns the field's display name.
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

    /// Returns the field's description.
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

    /// Returns the field's default value.
    // spec: ELIC-07
    pub fn default_value(&self) -> Option<Value> {
        match self {
            Self::String(field) => field.default.clone().map(Value::from),
            Self::Number(field) => field.default.map(number::to_value),
            Self::Boolean(field) => field.default.map(Value::from),
            Self::Enum(field) => field.default.clone().map(Value::from),
            Self::MultiSelect(field) => field.default.clone().map(Value::from),
            Self::Other(members) => members.get("default").cloned(),
        }
    }
}

/// Reads the members that determine the variant first: `type`, and the presence of `enum`, `oneOf` or
/// `items`.
impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Tag {
            r#type: Option<Value>,
            #[serde(default, deserialize_with = "de::present")]
            r#enum: Option<Value>,
            #[serde(default, deserialize_with = "de::present")]
            one_of: Option<Value>,
            items: Option<Value>,
        }

        let object = RawObject::deserialize(deserializer)?;
        let tag: Tag = tagged::from_object(&object)?;
        let has_values = |items: &Value| items.get("enum").or(items.get("anyOf")).is_some();
        match tag.r#type.as_ref().and_then(Value::as_str) {
            Some("string") if tag.r#enum.is_some() || tag.one_of.is_some() => {
                tagged::from_object(&object).map(Self::Enum)
            }
            Some("string") => tagged::from_object(&object).map(Self::String),
            Some("number" | "integer") => tagged::from_object(&object).map(Self::Number),
            Some("boolean") => tagged::from_object(&object).map(Self::Boolean),
            Some("array") if tag.items.as_ref().is_some_and(has_values) => {
                tagged::from_object(&object).map(Self::MultiSelect)
            }
            _ => tagged::from_object(&object).map(Self::Other),
        }
    }
}

/// Implements `From<Field>` for each variant.
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

/// Field with a string.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StringSchema {
    #[serde(rename = "type")]
    kind: StringType,
    /// The field's display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The field's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Minimum number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u64>,
    /// Maximum number of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// The string's format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<StringFormat>,
    /// Default value (2025-11-25 and later).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

text_enum! {
    /// The format of a string.
    pub enum StringFormat {
        /// An email address.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date: `2026-07-28`.
        Date = "date",
        /// A date and time of RFC 3339.
        DateTime = "date-time",
    }
}

impl StringSchema {
    /// Creates a field without restrictions.
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, description }

    setters! {
        /// Sets the minimum number of characters.
        min_length(characters: u64) => min_length;
        /// Sets the maximum number of characters.
        max_length(characters: u64) => max_length;
        /// Sets the format.
        format(format: StringFormat) => format;
        /// Sets the default value (2025-11-25 and later).
        default_value(text: impl Into<String>) => default;
    }
}

/// Field with a number.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NumberSchema {
    #[serde(rename = "type")]
    kind: NumberType,
    /// The field's display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The field's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Smallest allowed number.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub minimum: Option<f64>,
    /// Greatest allowed number.
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub maximum: Option<f64>,
    /// Default value (2025-11-25 and later).
    #[serde(
        serialize_with = "number::serialize_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<f64>,
}

/// The values of `type` for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum NumberType {
    Number,
    Integer,
}

impl NumberSchema {
    fn new(kind: NumberType) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
        }
    }

    /// Creates a field for any number.
    pub fn number() -> Self {
        Self::new(NumberType::Number)
    }

    /// Creates a field for whole numbers.
    pub fn integer() -> Self {
        Self::new(NumberType::Integer)
    }

    setters! { title, description }

    setters! {
        /// Sets the smallest allowed number.
        minimum(number: impl Into<f64>) => minimum;
        /// Sets the greatest allowed number.
        maximum(number: impl Into<f64>) => maximum;
        /// Sets the default value (2025-11-25 and later).
        default_value(number: impl Into<f64>) => default;
    }

    /// Returns `true` if the field is for whole numbers.
    pub(crate) fn is_integer(&self) -> bool {
        self.kind == NumberType::Integer
    }
}

/// Field with a boolean.
// spec: ELIC-05
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BooleanSchema {
    #[serde(rename = "type")]
    kind: BooleanType,
    /// The field's display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The field's description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Default value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<bool>,
}

/// The value `boolean` of `type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum BooleanType {
    #[default]
    Boolean,
}

impl BooleanSchema {
    /// Creates a field.
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, description }

    setters! {
        /// Sets the default value.
        default_value(yes: bool) => default;
    }
}
