//! What `#[derive(Elicit)]` writes calls to.

use serde_json::Value;

use mcp_types::{Choice, Choices, FormError, FormSchema, JsonObject};
use mcp_types::{EnumSchema, MultiSelectSchema, NumberSchema, StringFormat, StringSchema};

use crate::ask::{ElicitChoice, ElicitField};

/// Adds a field of type `T`.
pub fn field<T: ElicitField>(form: FormSchema, name: &str, field: T::Schema) -> FormSchema {
    match T::OPTIONAL {
        true => form.optional(name, field),
        false => form.required(name, field),
    }
}

/// Takes the answer of a field of type `T`.
///
/// # Errors
///
/// [`FormError`] that names the field.
pub fn answer<T: ElicitField>(answers: &mut JsonObject, name: &str) -> Result<T, FormError> {
    T::read(answers.remove(name)).map_err(|problem| FormError::new(name, problem))
}

/// The values of an enum: titled when one of them has a title.
pub fn choices(values: &[(&str, Option<String>)]) -> Choices {
    if values.iter().all(|(_, title)| title.is_none()) {
        let values: Vec<_> = values
            .iter()
            .map(|(value, _)| (*value).to_owned())
            .collect();
        return values.into();
    }
    let titled = values.iter().map(|(value, title)| {
        let title = title.clone().unwrap_or_else(|| (*value).to_owned());
        Choice::new(*value, title)
    });
    titled.collect::<Vec<_>>().into()
}

/// The field of an enum.
pub fn choice_field<C: ElicitChoice>() -> EnumSchema {
    EnumSchema::new(C::choices())
}

/// Sets what the field of an enum begins with.
pub fn choice_default<C: ElicitChoice>(field: EnumSchema, value: &C) -> EnumSchema {
    field.default_value(value.as_text())
}

/// Reads one value of an enum.
///
/// # Errors
///
/// What is wrong with it.
pub fn read_choice<C: ElicitChoice>(answer: Option<&Value>) -> Result<C, String> {
    crate::ask::choice(answer.ok_or("is missing")?)
}

/// A field that has a least and a greatest value.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(range = …)]` is for numbers, and this field is none",
    label = "no number"
)]
pub trait RangeField: Sized {
    /// Sets them; narrower than what the type says.
    #[must_use]
    fn range(self, from: Option<f64>, to: Option<f64>) -> Self;
}

impl RangeField for NumberSchema {
    fn range(mut self, from: Option<f64>, to: Option<f64>) -> Self {
        self.minimum = from.or(self.minimum);
        self.maximum = to.or(self.maximum);
        self
    }
}

/// A field that has a length.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(length = …)]` is for texts and lists, and this field is neither",
    label = "no text, no list"
)]
pub trait LengthField: Sized {
    /// Sets the fewest and the most characters, or items.
    #[must_use]
    fn length(self, from: Option<u64>, to: Option<u64>) -> Self;
}

impl LengthField for StringSchema {
    fn length(mut self, from: Option<u64>, to: Option<u64>) -> Self {
        (self.min_length, self.max_length) = (from, to);
        self
    }
}

impl LengthField for MultiSelectSchema {
    fn length(mut self, from: Option<u64>, to: Option<u64>) -> Self {
        (self.min_items, self.max_items) = (from, to);
        self
    }
}

/// A field that has a format.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(format = …)]` is for texts, and this field is none",
    label = "no text"
)]
pub trait FormatField: Sized {
    /// Sets it.
    #[must_use]
    fn format(self, format: &str) -> Self;
}

impl FormatField for StringSchema {
    fn format(self, format: &str) -> Self {
        self.format(StringFormat::from(format))
    }
}
