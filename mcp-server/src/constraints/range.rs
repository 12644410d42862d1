//! Numeric ranges of parameters, such as `#[arg(range = 1..=100)]`.

use mcp_types::JsonObject;
use serde::Serialize;
use serde_json::Value;

/// Number types, and `Option`s of them: the types that `#[arg(range = …)]` accepts.
#[diagnostic::on_unimplemented(
    message = "`#[arg(range = …)]` needs a number, and `{Self}` is none",
    label = "no number",
    note = "integers, `f32`, `f64` and `Option`s of them have a range"
)]
pub trait Ranged: Serialize {}

impl<T: Ranged> Ranged for Option<T> {}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl Ranged for $number {})*
    };
}

numbers!(
    i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64
);

/// A range of numbers, as keywords. Each end may be open, and the upper one exclusive.
#[derive(Debug, Clone, Default)]
pub struct Range(Vec<(&'static str, Value)>);

impl Range {
    /// The range of all numbers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the inclusive lower bound: `from..`.
    #[must_use]
    pub fn from(self, from: impl Ranged) -> Self {
        self.with("minimum", from)
    }

    /// Sets the inclusive upper bound: `..=to`.
    #[must_use]
    pub fn to(self, to: impl Ranged) -> Self {
        self.with("maximum", to)
    }

    /// Sets the exclusive upper bound: `..to`.
    #[must_use]
    pub fn below(self, to: impl Ranged) -> Self {
        self.with("exclusiveMaximum", to)
    }

    /// A bound beyond 64 bits is left out: no integer of JSON reaches it.
    fn with(mut self, keyword: &'static str, bound: impl Ranged) -> Self {
        let bound = serde_json::to_value(bound).ok();
        let bound = bound.filter(Value::is_number);
        self.0.extend(bound.map(|bound| (keyword, bound)));
        self
    }

    /// Writes the bounds into the schema of a number and replaces those of its type.
    pub(crate) fn publish(&self, schema: &mut JsonObject) {
        for (keyword, bound) in &self.0 {
            match *keyword {
                "maximum" => schema.shift_remove("exclusiveMaximum"),
                "exclusiveMaximum" => schema.shift_remove("maximum"),
                _ => None,
            };
            schema.insert((*keyword).to_owned(), bound.clone());
        }
    }
}
