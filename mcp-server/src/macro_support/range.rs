//! `#[arg(range = 1..=100)]`: published, and checked.

use std::fmt;

use serde_json::{Number, Value};

use mcp_types::JsonObject;

/// A bound of a range, or a number to compare with it.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "only macros see it")]
pub enum Limit {
    /// An integer.
    Int(i128),
    /// Any other number.
    Float(f64),
}

impl Limit {
    #[expect(clippy::cast_precision_loss, reason = "compared with a float anyway")]
    fn as_f64(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }

    fn less_than(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => one < two,
            _ => self.as_f64() < other.as_f64(),
        }
    }

    fn from_json(number: &Number) -> Option<Self> {
        let int = number.as_i128().map(Self::Int);
        int.or_else(|| number.as_f64().map(Self::Float))
    }

    /// `null` for what JSON has no number for.
    fn to_json(self) -> Value {
        match self {
            Self::Int(int) => Number::from_i128(int).map_or(Value::Null, Value::Number),
            Self::Float(float) => float.into(),
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => int.fmt(f),
            Self::Float(float) => float.fmt(f),
        }
    }
}

/// A number, or none: what `#[arg(range = …)]` can be put on.
#[diagnostic::on_unimplemented(
    message = "`#[arg(range = …)]` needs a number, and `{Self}` is none",
    label = "no number",
    note = "integers, `f32`, `f64` and `Option`s of them have a range"
)]
pub trait Ranged {
    /// The number.
    fn number(&self) -> Option<Limit>;
}

impl<T: Ranged> Ranged for Option<T> {
    fn number(&self) -> Option<Limit> {
        self.as_ref()?.number()
    }
}

macro_rules! numbers {
    ($($number:ty => $variant:ident),*) => {
        $(
            impl From<$number> for Limit {
                fn from(number: $number) -> Self {
                    Self::$variant(number.into())
                }
            }

            impl Ranged for $number {
                fn number(&self) -> Option<Limit> {
                    Some((*self).into())
                }
            }
        )*
    };
}

numbers!(
    i8 => Int, i16 => Int, i32 => Int, i64 => Int, i128 => Int,
    u8 => Int, u16 => Int, u32 => Int, u64 => Int, f32 => Float, f64 => Float
);

macro_rules! wide_numbers {
    ($($number:ty),*) => {
        $(
            impl From<$number> for Limit {
                fn from(number: $number) -> Self {
                    // Numbers beyond are beyond every range, too.
                    Self::Int(i128::try_from(number).unwrap_or(i128::MAX))
                }
            }

            impl Ranged for $number {
                fn number(&self) -> Option<Limit> {
                    Some((*self).into())
                }
            }
        )*
    };
}

wide_numbers!(isize, usize, u128);

/// From where to where.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    from: Option<Limit>,
    to: Option<Limit>,
    exclusive: bool,
}

impl Range {
    /// Everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// `from..`.
    #[must_use]
    pub fn from(self, from: impl Into<Limit>) -> Self {
        let from = Some(from.into());
        Self { from, ..self }
    }

    /// `..=to`.
    #[must_use]
    pub fn to(self, to: impl Into<Limit>) -> Self {
        let to = Some(to.into());
        Self { to, ..self }
    }

    /// `..to`.
    #[must_use]
    pub fn below(self, to: impl Into<Limit>) -> Self {
        let exclusive = true;
        Self {
            exclusive,
            ..self.to(to)
        }
    }

    /// The reason why a number does not fit.
    pub(super) fn check(&self, number: Limit) -> Result<(), String> {
        let too_small = self.from.is_some_and(|from| number.less_than(from));
        let too_large = self.to.is_some_and(|to| match self.exclusive {
            true => !number.less_than(to),
            false => to.less_than(number),
        });
        if too_small || too_large {
            return Err(format!("{number} is out of range, expected {self}"));
        }
        Ok(())
    }

    /// As [`check`](Self::check), for a value of the schema.
    pub(super) fn check_json(&self, value: &Value) -> Result<(), String> {
        let number = match value {
            Value::Number(number) => Limit::from_json(number),
            _ => None,
        };
        number.map_or(Ok(()), |number| self.check(number))
    }

    /// Writes it into the schema of a number.
    pub(super) fn publish(&self, schema: &mut JsonObject) {
        if let Some(from) = self.from {
            schema.insert("minimum".to_owned(), from.to_json());
        }
        if let Some(to) = self.to {
            let (keyword, other) = match self.exclusive {
                true => ("exclusiveMaximum", "maximum"),
                false => ("maximum", "exclusiveMaximum"),
            };
            schema.shift_remove(other);
            schema.insert(keyword.to_owned(), to.to_json());
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to, self.exclusive) {
            (Some(from), Some(to), false) => write!(f, "{from} to {to}"),
            (Some(from), Some(to), true) => write!(f, "at least {from} and below {to}"),
            (Some(from), None, _) => write!(f, "at least {from}"),
            (None, Some(to), false) => write!(f, "at most {to}"),
            (None, Some(to), true) => write!(f, "below {to}"),
            (None, None, _) => f.write_str("any number"),
        }
    }
}
