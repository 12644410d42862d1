//! Texts that are shared, and how they are written.

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{BorrowedStrDeserializer, Error};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Kind, LEAST_SHARED, Text};
use crate::{ContentBlock, RawObject};

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    text: Text,
    #[serde(default)]
    nested: Vec<Option<Text>>,
}

fn long(part: &str) -> String {
    part.repeat(LEAST_SHARED)
}

fn read(arguments: &Value) -> Arguments {
    let arguments = RawObject::from_value(arguments).unwrap();
    arguments.share(RawObject::parse).unwrap()
}

fn is_shared(text: &Text) -> bool {
    matches!(text.0, Kind::Part { .. })
}

/// What a result with this text is written as.
#[track_caller]
fn written(text: &Text, expected: &str) {
    let block = serde_json::to_string(&ContentBlock::text(text.clone())).unwrap();
    let plain = serde_json::to_string(&ContentBlock::text(expected)).unwrap();
    assert!(block == plain, "{expected}");
    assert!(
        serde_json::to_value(text).unwrap() == expected,
        "{expected}"
    );
}

#[test]
fn only_large_texts_without_escapes_are_shared() {
    for (part, shared) in [
        ("x", true),
        ("é\u{2028}", true),
        ("\n", false),
        ("\\", false),
        ("\"", false),
    ] {
        let text = long(part);
        let read = read(&json!({"text": text, "nested": [null, text]}));
        for found in [&read.text, read.nested[1].as_ref().unwrap()] {
            assert_eq!(is_shared(found), shared, "{part:?}");
            assert!(*found == text, "{part:?}");
            written(found, &text);
            assert!(found.clone().into_string() == text, "{part:?}");
        }
    }
    let read = read(&json!({"text": "short", "nested": [long("x")]}));
    assert!(!is_shared(&read.text), "a short text keeps nothing alive");
    assert_eq!(read.text, "short");
}

#[test]
fn outside_of_sharing_all_is_copied() {
    let text = json!({"text": long("x")}).to_string();
    let alone: Arguments = serde_json::from_str(&text).unwrap();
    assert!(!is_shared(&alone.text));
    let other = RawObject::from_text(json!({"text": long("y")}).to_string()).unwrap();
    let inside: Arguments = other.share(|_| serde_json::from_str(&text).unwrap());
    assert!(!is_shared(&inside.text), "it is part of another object");
    let tree: Arguments = serde_json::from_value(json!({"text": long("x")})).unwrap();
    assert!(!is_shared(&tree.text));
}

#[test]
fn sharing_ends_where_it_began() {
    let object = |c| RawObject::from_value(&json!({"text": long(c)})).unwrap();
    object("a").share(|outer| {
        let inner = object("b").share(|inner| inner.parse::<Arguments>().unwrap());
        assert!(is_shared(&inner.text));
        let broken = std::panic::catch_unwind(|| object("c").share(|_| panic!("on purpose")));
        assert!(broken.is_err());
        assert!(is_shared(&outer.parse::<Arguments>().unwrap().text));
    });
    assert!(super::WHOLE.with_borrow(Option::is_none));
}

/// Only a whole JSON string may be written as it came, whatever a type makes of it.
#[test]
fn parts_of_strings_and_raw_json_are_written_anew() {
    let inside = format!("\"{}\\n\",[1],\"{}\"", long("x"), long("y"));
    let object = RawObject::from_text(format!("{{\"raw\":[{inside}]}}")).unwrap();
    object.share(|object| {
        let raw: std::collections::HashMap<&str, &RawValue> =
            serde_json::from_str(object.as_str()).unwrap();
        let raw = raw["raw"].get();
        let whole = &raw[1..raw.len() - 1];
        for part in [
            raw,
            whole,
            &whole[1..whole.len() - 1],
            &whole[2..=LEAST_SHARED + 1],
            &whole[1..=LEAST_SHARED + 2],
            &whole[..LEAST_SHARED + 4],
        ] {
            let deserializer: BorrowedStrDeserializer<'_, Error> =
                BorrowedStrDeserializer::new(part);
            let text = Text::deserialize(deserializer.into_deserializer()).unwrap();
            assert!(is_shared(&text));
            written(&text, part);
        }
    });
}

#[test]
fn it_is_like_a_string() {
    let texts = [
        Text::from("a"),
        "a".to_owned().into(),
        'a'.into(),
        Box::<str>::from("a").into(),
        std::borrow::Cow::Borrowed("a").into(),
    ];
    for text in texts {
        assert_eq!(text, "a");
        assert_eq!(text, *"a");
        assert_eq!(text, "a".to_owned());
        assert_eq!(format!("{text} {text:?} {text:>3}"), "a \"a\"   a");
        assert_eq!(String::from(text), "a");
    }
    assert!(Text::default().is_empty());
    let (a, b) = (Text::from("a"), Text::from("b"));
    assert!(a < b && a != b);
    let by_text = std::collections::HashMap::from([(Text::from("a"), 1)]);
    assert_eq!(by_text["a"], 1);
    let error = serde_json::from_str::<Text>("7").unwrap_err().to_string();
    assert!(error.contains("expected a string"), "{error}");
}
