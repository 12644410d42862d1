//! Serialization of `f64` fields. A whole number is written without a fraction: `50`, not `50.0`.

use serde::{Serialize, Serializer};
use serde_json::Value;

/// Bound below which every whole `f64` is also an exact `i64`: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn as_whole(number: f64) -> Option<i64> {
    let is_whole = number.fract() == 0.0 && number.abs() < EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    is_whole.then_some(number as i64)
}

/// Serializes a required number.
pub(crate) fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match as_whole(*number) {
        Some(whole) => serializer.serialize_i64(whole),
        None => serializer.serialize_f64(*number),
    }
}

/// Serializes an optional number.
pub(crate) fn serialize_option<S: Serializer>(
    number: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => serialize(number, serializer),
        None => None::<f64>.serialize(serializer),
    }
}

/// Returns the number as a JSON value.
pub(crate) fn to_value(number: f64) -> Value {
    as_whole(number).map_or_else(|| number.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{serialize, to_value};

    #[test]
    fn whole_number_is_written_without_fraction() {
        for (number, text) in [
            (50.0, "50"),
            (-3.0, "-3"),
            (0.0, "0"),
            (-0.0, "0"),
            (0.5, "0.5"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (9_007_199_254_740_992.0, "9007199254740992.0"),
            (1e300, "1e+300"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            let mut out = Vec::new();
            serialize(&number, &mut serde_json::Serializer::new(&mut out)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
        assert_eq!(to_value(2.0), json!(2));
        assert_eq!(to_value(2.5), json!(2.5));
    }
}
