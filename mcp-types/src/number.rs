//! Numbers that may be fractions: whole ones are written without a fraction, as `50`, not `50.0`.

use serde::{Serialize, Serializer};

/// Below this, every whole number is one `f64` and the other way round.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// For `#[serde(serialize_with)]` on an `f64`.
pub(crate) fn plain<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
        return serializer.serialize_i64(*number as i64);
    }
    number.serialize(serializer)
}

/// For `#[serde(serialize_with)]` on an `Option<f64>`.
pub(crate) fn plain_option<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => plain(number, serializer),
        None => serializer.serialize_none(),
    }
}
