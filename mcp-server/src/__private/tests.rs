//! Tests of parts that no schema and no call shows.

use mcp_types::JsonObject;
use serde_json::{Value, json};

use super::doc::doc;
use super::optional::absent_value;
use super::parameters::{ParameterInfo, Parameters};
use crate::constraints::range::Range;
use crate::constraints::{ArgumentFormat, Constraints};

#[test]
fn doc_comments_lose_decoration_and_indentation() {
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
fn absent_value_exists_for_options_only() {
    type Alias = Option<String>;
    assert_eq!(absent_value::<Alias>(), Some(None));
    assert_eq!(absent_value::<Option<Value>>(), Some(None));
    assert_eq!(absent_value::<Box<Option<u8>>>(), Some(Box::new(None)));
    assert_eq!(absent_value::<Value>(), None);
    assert_eq!(absent_value::<()>(), None);
    assert_eq!(absent_value::<Vec<u8>>(), None);
    assert_eq!(absent_value::<(Option<u8>,)>(), None);
}

#[test]
fn range_compares_wide_and_fractional_numbers_exactly() {
    let accepts = |range: &Range, number: Value| {
        let mut schema = JsonObject::new();
        range.publish(&mut schema);
        let constraints = Constraints::from_schema(&schema).unwrap().unwrap();
        let found = constraints.find_violations(&number, ArgumentFormat::Json);
        found.is_empty()
    };
    let whole = Range::new().from(u64::MAX).to(u128::MAX);
    assert!(accepts(&whole, u64::MAX.into()));
    assert!(!accepts(&whole, (u64::MAX - 1).into()));
    assert!(!accepts(&whole, i64::MIN.into()));
    let share = Range::new().from(0).below(1);
    for (number, fits) in [
        (0.0, true),
        (-0.0, true),
        (0.999, true),
        (1.0, false),
        (-1e-9, false),
    ] {
        assert_eq!(accepts(&share, number.into()), fits, "{number}");
    }
}

#[test]
fn published_range_replaces_bounds_from_the_type() {
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
fn optional_argument_in_header_has_no_null_type() {
    let mut parameters = Parameters::new();
    parameters.add_argument::<Option<bool>>(ParameterInfo::new("b").header("Region"));
    let (spec, _) = parameters.finish();
    let schema = spec.input_schema.unwrap();
    assert_eq!(
        schema.json()["properties"]["b"],
        json!({"type": "boolean", "x-mcp-header": "Region"})
    );
}
