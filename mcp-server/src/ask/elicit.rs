//! Rust types as forms.

use mcp_types::{
    BooleanSchema, Choices, FormError, FormSchema, JsonObject, MultiSelectSchema, NumberSchema,
    PrimitiveSchema, StringSchema,
};
use serde_json::Value;

/// A form for [`Ask::form`](crate::Ask::form). `#[derive(mcp::Elicit)]` implements it for a struct
/// whose fields a form can contain:
///
/// ```
/// use mcp::prelude::*;
///
/// #[derive(Elicit)]
/// struct Booking {
///     /// Name on the reservation
///     #[elicit(title = "Name", length = 1..=40)]
///     name: String,
///     #[elicit(range = 1..=12, default = 2)]
///     guests: u8,
///     #[elicit(format = "email")]
///     mail: Option<String>,
///     #[elicit(default = vec![Extra::Window])]
///     extras: Vec<Extra>,
/// }
///
/// #[derive(Elicit)]
/// enum Extra {
///     /// A table at the window
///     Window,
///     Candles,
/// }
/// ```
///
/// | type of a field | field of the form |
/// |---|---|
/// | `String` | text |
/// | integers, floats | number |
/// | `bool` | yes or no |
/// | an enum with `#[derive(Elicit)]` | choice of one value |
/// | `Vec` of such an enum | choice of several values |
/// | `Option` of any of these | the same, optional |
// spec: ELIC-05, ELIC-06
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a form",
    note = "put `#[derive(mcp::Elicit)]` on a struct of texts, numbers, `bool`s and enums, or ask with `Ask::raw_form`"
)]
pub trait Elicit: Sized {
    /// Returns the form.
    fn form() -> FormSchema;

    /// Decodes answers that match the form.
    ///
    /// # Errors
    ///
    /// Returns a [`FormError`] that names a field whose answer is outside the range of the field's
    /// type.
    fn from_answers(answers: JsonObject) -> Result<Self, FormError>;
}

/// A type of a form field.
#[diagnostic::on_unimplemented(
    message = "a form cannot show a field of type `{Self}`",
    label = "no field of a form",
    note = "a field is a `String`, a number, a `bool`, an enum with `#[derive(mcp::Elicit)]`, a `Vec` of such an enum, or an `Option` of one of these",
    note = "forms are flat: ask for the fields of an inner struct one by one"
)]
pub trait ElicitField: Sized {
    /// The field's schema.
    type Schema: Into<PrimitiveSchema>;
    /// Type of the user's input: the type itself, or the type inside an `Option`.
    type Given;
    /// `true` for a field that may stay empty.
    const OPTIONAL: bool = false;

    /// Returns the field's schema.
    fn schema() -> Self::Schema;

    /// Sets the field's initial value.
    fn with_default(field: Self::Schema, value: Self::Given) -> Self::Schema;

    /// Decodes the answer; `None` is an empty field.
    ///
    /// # Errors
    ///
    /// Returns a message that continues the field's name, such as "is missing".
    fn read(answer: Option<Value>) -> Result<Self, String>;
}

/// An enum whose values a user chooses from. `#[derive(mcp::Elicit)]` implements it for an enum
/// without fields.
#[diagnostic::on_unimplemented(
    message = "a user cannot pick from values of type `{Self}`",
    note = "put `#[derive(mcp::Elicit)]` on an enum without fields"
)]
pub trait ElicitChoice: Sized {
    /// Returns all values with the titles that the user reads.
    fn choices() -> Choices;

    /// Returns the name of a value in the answer.
    fn as_text(&self) -> &'static str;

    /// Returns the value with this name.
    fn from_text(text: &str) -> Option<Self>;
}

fn required(answer: Option<Value>) -> Result<Value, String> {
    answer.ok_or_else(|| "is missing".to_owned())
}

