//! Fields with one value: text, numbers, yes or no.

use serde_json::Value;

use super::{EnumSchema, MultiSelectSchema};
use crate::json::{Piece, members, read_and_written, read_via, written_as_content};
use crate::setters::setters;
use crate::text::{fixed_text, plain_enum, text_enum};
use crate::{JsonObject, number, reread};

/// A field of a form.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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
    #[inline]
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
    #[inline]
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
    #[inline]
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
/// Tells the kinds apart by their members.
#[inline]
fn read_field(members: JsonObject) -> Result<PrimitiveSchema, String> {
    let has = |key: &str| members.contains_key(key);
    let items = members.get("items").and_then(Value::as_object);
    match members.get("type").and_then(Value::as_str) {
        Some("string") if has("enum") || has("oneOf") => {
            reread::members(&members).map(PrimitiveSchema::Enum)
        }
        Some("string") => reread::members(&members).map(PrimitiveSchema::String),
        Some("number" | "integer") => reread::members(&members).map(PrimitiveSchema::Number),
        Some("boolean") => reread::members(&members).map(PrimitiveSchema::Boolean),
        Some("array")
            if items.is_some_and(|it| it.contains_key("enum") || it.contains_key("anyOf")) =>
        {
            reread::members(&members).map(PrimitiveSchema::MultiSelect)
        }
        _ => Ok(PrimitiveSchema::Other(members)),
    }
}

read_via!(
    PrimitiveSchema,
    Self::Other(JsonObject::new()),
    |members: JsonObject| read_field(members)
);
written_as_content!(PrimitiveSchema {
    String,
    Number,
    Boolean,
    Enum,
    MultiSelect,
    Other
});
read_and_written!(PrimitiveSchema);

macro_rules! from_field {
    ($($kind:ident($field:ty),)*) => {
        $(impl From<$field> for PrimitiveSchema {
            #[inline]
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StringSchema {
    kind: StringType,
    /// What the field is called.
    pub title: Option<String>,
    /// What the field is for.
    pub description: Option<String>,
    /// The fewest characters.
    pub min_length: Option<u64>,
    /// The most characters.
    pub max_length: Option<u64>,
    /// What kind of text.
    pub format: Option<StringFormat>,
    /// What the field begins with (2025-11-25 and later).
    pub default: Option<String>,
}

members!(StringSchema as "a text field" {
    "type" => kind,
    "title" => title or nothing,
    "description" => description or nothing,
    "minLength" => min_length or nothing,
    "maxLength" => max_length or nothing,
    "format" => format or nothing,
    "default" => default or nothing,
});

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
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, describe }

    /// Sets the fewest characters.
    #[must_use]
    #[inline]
    pub fn min_length(mut self, characters: u64) -> Self {
        self.min_length = Some(characters);
        self
    }

    /// Sets the most characters.
    #[must_use]
    #[inline]
    pub fn max_length(mut self, characters: u64) -> Self {
        self.max_length = Some(characters);
        self
    }

    /// Says what kind of text.
    #[must_use]
    #[inline]
    pub fn format(mut self, format: StringFormat) -> Self {
        self.format = Some(format);
        self
    }

    /// Sets what the field begins with (2025-11-25 and later).
    #[must_use]
    #[inline]
    pub fn default_value(mut self, text: impl Into<String>) -> Self {
        self.default = Some(text.into());
        self
    }
}

/// A field with a number.
// spec: ELIC-05, ELIC-06
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    kind: NumberType,
    /// What the field is called.
    pub title: Option<String>,
    /// What the field is for.
    pub description: Option<String>,
    /// The least number.
    pub minimum: Option<f64>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// What the field begins with (2025-11-25 and later).
    pub default: Option<f64>,
}

members!(NumberSchema as "a number field" {
    "type" => kind,
    "title" => title or nothing,
    "description" => description or nothing,
    "minimum" => minimum or nothing,
    "maximum" => maximum or nothing,
    "default" => default or nothing,
});

/// Whether a number may have a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberType {
    Number,
    Integer,
}

plain_enum!(NumberType { Number = "number", Integer = "integer", } first Number);

impl NumberSchema {
    #[inline]
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
    #[inline]
    pub fn number() -> Self {
        Self::of(NumberType::Number)
    }

    /// A number without a fraction.
    #[inline]
    pub fn integer() -> Self {
        Self::of(NumberType::Integer)
    }

    setters! { title, describe }

    /// Sets the least number.
    #[must_use]
    #[inline]
    pub fn minimum(mut self, number: impl Into<f64>) -> Self {
        self.minimum = Some(number.into());
        self
    }

    /// Sets the greatest number.
    #[must_use]
    #[inline]
    pub fn maximum(mut self, number: impl Into<f64>) -> Self {
        self.maximum = Some(number.into());
        self
    }

    /// Sets what the field begins with (2025-11-25 and later).
    #[must_use]
    #[inline]
    pub fn default_value(mut self, number: impl Into<f64>) -> Self {
        self.default = Some(number.into());
        self
    }

    /// The number has no fraction.
    #[inline]
    pub fn is_integer(&self) -> bool {
        self.kind == NumberType::Integer
    }

    /// A number as JSON, without a fraction where it is whole.
    #[inline]
    fn value(&self, number: f64) -> Value {
        match number::piece(number) {
            Piece::Whole(number) => number.into(),
            _ => number.into(),
        }
    }
}

/// A field with yes or no.
// spec: ELIC-05
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BooleanSchema {
    kind: BooleanType,
    /// What the field is called.
    pub title: Option<String>,
    /// What the field is for.
    pub description: Option<String>,
    /// What the field begins with.
    pub default: Option<bool>,
}

members!(BooleanSchema as "a yes or no field" {
    "type" => kind,
    "title" => title or nothing,
    "description" => description or nothing,
    "default" => default or nothing,
});

impl BooleanSchema {
    /// Yes or no.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    setters! { title, describe }

    /// Sets what the field begins with.
    #[must_use]
    #[inline]
    pub fn default_value(mut self, yes: bool) -> Self {
        self.default = Some(yes);
        self
    }
}
