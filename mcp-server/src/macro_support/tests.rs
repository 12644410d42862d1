//! The parts that no schema and no call shows.

use serde_json::{Value, json};

use super::params::{About, Params};
use super::{absent, doc};
use crate::constraints::range::{Limit, Range};

#[test]
fn comments_lose_their_decoration() {
    for (pieces, text) in [
        (&[][..], ""),
        (&["", " "], ""),
        (&[" One line."], "One line."),
        (
            &[" One.", "", "     code", " Two. "],
            "One.\n\n    code\nTwo.",
        ),
        (&["One.", " Two.", "   Three."], "One.\nTwo.\n  Three."),
        (&[" comment", "attribute"], "comment\nattribute"),
        (&[" a block "], "a block"),
        (
            &[" a block\n     of lines\n       indented\n "],
            "a block\nof lines\n  indented",
        ),
        (
            &["\n * stars\n *   indented\n *\n * end\n "],
            "stars\n  indented\n\nend",
        ),
        (&["\n * a list\n no star\n"], "* a list\nno star"),
        (&[" é\u{a0}", " ü"], "é\nü"),
    ] {
        assert_eq!(doc(pieces), text, "{pieces:?}");
    }
}

#[test]
fn only_options_may_be_absent() {
    type Alias = Option<String>;
    assert_eq!(absent::value::<Alias>(), Some(None));
    assert_eq!(absent::value::<Option<Value>>(), Some(None));
    assert_eq!(absent::value::<Box<Option<u8>>>(), Some(Box::new(None)));
    assert_eq!(absent::value::<Value>(), None);
    assert_eq!(absent::value::<()>(), None);
    assert_eq!(absent::value::<Vec<u8>>(), None);
    assert_eq!(absent::value::<(Option<u8>,)>(), None);
}

#[test]
fn numbers_are_compared_as_they_are() {
    let whole = Range::new().from(u64::MAX).to(u128::MAX);
    assert!(whole.check(Limit::from(u64::MAX)).is_ok());
    assert!(whole.check(Limit::from(u64::MAX - 1)).is_err());
    assert!(whole.check(Limit::from(i64::MIN)).is_err());
    let share = Range::new().from(0).below(1);
    for (number, fits) in [
        (0.0, true),
        (-0.0, true),
        (0.999, true),
        (1.0, false),
        (-1e-9, false),
    ] {
        assert_eq!(share.check(Limit::from(number)).is_ok(), fits, "{number}");
    }
    assert!(share.check_json(&json!(2)).is_err());
    assert!(share.check_json(&json!("2")).is_ok());
}

#[test]
fn a_range_replaces_what_the_type_says() {
    let mut schema = json!({"minimum": 0, "maximum": 255})
        .as_object()
        .unwrap()
        .clone();
    Range::new().from(1).below(10).publish(&mut schema);
    assert_eq!(
        Value::Object(schema),
        json!({"minimum": 1, "exclusiveMaximum": 10})
    );
}

// spec: XHDR-06
#[test]
fn what_may_be_left_out_is_repeated_without_null() {
    let mut params = Params::new();
    params.argument::<Option<bool>>(About::new("b").header("Region"));
    let (spec, _) = params.finish();
    let schema = spec.input_schema.unwrap();
    assert_eq!(
        schema["properties"]["b"],
        json!({"type": "boolean", "x-mcp-header": "Region"})
    );
}
