//! Rust types as forms.

use mcp_types::{
    BooleanSchema, Choices, FormError, FormSchema, JsonObject, MultiSelectSchema, NumberSchema,
    PrimitiveSchema, StringSchema,
};
use serde_json::Value;

/// A form: what a user is asked by [`Ask::form`](crate::Ask::form). Derive it for a struct whose
/// fields a form can show:
///
/// ```ignore
/// #[derive(mcp::Elicit)]
/// struct Booking {
///     /// Who is coming
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
/// #[derive(mcp::Elicit)]
/// enum Extra {
///     /// A table at the window
///     Window,
///     Candles,
/// }
/// ```
///
/// | type of a field | what the user sees |
/// |---|---|
/// | `String` | a text |
/// | integers, floats | a number |
/// | `bool` | yes or no |
/// | an enum with `#[derive(Elicit)]` | a choice of one |
/// | `Vec` of such an enum | a choice of some |
/// | `Option` of any of these | the same, which may stay empty |
// spec: ELIC-04, ELIC-05, ELIC-06
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no form",
    note = "put `#[derive(mcp::Elicit)]` on a struct of texts, numbers, `bool`s and enums, or ask with `Ask::raw_form`"
)]
pub trait Elicit: Sized {
    /// The form.
    fn form() -> FormSchema;

    /// Reads the answers, which fit the form.
    ///
    /// # Errors
    ///
    /// [`FormError`] that names a field whose answer goes beyond the field's type.
    fn from_answers(answers: JsonObject) -> Result<Self, FormError>;
}

/// A type that a field of a form can have.
#[diagnostic::on_unimplemented(
    message = "a form cannot show a field of type `{Self}`",
    label = "no field of a form",
    note = "a field is a `String`, a number, a `bool`, an enum with `#[derive(mcp::Elicit)]`, a `Vec` of such an enum, or an `Option` of one of these",
    note = "forms are flat: ask for the fields of an inner struct one by one"
)]
pub trait ElicitField: Sized {
    /// What kind of field it is.
    type Schema: Into<PrimitiveSchema>;
    /// What the user gives: the type itself, or what an `Option` holds.
    type Given;
    /// The field may stay empty.
    const OPTIONAL: bool = false;

    /// The field.
    fn schema() -> Self::Schema;

    /// Sets what the field begins with.
    fn with_default(field: Self::Schema, value: Self::Given) -> Self::Schema;

    /// Reads the answer; `None` when there is none.
    ///
    /// # Errors
    ///
    /// What is wrong with it, to be read behind the field's name.
    fn read(answer: Option<Value>) -> Result<Self, String>;
}

/// An enum whose values a user picks from. `#[derive(mcp::Elicit)]` on an enum
/// without fields writes it.
#[diagnostic::on_unimplemented(
    message = "a user cannot pick from values of type `{Self}`",
    note = "put `#[derive(mcp::Elicit)]` on an enum without fields"
)]
pub trait ElicitChoice: Sized {
    /// All values, and what the user reads.
    fn choices() -> Choices;

    /// The text of a value.
    fn as_text(&self) -> &'static str;

    /// The value of a text.
    fn from_text(text: &str) -> Option<Self>;
}

#[inline]
fn missing() -> String {
    "is missing".to_owned()
}

#[inline]
fn given(answer: Option<Value>) -> Result<Value, String> {
    answer.ok_or_else(missing)
}

impl ElicitField for String {
    type Schema = StringSchema;
    type Given = Self;

    #[inline]
    fn schema() -> StringSchema {
        StringSchema::new()
    }

    #[inline]
    fn with_default(field: StringSchema, value: Self) -> StringSchema {
        field.default_value(value)
    }

    #[inline]
    fn read(answer: Option<Value>) -> Result<Self, String> {
        match given(answer)? {
            Value::String(text) => Ok(text),
            _ => Err("must be a text".to_owned()),
        }
    }
}

impl ElicitField for bool {
    type Schema = BooleanSchema;
    type Given = Self;

    #[inline]
    fn schema() -> BooleanSchema {
        BooleanSchema::new()
    }

    #[inline]
    fn with_default(field: BooleanSchema, value: Self) -> BooleanSchema {
        field.default_value(value)
    }

    #[inline]
    fn read(answer: Option<Value>) -> Result<Self, String> {
        let answer = given(answer)?;
        answer
            .as_bool()
            .ok_or_else(|| "must be true or false".to_owned())
    }
}

macro_rules! floats {
    ($($float:ty),*) => {
        $(impl ElicitField for $float {
            type Schema = NumberSchema;
            type Given = Self;

            #[inline]
            fn schema() -> NumberSchema {
                NumberSchema::number()
            }

            #[inline]
            fn with_default(field: NumberSchema, value: Self) -> NumberSchema {
                field.default_value(value)
            }

            #[allow(clippy::cast_possible_truncation, reason = "a float holds what fits best")]
            #[inline]
            fn read(answer: Option<Value>) -> Result<Self, String> {
                let number = given(answer)?.as_f64();
                number
                    .map(|number| number as $float)
                    .ok_or_else(|| "must be a number".to_owned())
            }
        })*
    };
}

floats!(f32, f64);

/// Whole numbers up to this one are floats without a loss, so a form can have them as limits.
const EXACT: i128 = 1 << 53;

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl ElicitField for $integer {
            type Schema = NumberSchema;
            type Given = Self;

            #[inline]
            fn schema() -> NumberSchema {
                let mut field = NumberSchema::integer();
                field.minimum = exact(i128::try_from(Self::MIN).ok());
                field.maximum = exact(i128::try_from(Self::MAX).ok());
                field
            }

            #[allow(clippy::cast_precision_loss, reason = "a form has floats")]
            #[inline]
            fn with_default(field: NumberSchema, value: Self) -> NumberSchema {
                field.default_value(value as f64)
            }

            #[inline]
            fn read(answer: Option<Value>) -> Result<Self, String> {
                let number = whole(&given(answer)?).ok_or("must be a whole number")?;
                Self::try_from(number).map_err(|_| format!("is {number}, which is out of range"))
            }
        })*
    };
}

integers!(i8, i16, i32, i64, isize, u8, u16, u32, u64, usize);

#[expect(clippy::cast_precision_loss, reason = "checked")]
#[inline]
fn exact(limit: Option<i128>) -> Option<f64> {
    let limit = limit.filter(|limit| limit.abs() <= EXACT)?;
    Some(limit as f64)
}

/// A number without a fraction, however it is written.
#[expect(clippy::cast_possible_truncation, reason = "checked")]
#[inline]
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
        let Value::Array(picked) = given(answer)? else {
            return Err("must be a list of texts".to_owned());
        };
        picked.iter().map(choice).collect()
    }
}

/// Reads one choice.
pub(crate) fn choice<C: ElicitChoice>(answer: &Value) -> Result<C, String> {
    let text = answer.as_str().ok_or("must be a text")?;
    C::from_text(text).ok_or_else(|| format!("is {text:?}, which is no choice"))
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
