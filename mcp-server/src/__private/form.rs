//! Helpers for the code that `#[derive(Elicit)]` generates.

use mcp_types::{
    Choice, Choices, EnumSchema, FormError, FormSchema, JsonObject, MultiSelectSchema,
    NumberSchema, StringFormat, StringSchema,
};
use serde_json::Value;

use crate::ask::{ElicitChoice, ElicitField};

/// Adds a field of type `T`, which is optional if `T` is an `Option`.
pub fn field<T: ElicitField>(form: FormSchema, name: &str, field: T::Schema) -> FormSchema {
    if T::OPTIONAL {
        form.optional(name, field)
    } else {
        form.required(name, field)
    }
}

/// Removes the answer from a field of type `T`, and decodes it.
///
/// # Errors
///
/// Returns a [`FormError`] that names the field.
pub fn answer<T: ElicitField>(answers: &mut JsonObject, name: &str) -> Result<T, FormError> {
    T::read(answers.remove(name)).map_err(|problem| FormError {
        field: name.to_owned(),
        problem,
    })
}

/// Returns an enum's values. If one of them has a title, a value without one is its own title.
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

/// Returns the form field for an enum.
pub fn choice_field<C: ElicitChoice>() -> EnumSchema {
    EnumSchema::new(C::choices())
}

/// Sets the initial value of an enum's field.
pub fn choice_default<C: ElicitChoice>(field: EnumSchema, value: &C) -> EnumSchema {
    field.default_value(value.as_text())
}

/// Decodes one value of an enum.
///
/// # Errors
///
/// Returns a message that continues the field's name, such as "is missing".
pub fn read_choice<C: ElicitChoice>(answer: Option<&Value>) -> Result<C, String> {
    crate::ask::read_choice(answer.ok_or("is missing")?)
}

/// A field schema with a minimum and a maximum.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(range = …)]` needs a field that is a number",
    label = "the field is not a number"
)]
pub trait RangeField: Sized {
    /// Sets the bounds that are present. The field's type sets the others.
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

/// A field schema with a length.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(length = …)]` needs a field that is a text or a list",
    label = "the field is not a text or a list"
)]
pub trait LengthField: Sized {
    /// Sets the minimum and maximum number of characters or items.
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

/// A field schema with a format.
#[diagnostic::on_unimplemented(
    message = "`#[elicit(format = …)]` needs a field that is a text",
    label = "the field is not a text"
)]
pub trait FormatField: Sized {
    /// Sets the format.
    #[must_use]
    fn format(self, format: &str) -> Self;
}

impl FormatField for StringSchema {
    fn format(self, format: &str) -> Self {
        self.format(StringFormat::from(format))
    }
}
