//! The scanner takes what `serde_json` takes, and finds the same parts.

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof, proptest};
use serde::de::IgnoredAny;

use super::Scanner;
use crate::RawJson;

fn scan(text: &str) -> Option<RawJson<'_>> {
    let mut scanner = Scanner::new(text);
    let value = scanner.value().ok()?;
    scanner.end().ok().map(|()| value)
}

#[track_caller]
fn same(text: &str) {
    let expected = serde_json::from_str::<IgnoredAny>(text).is_ok();
    assert_eq!(scan(text).is_some(), expected, "{text:?}");
}

#[test]
fn values() {
    for text in [
        "null",
        "true",
        "false",
        "nul",
        "nulll",
        "True",
        "tru",
        "{}",
        "[]",
        "{",
        "}",
        "[",
        "]",
        "[}",
        "{]",
        "",
        " ",
        " 1 ",
        "\t\r\n[ ]\n",
        "\u{feff}1",
        "\u{a0}1",
        "1 2",
        "[1 2]",
        "[1,]",
        "[,1]",
        "[,]",
        "[1,,2]",
        "{,}",
        r#"{"a":1,}"#,
        r#"{"a":1 "b":2}"#,
        r#"{"a" 1}"#,
        r#"{"a":}"#,
        r#"{"a"}"#,
        r#"{a:1}"#,
        r#"{1:1}"#,
        r#"{"a":1,"a":2}"#,
        r#"{"a":1:2}"#,
        r#"{"a":[{"b":[]},{}],"c":{"d":{}}}"#,
        r#"[[[]]]"#,
        r#"[[[]]"#,
        r#"[[]]]"#,
        "'a'",
        "/**/1",
    ] {
        same(text);
    }
}

#[test]
fn numbers() {
    for text in [
        "0",
        "-0",
        "00",
        "01",
        "-",
        "--1",
        "+1",
        "1.",
        ".1",
        "1.0",
        "1.0.0",
        "0.5",
        "-0.5e-7",
        "1e",
        "1e+",
        "1e5",
        "1E-5",
        "1e5.5",
        "1e05",
        "0e0",
        "0x1",
        "1_0",
        "NaN",
        "Infinity",
        "-a",
        "123456789012345678901234567890",
        "1e999",
    ] {
        same(text);
        same(&format!("[{text}]"));
    }
}

#[test]
fn strings() {
    for text in [
        r#""""#,
        r#"""#,
        r#""a"#,
        r#""\""#,
        r#""\\""#,
        r#""\\\""#,
        r#""\a""#,
        r#""\u""#,
        r#""\u12""#,
        r#""\u12g4""#,
        r#""\u1234""#,
        r#""\uD800""#,
        r#""\uD83D\uDE00""#,
        r#""\"\\\/\b\f\n\r\t""#,
        "\"\u{7f}\"",
        "\"é\u{2028}\u{10ffff}\"",
        "\"\n\"",
        "\"\0\"",
    ] {
        same(text);
        same(&format!(r#"{{"a":{text}}}"#));
        same(&format!(r#"{{"\"":[{text},{text}]}}"#));
    }
}

#[test]
fn any_depth() {
    for depth in [1, 63, 64, 65, 128, 129, 10_000] {
        let objects = r#"{"a":"#.repeat(depth) + "1" + &"}".repeat(depth);
        let arrays = "[".repeat(depth) + &"]".repeat(depth);
        let both = r#"[{"a":"#.repeat(depth) + &objects + &"}]".repeat(depth);
        for text in [&objects, &arrays, &both] {
            assert!(scan(text).is_some(), "{depth}");
            let (most, _) = text.split_at(text.len() - 1);
            assert!(scan(most).is_none(), "{depth}");
            assert!(scan(&format!("{most}]}}")).is_none(), "{depth}");
        }
    }
}

#[test]
fn members_are_found_with_their_texts() {
    let text = r#" { "a" : [1, {"b": "}"}] ,"\u0062":"\"","c":{} } "#;
    let value = scan(text).unwrap();
    assert_eq!(value.as_str(), text.trim());
    let members: Vec<_> = value.members().collect();
    let members: Vec<_> = members
        .iter()
        .map(|(name, value)| (name.as_ref(), value.as_str()))
        .collect();
    assert_eq!(
        members,
        [("a", r#"[1, {"b": "}"}]"#), ("b", r#""\"""#), ("c", "{}")]
    );
    for text in ["[1]", "null", "1", r#""{""#, "{}"] {
        assert_eq!(scan(text).unwrap().members().count(), 0, "{text}");
    }
}

/// JSON, and what is nearly JSON.
fn texts() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(","),
        Just(":"),
        Just(" "),
        Just("\n"),
        Just(r#""a""#),
        Just(r#""\n""#),
        Just(r#""\ud800""#),
        Just("\""),
        Just("\\"),
        Just("1"),
        Just("-"),
        Just("0.5e1"),
        Just("null"),
        Just("true"),
        Just("é"),
    ];
    proptest::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        same(&text);
    }

    #[test]
    fn nearly_json(text in texts()) {
        same(&text);
        same(&format!("[{text}]"));
        same(&format!(r#"{{"a":{text}}}"#));
    }
}
