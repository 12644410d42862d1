//! Forms: flat objects of a few simple kinds of fields.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema>

mod check;
mod choice;
mod primitive;

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use check::FormError;
pub use choice::{Choice, Choices, EnumSchema, MultiSelectSchema};
pub use primitive::{BooleanSchema, NumberSchema, PrimitiveSchema, StringFormat, StringSchema};

use crate::text::fixed_text;

/// The fields of a form, in the order in which they are shown.
///
/// # Examples
///
/// ```
/// use mcp_types::{BooleanSchema, FormSchema, NumberSchema, StringSchema};
///
/// let form = FormSchema::new()
///     .required("name", StringSchema::new().max_length(40))
///     .optional("age", NumberSchema::integer().minimum(18))
///     .optional("news", BooleanSchema::new().default_value(false));
/// assert_eq!(form.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["name", "age", "news"]);
/// ```
// spec: ELIC-04, JSCH-09
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FormSchema {
    /// The dialect of JSON Schema (2025-11-25 and later).
    #[serde(default, rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    #[serde(rename = "type")]
    kind: ObjectType,
    properties: Fields,
    /// The names of the fields that have to be filled in.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub required: Vec<String>,
}

fixed_text!(ObjectType = "object");

impl FormSchema {
    /// A form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that has to be filled in.
    #[must_use]
    pub fn required(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        if !self.is_required(&name) {
            self.required.push(name.clone());
        }
        self.properties.set(name, field.into());
        self
    }

    /// Adds a field that may stay empty.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        self.required.retain(|required| *required != name);
        self.properties.set(name, field.into());
        self
    }

    /// The fields by name, in their order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &PrimitiveSchema)> {
        self.properties
            .0
            .iter()
            .map(|(name, field)| (&**name, field))
    }

    /// The fields by name, in their order, to be changed.
    pub fn fields_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut PrimitiveSchema)> {
        self.properties
            .0
            .iter_mut()
            .map(|(name, field)| (&**name, field))
    }

    /// A field by its name.
    pub fn field(&self, name: &str) -> Option<&PrimitiveSchema> {
        let mut fields = self.fields();
        fields.find_map(|(key, field)| (key == name).then_some(field))
    }

    /// The field has to be filled in.
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }
}

/// Fields in their order. Written and read as an object.
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
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the fields of a form")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((name, field)) = map.next_entry::<String, _>()? {
                    if fields.0.len() == FormSchema::MAX_FIELDS {
                        return Err(A::Error::custom("the form has too many fields"));
                    }
                    fields.set(name, field);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}
