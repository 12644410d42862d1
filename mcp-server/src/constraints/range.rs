//! Numeric ranges, such as `#[arg(range = 1..=100)]`.

use std::fmt;
use std::ops::Bound;

use mcp_types::JsonObject;
use serde_json::{Number, Value};

/// A bound of a range, or a number to compare with one.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "hidden; only generated code names it"
)]
pub enum Limit {
    /// An integer.
    Int(i128),
    /// Any other number.
    Float(f64),
}

impl Limit {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the result is compared with a float"
    )]
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

    /// Returns whether the number is a multiple of `step`, within the precision of floats.
    pub(super) fn is_multiple_of(self, step: Self) -> bool {
        match (self, step) {
            (_, Self::Int(0)) => true,
            (Self::Int(number), Self::Int(step)) => number.checked_rem(step) == Some(0),
            _ => {
                let times = self.as_f64() / step.as_f64();
                !times.is_finite() || (times - times.round()).abs() <= 1e-9 * times.abs().max(1.0)
            }
        }
    }

    pub(crate) fn from_json(number: &Number) -> Option<Self> {
        let int = number.as_i128().map(Self::Int);
        int.or_else(|| number.as_f64().map(Self::Float))
    }

    /// Converts the limit to JSON; `null` for infinity and NaN.
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

/// Number types, and `Option`s of them: the types that `#[arg(range = …)]` accepts.
#[diagnostic::on_unimplemented(
    message = "`#[arg(range = …)]` needs a number, and `{Self}` is none",
    label = "no number",
    note = "integers, `f32`, `f64` and `Option`s of them have a range"
)]
pub trait Ranged {}

impl<T: Ranged> Ranged for Option<T> {}

macro_rules! numbers {
    ($($number:ty => $variant:ident),*) => {
        $(
            impl From<$number> for Limit {
                fn from(number: $number) -> Self {
                    Self::$variant(number.into())
                }
            }

            impl Ranged for $number {}
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
                    // Saturates: larger numbers are outside every range as well.
                    Self::Int(i128::try_from(number).unwrap_or(i128::MAX))
                }
            }

            impl Ranged for $number {}
        )*
    };
}

wide_numbers!(isize, usize, u128);

/// A range of numbers. Each end may be open, inclusive or exclusive.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    min: Option<Limit>,
    min_is_exclusive: bool,
    max: Option<Limit>,
    max_is_exclusive: bool,
}

impl Range {
    /// The range of all numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the inclusive lower bound: `from..`.
    #[must_use]
    pub fn from(self, from: impl Into<Limit>) -> Self {
        let min = Some(from.into());
        Self { min, ..self }
    }

    /// Sets the inclusive upper bound: `..=to`.
    #[must_use]
    pub fn to(self, to: impl Into<Limit>) -> Self {
        let max = Some(to.into());
        Self { max, ..self }
    }

    /// Sets the exclusive upper bound: `..to`.
    #[must_use]
    pub fn below(self, to: impl Into<Limit>) -> Self {
        Self {
            max_is_exclusive: true,
            ..self.to(to)
        }
    }

    /// The range between the bounds of a schema.
    pub(crate) fn between(min: Bound<&Number>, max: Bound<&Number>) -> Self {
        let limit = |bound| match bound {
            Bound::Included(number) => (Limit::from_json(number), false),
            Bound::Excluded(number) => (Limit::from_json(number), true),
            Bound::Unbounded => (None, false),
        };
        let ((min, min_is_exclusive), (max, max_is_exclusive)) = (limit(min), limit(max));
        Self {
            min,
            min_is_exclusive,
            max,
            max_is_exclusive,
        }
    }

    /// Checks a number.
    ///
    /// # Errors
    ///
    /// Returns a message with the number and the range.
    pub(crate) fn check(&self, number: Limit) -> Result<(), String> {
        let is_below = self.min.is_some_and(|min| {
            if self.min_is_exclusive {
                !min.less_than(number)
            } else {
                number.less_than(min)
            }
        });
        let is_above = self.max.is_some_and(|max| {
            if self.max_is_exclusive {
                !number.less_than(max)
            } else {
                max.less_than(number)
            }
        });
        if is_below || is_above {
            return Err(format!("{number} is out of range, expected {self}"));
        }
        Ok(())
    }

    /// Writes the bounds into the schema of a number and replaces those of its type.
    pub(crate) fn publish(&self, schema: &mut JsonObject) {
        if let Some(min) = self.min {
            schema.insert("minimum".to_owned(), min.to_json());
        }
        if let Some(max) = self.max {
            let (keyword, other) = if self.max_is_exclusive {
                ("exclusiveMaximum", "maximum")
            } else {
                ("maximum", "exclusiveMaximum")
            };
            schema.shift_remove(other);
            schema.insert(keyword.to_owned(), max.to_json());
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_closed = !self.min_is_exclusive && !self.max_is_exclusive;
        let from = if self.min_is_exclusive {
            "above"
        } else {
            "at least"
        };
        let to = if self.max_is_exclusive {
            "below"
        } else {
            "at most"
        };
        match (self.min, self.max) {
            (Some(min), Some(max)) if is_closed => write!(f, "{min} to {max}"),
            (Some(min), Some(max)) => write!(f, "{from} {min} and {to} {max}"),
            (Some(min), None) => write!(f, "{from} {min}"),
            (None, Some(max)) => write!(f, "{to} {max}"),
            (None, None) => f.write_str("any number"),
        }
    }
}