macro_rules! fields {
    ($($field:ty: $schema:ident::$new:ident, $decode:expr, $expected:literal;)*) => {
        $(impl ElicitField for $field {
            type Schema = $schema;
            type Given = Self;

            fn schema() -> $schema {
                $schema::$new()
            }

            fn with_default(field: $schema, value: Self) -> $schema {
                field.default_value(value)
            }

            fn read(answer: Option<Value>) -> Result<Self, String> {
                let decoded = $decode(&required(answer)?);
                decoded.ok_or_else(|| concat!("must be ", $expected).to_owned())
            }
        })*
    };
}

fields! {
    String: StringSchema::new, |answer: &Value| answer.as_str().map(str::to_owned), "a text";
    bool: BooleanSchema::new, Value::as_bool, "true or false";
    f32: NumberSchema::number, nearest, "a number";
    f64: NumberSchema::number, Value::as_f64, "a number";
}

#[expect(clippy::cast_possible_truncation, reason = "takes the nearest value")]
fn nearest(answer: &Value) -> Option<f32> {
    answer.as_f64().map(|number| number as f32)
}

/// Limit up to which floats represent all integers exactly.
const MAX_EXACT_FLOAT: i128 = 1 << 53;

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl ElicitField for $integer {
            type Schema = NumberSchema;
            type Given = Self;

            fn schema() -> NumberSchema {
                let mut field = NumberSchema::integer();
                field.minimum = exact(i128::try_from(Self::MIN).ok());
                field.maximum = exact(i128::try_from(Self::MAX).ok());
                field
            }

            #[allow(clippy::cast_precision_loss, reason = "limits of a form are floats")]
            fn with_default(field: NumberSchema, value: Self) -> NumberSchema {
                field.default_value(value as f64)
            }

            fn read(answer: Option<Value>) -> Result<Self, String> {
                let number = whole(&required(answer)?).ok_or("must be a whole number")?;
                Self::try_from(number).map_err(|_| format!("is {number}, which is out of range"))
            }
        })*
    };
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

/// Converts a limit that a float represents exactly.
#[expect(clippy::cast_precision_loss, reason = "the limit is checked")]
fn exact(limit: Option<i128>) -> Option<f64> {
    let limit = limit.filter(|limit| limit.abs() <= MAX_EXACT_FLOAT)?;
    Some(limit as f64)
}

/// Returns a number without a fraction, also when it is written as `5.0`.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(answer: &Value) -> Option<i128> {
    let Value::Number(number) = answer else {
        return None;
    };
    number.as_i128().or_else(|| {
        let float = number.as_f64()?;
        (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128)
    })
}

impl<C: ElicitChoice> ElicitField for Vec<C> {
    type Schema = MultiSelectSchema;
    type Given = Self;

    fn schema() -> MultiSelectSchema {
        MultiSelectSchema::new(C::choices())
    }

    fn with_default(field: MultiSelectSchema, value: Self) -> MultiSelectSchema {
        field.default_value(value.iter().map(C::as_text))
    }

    fn read(answer: Option<Value>) -> Result<Self, String> {
        let Value::Array(picked) = required(answer)? else {
            return Err("must be a list of texts".to_owned());
        };
        picked.iter().map(read_choice).collect()
    }
}

/// Decodes one value of an enum.
pub(crate) fn read_choice<C: ElicitChoice>(answer: &Value) -> Result<C, String> {
    let text = answer.as_str().ok_or("must be a text")?;
    C::from_text(text).ok_or_else(|| format!("is {text:?}, which is not a choice"))
}

impl<T: ElicitField> ElicitField for Option<T> {
    type Schema = T::Schema;
    type Given = T::Given;
    const OPTIONAL: bool = true;

    fn schema() -> T::Schema {
        T::schema()
    }

    fn with_default(field: T::Schema, value: T::Given) -> T::Schema {
        T::with_default(field, value)
    }

    fn read(answer: Option<Value>) -> Result<Self, String> {
        match answer {
            None => Ok(None),
            some => T::read(some).map(Some),
        }
    }
}
