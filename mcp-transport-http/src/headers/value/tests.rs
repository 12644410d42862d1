//! Tables for the Base64 sentinel.

use super::*;

#[test]
fn plain_text_stays_plain() {
    for text in [
        "",
        "add",
        "get weather",
        "a?b=c",
        "SGVsbG8=",
        "=?base64?SGVsbG8=",
        "SGVsbG8=?=",
    ] {
        assert_eq!(encode(text), text);
        assert_eq!(decode(text.as_bytes()).as_deref(), Ok(text));
    }
}

#[test]
fn unsafe_text_is_encoded() {
    // spec: XHDR-13, XHDR-14
    let table = [
        ("Zürich", "=?base64?WsO8cmljaA==?="),
        (" padded", "=?base64?IHBhZGRlZA==?="),
        ("padded ", "=?base64?cGFkZGVkIA==?="),
        ("\ttab", "=?base64?CXRhYg==?="),
        ("in\tside", "=?base64?aW4Jc2lkZQ==?="),
        ("line\nbreak", "=?base64?bGluZQpicmVhaw==?="),
        (
            "=?base64?SGVsbG8=?=",
            "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?=",
        ),
        ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
        ("\u{7f}", "=?base64?fw==?="),
    ];
    for (text, header) in table {
        assert_eq!(encode(text), header, "{text:?}");
        assert_eq!(decode(header.as_bytes()).as_deref(), Ok(text), "{header}");
    }
}

#[test]
fn every_character_survives() {
    for code in (0..0x3000)
        .chain(0x1_F600..0x1_F610)
        .filter_map(char::from_u32)
    {
        let text = format!("{code}x{code}");
        assert_eq!(
            decode(encode(&text).as_bytes()).as_deref(),
            Ok(text.as_str()),
            "{code:?}"
        );
    }
}

#[test]
fn blanks_around_a_value_are_not_part_of_it() {
    // spec: HTTP-SM-09
    for value in [" add", "add\t", " \t add \t "] {
        assert_eq!(decode(value.as_bytes()).as_deref(), Ok("add"));
    }
    assert_eq!(decode(b" \t ").as_deref(), Ok(""));
    assert_eq!(decode(b" =?base64?YWRk?= ").as_deref(), Ok("add"));
}

#[test]
fn markers_are_exact() {
    // spec: XHDR-15
    for value in [
        "=?BASE64?YWRk?=",
        "=?base64?YWRk",
        "=?base64?YWRk=?",
        "x=?base64?YWRk?=",
    ] {
        assert_eq!(decode(value.as_bytes()).as_deref(), Ok(value));
    }
    assert_eq!(
        decode(b"=?base64?YWRk?==?=").as_deref(),
        Err(&ValueError::NotBase64)
    );
    assert_eq!(decode(b"=?base64??=").as_deref(), Ok(""));
    // Too short to hold both markers.
    assert_eq!(decode(b"=?base64?=").as_deref(), Ok("=?base64?="));
}

#[test]
fn bad_values_are_refused() {
    // spec: XHDR-16
    let table: [(&[u8], ValueError); 7] = [
        (b"=?base64?SGVsbG8?=", ValueError::NotBase64),
        (b"=?base64?SGVs!!!bG8=?=", ValueError::NotBase64),
        (b"=?base64?SGVsbG9=?=", ValueError::NotBase64),
        (b"=?base64?/w==?=", ValueError::NotUtf8),
        (b"caf\xc3\xa9", ValueError::NotPlain),
        (b"\xff", ValueError::NotPlain),
        (b"a\x7fb", ValueError::NotPlain),
    ];
    for (value, error) in table {
        assert_eq!(decode(value), Err(error), "{}", value.escape_ascii());
    }
}
