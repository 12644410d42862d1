//! Forms: flat objects of a few simple kinds of fields.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema>

mod check;
mod choice;
mod primitive;

pub use check::FormError;
pub use choice::{Choice, Choices, EnumSchema, MultiSelectSchema};
pub use primitive::{BooleanSchema, NumberSchema, PrimitiveSchema, StringFormat, StringSchema};

use crate::json::{Piece, Read, ReadEntries, Slot, Write, WriteEntries, members};
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
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FormSchema {
    /// The dialect of JSON Schema (2025-11-25 and later).
    pub dialect: Option<String>,
    kind: ObjectType,
    properties: Fields,
    /// The names of the fields that have to be filled in.
    pub required: Vec<String>,
}

members!(FormSchema as "a form" {
    "$schema" => dialect or nothing,
    "type" => kind,
    "properties" => properties,
    "required" => required or nothing,
});

fixed_text!(ObjectType = "object");

impl FormSchema {
    /// A form without fields.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that has to be filled in.
    #[must_use]
    #[inline]
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
    #[inline]
    pub fn optional(mut self, name: impl Into<String>, field: impl Into<PrimitiveSchema>) -> Self {
        let name = name.into();
        self.required.retain(|required| *required != name);
        self.properties.set(name, field.into());
        self
    }

    /// The fields by name, in their order.
    #[inline]
    pub fn fields(&self) -> impl ExactSizeIterator<Item = (&str, &PrimitiveSchema)> {
        self.properties
            .0
            .iter()
            .map(|(name, field)| (&**name, field))
    }

    /// The fields by name, in their order, to be changed.
    #[inline]
    pub fn fields_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut PrimitiveSchema)> {
        self.properties
            .0
            .iter_mut()
            .map(|(name, field)| (&**name, field))
    }

    /// A field by its name.
    #[inline]
    pub fn field(&self, name: &str) -> Option<&PrimitiveSchema> {
        let mut fields = self.fields();
        fields.find_map(|(key, field)| (key == name).then_some(field))
    }

    /// The field has to be filled in.
    #[inline]
    pub fn is_required(&self, name: &str) -> bool {
        self.required.iter().any(|required| required == name)
    }
}

/// Fields in their order. Written and read as an object.
#[derive(Debug, Clone, Default, PartialEq)]
struct Fields(Vec<(String, PrimitiveSchema)>);

impl Fields {
    #[inline]
    fn set(&mut self, name: String, field: PrimitiveSchema) -> &mut PrimitiveSchema {
        let known = self.0.iter().position(|(known, _)| *known == name);
        let at = known.unwrap_or(self.0.len());
        match known {
            Some(at) => self.0[at].1 = field,
            None => self.0.push((name, field)),
        }
        &mut self.0[at].1
    }
}

impl Write for Fields {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        Piece::Entries(self)
    }
}

impl WriteEntries for Fields {
    #[inline]
    fn give(&self, take: &mut dyn FnMut(&str, Piece<'_>)) {
        for (name, field) in &self.0 {
            take(name, field.piece());
        }
    }
}

impl Read for Fields {
    #[inline]
    fn blank() -> Self {
        Self::default()
    }

    #[inline]
    fn slot(&mut self) -> Slot<'_> {
        Slot::Entries(self)
    }
}

impl ReadEntries for Fields {
    #[inline]
    fn what(&self) -> &'static str {
        "the fields of a form"
    }

    #[inline]
    fn at(&mut self, name: String) -> Result<Slot<'_>, &'static str> {
        if self.0.len() == FormSchema::MAX_FIELDS {
            return Err("the form has too many fields");
        }
        Ok(self.set(name, PrimitiveSchema::blank()).slot())
    }
}
