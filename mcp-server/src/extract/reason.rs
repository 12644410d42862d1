//! Messages of serde in the words of JSON: language models do not know the types of Rust.

use mcp_types::shorten;

/// Limit on a value's characters in a message, as in messages about the schema.
const MAX_CHARS: usize = 64;

/// Returns the message of a deserializer without names of Rust types.
pub(super) fn plain_reason(message: &str) -> String {
    plain(message).unwrap_or_else(|| message.to_owned())
}

fn plain(message: &str) -> Option<String> {
    if let Some(rest) = message.strip_prefix("invalid type: ") {
        let (got, expected) = rest.rsplit_once(", expected ")?;
        return Some(format!("expected {}, got {}", phrase(expected), kind(got)));
    }
    if let Some(rest) = message.strip_prefix("invalid value: ") {
        let (got, expected) = rest.rsplit_once(", expected ")?;
        let got = shorten(quoted(got).unwrap_or(got), MAX_CHARS);
        return Some(match range(expected) {
            Some((min, max)) => format!("{got} is out of range, expected {min} to {max}"),
            None => format!("expected {}, got {got}", phrase(expected)),
        });
    }
    if let Some(rest) = message.strip_prefix("invalid length ") {
        let (length, expected) = rest.split_once(", expected ")?;
        return Some(format!(
            "has {length} elements, expected {}",
            phrase(expected)
        ));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return Some(format!("missing {name}"));
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        return Some(format!("unknown {rest}"));
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let (got, expected) = rest.split_once(", expected ")?;
        let got = shorten(got.trim_matches('`'), MAX_CHARS);
        let expected = expected.replace('`', "\"");
        return Some(format!("expected {expected}, got {got:?}"));
    }
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return Some(format!("{name} is given more than once"));
    }
    let untagged = message.starts_with("data did not match any variant");
    untagged.then(|| "matches none of the accepted forms".to_owned())
}

/// Returns the text between backticks.
fn quoted(got: &str) -> Option<&str> {
    let (_, rest) = got.split_once('`')?;
    rest.strip_suffix('`')
}

/// Returns the type of a value that serde describes, such as ``integer `5` ``.
fn kind(got: &str) -> &str {
    let (first, _) = got.split_once(' ').unwrap_or((got, ""));
    match first {
        "boolean" => quoted(got).unwrap_or("true or false"),
        "floating" => quoted(got).unwrap_or("a number"),
        "integer" => "a number",
        "string" | "character" => "a string",
        "sequence" => "an array",
        "map" | "struct" => "an object",
        "null" | "unit" | "Option" => "null",
        _ => got,
    }
}

/// Returns what serde expects, in the words of JSON.
fn phrase(expected: &str) -> &str {
    let (first, _) = expected.split_once(' ').unwrap_or((expected, ""));
    match first {
        "struct" | "map" => "an object",
        "tuple" | "sequence" => "an array",
        "f32" | "f64" => "a number",
        "unit" => "null",
        _ if range(expected).is_some() => "a whole number",
        _ => match expected {
            "a map" => "an object",
            "a sequence" => "an array",
            "a boolean" => "true or false",
            "a borrowed string" | "path string" => "a string",
            _ if expected.starts_with("internally tagged enum") => "an object",
            _ if expected.starts_with("a tuple") || expected.starts_with("an array") => "an array",
            other => other,
        },
    }
}

/// Returns the range of a Rust integer type.
fn range(name: &str) -> Option<(i128, u128)> {
    let (sign, bits) = name.split_at_checked(1)?;
    let bits = bits.replace("size", "64").parse().ok();
    let bits: u32 = bits.filter(|bits| [8, 16, 32, 64, 128].contains(bits))?;
    match sign {
        "i" => Some((i128::MIN >> (128 - bits), u128::MAX >> (129 - bits))),
        "u" => Some((0, u128::MAX >> (128 - bits))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::from_str;

    use super::plain_reason;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Point {
        #[expect(dead_code, reason = "only decoding is tested")]
        x: u8,
    }

    #[derive(Debug, Deserialize)]
    enum Level {
        Low,
        High,
    }

    fn reason<T: std::fmt::Debug + for<'a> Deserialize<'a>>(json: &str) -> String {
        let error = from_str::<T>(json).unwrap_err();
        plain_reason(&mcp_types::without_position(&error))
    }

    #[test]
    fn reason_names_json_types() {
        for (actual, expected) in [
            (
                reason::<u32>("\"5\""),
                "expected a whole number, got a string",
            ),
            (reason::<u32>("1.5"), "expected a whole number, got 1.5"),
            (
                reason::<u8>("300"),
                "300 is out of range, expected 0 to 255",
            ),
            (reason::<f64>("null"), "expected a number, got null"),
            (reason::<String>("5"), "expected a string, got a number"),
            (reason::<bool>("[]"), "expected true or false, got an array"),
            (reason::<Vec<u8>>("true"), "expected an array, got true"),
            (
                reason::<(u8, u8)>("[1]"),
                "has 1 elements, expected an array",
            ),
            (reason::<Point>("7"), "expected an object, got a number"),
            (reason::<Point>("{}"), "missing `x`"),
            (reason::<Point>("{\"y\": 1}"), "unknown `y`, expected `x`"),
            (
                reason::<Point>("{\"x\": 1, \"x\": 1}"),
                "`x` is given more than once",
            ),
            (
                reason::<Level>("\"Mid\""),
                "expected \"Low\" or \"High\", got \"Mid\"",
            ),
            (
                reason::<char>("\"ab\""),
                "expected a character, got string \"ab\"",
            ),
        ] {
            assert_eq!(actual, expected);
        }
        let long = reason::<Level>(&format!("\"{}\"", "9".repeat(300)));
        assert_eq!(
            long,
            format!("expected \"Low\" or \"High\", got \"{}…\"", "9".repeat(64))
        );
        let number = reason::<u8>("1e300");
        assert!(number.len() < 120, "{number}");
        assert_eq!(plain_reason("trailing characters"), "trailing characters");
    }
}
