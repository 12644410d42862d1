//! `#[arg(range = 1..=100)]`: published, and checked.

use std::fmt;

use serde_json::{Number, Value};

use mcp_types::JsonObject;

/// A bound of a range, or a number to compare with it.
#[derive(Debug, Clone, Copy, PartialEq)]
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

    /// A number divided by another one leaves nothing, as far as floats can tell.
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
                    // Numbers beyond are beyond every range, too.
                    Self::Int(i128::try_from(number).unwrap_or(i128::MAX))
                }
            }

            impl Ranged for $number {}
        )*
    };
}

wide_numbers!(isize, usize, u128);

/// From where to where.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range {
    from: Option<Limit>,
    /// It begins above `from`, as no Rust range does.
    above: bool,
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

    /// The range of a schema: `minimum`, `exclusiveMinimum`, `maximum`, `exclusiveMaximum`. Of two
    /// bounds on one side the narrower one counts.
    pub(crate) fn of(
        minimum: Option<Limit>,
        exclusive_minimum: Option<Limit>,
        maximum: Option<Limit>,
        exclusive_maximum: Option<Limit>,
    ) -> Self {
        let above = exclusive_minimum
            .is_some_and(|above| minimum.is_none_or(|minimum| !above.less_than(minimum)));
        let exclusive = exclusive_maximum
            .is_some_and(|below| maximum.is_none_or(|maximum| !maximum.less_than(below)));
        Self {
            from: if above { exclusive_minimum } else { minimum },
            above,
            to: if exclusive {
                exclusive_maximum
            } else {
                maximum
            },
            exclusive,
        }
    }

    /// The reason why a number does not fit.
    pub(crate) fn check(&self, number: Limit) -> Result<(), String> {
        let too_small = self.from.is_some_and(|from| match self.above {
            true => !from.less_than(number),
            false => number.less_than(from),
        });
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
    pub(crate) fn check_json(&self, value: &Value) -> Result<(), String> {
        let number = match value {
            Value::Number(number) => Limit::from_json(number),
            _ => None,
        };
        number.map_or(Ok(()), |number| self.check(number))
    }

    /// Writes it into the schema of a number.
    pub(crate) fn publish(&self, schema: &mut JsonObject) {
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
        let below = if self.exclusive { "below" } else { "at most" };
        let from = if self.above { "above" } else { "at least" };
        match (self.from, self.to) {
            (Some(from), Some(to)) if !self.exclusive && !self.above => write!(f, "{from} to {to}"),
            (Some(least), Some(to)) => write!(f, "{from} {least} and {below} {to}"),
            (Some(least), None) => write!(f, "{from} {least}"),
            (None, Some(to)) => write!(f, "{below} {to}"),
            (None, None) => f.write_str("any number"),
        }
    }
}
