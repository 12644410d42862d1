//! Numbers that may be fractions: whole ones are written without a fraction, as `50`, not `50.0`.

use crate::json::Piece;

/// Below this, every whole number is one `f64` and the other way round.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The number as it is written.
pub(crate) fn piece(number: f64) -> Piece<'static> {
    if number.fract() == 0.0 && number.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small enough")]
        return Piece::Whole(number as i64);
    }
    Piece::Fraction(number)
}
