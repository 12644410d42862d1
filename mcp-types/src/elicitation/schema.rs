//! Schemas of forms: objects with fields of a few primitive types.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema>

mod check;
mod choice;
mod primitive;
mod string_type;

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde::{Serialize, Serializer};

pub use check::FormError;
pub use choice::{Choice, Choices, EnumSchema, MultiSelectSchema};
pub use primitive::{BooleanSchema, NumberSchema, PrimitiveSchema, StringFormat, StringSchema};

use crate::de;

/// The fields of a form in display order.
///
/// # Examples
///
/// ```
/// use mcp::types::{BooleanSchema, FormSchema, NumberSchema, StringSchema};
///
/// let form = FormSchema::new()
///     .required("name", StringSchema::new().max_length(40))
///     .optional("age", NumberSchema::integer().minimum(18))
///     .optional("news", BooleanSchema::new().default_value(false));
/// assert_eq!(form.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["name", "age", "news"]);
/// ```
// spec: ELIC-04, JSCH-09
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FormSchema {
    /// JSON Schema dialect (2025-11-25 and later).
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    #[serde(rename = "type")]
    kind: ObjectType,
    properties: Fields,
    /// Names of the required fields.
    #[serde(
        default,
        deserialize_with = "de::null_to_default",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub required: Vec<String>,
}

/// The value `object` of `type`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ObjectType {
    #[default]
    Object,
}

impl FormSchema {
    /// Maximum number of form fields: 256.
    const MAX_FIELDS: usize = 256;

    /// Creates a form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a required field, or replaces the field with the same name.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        if !self.is_required(&name) {
            self.required.push(name.clone());
        }
        self.properties.set(name, field.into());
        self
    }

    /// Adds an optional field, or replaces the field with the same name.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        self.required.retain(|required| *required != name);
        self.properties.set(name, field.into());
        self
    }

    /// Returns names and fields in their order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &PrimitiveSchema)> {
        let fields = self.properties.0.iter();
        fields.map(|(name, field)| (&**name, field))
    }

    /// Returns names and mutable fields in their order.
    pub fn fields_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut PrimitiveSchema)> {
        let fields = self.properties.0.iter_mut();
        fields.map(|(name, field)| (&**name, field))
    }

    /// Returns `true` if the field is required.
    fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }
}

/// Fields in their order, an object in JSON.
#[derive(Debug, Clone, Default, PartialEq)]
struct Fields(Vec<(String, PrimitiveSchema)>);

impl Fields {
    fn set(&mut self, name: String, field: PrimitiveSchema) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = field,
            None => self.0.push((name, field)),
        }
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, field)| (name, field)))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

#[cfg(feature = "schemars")]
impl schemars::JsonSchema for Fields {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Fields".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let field = generator.subschema_for::<PrimitiveSchema>();
        schemars::json_schema!({"type": "object", "additionalProperties": field})
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fields of a form")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(name) = map.next_key()? {
            if fields.0.len() == FormSchema::MAX_FIELDS {
                return Err(A::Error::custom("the form has too many fields"));
            }
            fields.set(name, map.next_value()?);
        }
        Ok(fields)
    }
}
