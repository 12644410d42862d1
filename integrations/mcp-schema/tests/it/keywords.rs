//! Keywords as tables: current and older forms, wrong values.

use std::ops::Bound;

use mcp_schema::{Keywords, Parts, Schema, Type, Walk};
use serde_json::{Number, Value, json};

use crate::reading::object;

fn with<T>(json: Value, read: impl FnOnce(&Schema<'_>) -> T) -> T {
    let json = object(json);
    read(&Schema::parse(&json).unwrap())
}

#[test]
fn types_are_names_in_any_form() {
    use Type::{Array, Boolean, Integer, Null, Number, Object, String};
    for (json, types, kinds) in [
        (json!({}), vec![], vec![]),
        (json!({"type": "string"}), vec![String], vec![String]),
        (
            json!({"type": ["string", "null", "string"]}),
            vec![String, Null],
            vec![String, Null],
        ),
        (json!({"type": "Int"}), vec![Integer], vec![Integer]),
        (
            json!({"type": ["dict", "float", "bool", "list", "none"]}),
            vec![Object, Number, Boolean, Array, Null],
            vec![Object, Number, Boolean, Array, Null],
        ),
        (json!({"type": "any"}), vec![], vec![]),
        (json!({"type": ["strnig", 7]}), vec![], vec![]),
        (
            json!({"type": "string", "nullable": true}),
            vec![String, Null],
            vec![String, Null],
        ),
        (json!({"nullable": true}), vec![], vec![]),
        (json!({"properties": {}}), vec![], vec![Object]),
        (
            json!({"additionalProperties": {}, "nullable": true}),
            vec![],
            vec![Object, Null],
        ),
        (json!({"prefixItems": []}), vec![], vec![Array]),
        (
            json!({"enum": ["a", 1, null, "b"]}),
            vec![],
            vec![Integer, Null, String],
        ),
        (json!({"const": 1.5}), vec![], vec![Number]),
    ] {
        with(json.clone(), |schema| {
            assert_eq!(schema.root().types(), types, "{json}");
            assert_eq!(schema.root().kinds(), kinds, "{json}");
        });
    }
    for (kind, value, accepts) in [
        (Integer, json!(5.0), true),
        (Integer, json!(5.5), false),
        (Number, json!(5), true),
        (Number, json!(u64::MAX), true),
        (String, json!(5), false),
        (Null, json!(null), true),
    ] {
        assert_eq!(kind.accepts(&value), accepts, "{kind:?} {value}");
        assert_eq!(Type::named(kind.as_str()), Some(kind));
    }
}

#[test]
fn ranges_have_the_narrower_bound_and_the_flags_of_draft_4() {
    let number = |value: i64| Number::from(value);
    let (one, two, nine) = (&number(1), &number(2), &number(9));
    for (json, expected) in [
        (json!({}), (Bound::Unbounded, Bound::Unbounded)),
        (
            json!({"minimum": 1, "maximum": 9}),
            (Bound::Included(one), Bound::Included(nine)),
        ),
        (
            json!({"exclusiveMinimum": 1, "exclusiveMaximum": 9}),
            (Bound::Excluded(one), Bound::Excluded(nine)),
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": true}),
            (Bound::Excluded(one), Bound::Unbounded),
        ),
        (
            json!({"maximum": 9, "exclusiveMaximum": false}),
            (Bound::Unbounded, Bound::Included(nine)),
        ),
        (
            json!({"exclusiveMaximum": true}),
            (Bound::Unbounded, Bound::Unbounded),
        ),
        (
            json!({"minimum": 2, "exclusiveMinimum": 1}),
            (Bound::Included(two), Bound::Unbounded),
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": 1}),
            (Bound::Excluded(one), Bound::Unbounded),
        ),
        (
            json!({"maximum": 2, "exclusiveMaximum": 9}),
            (Bound::Unbounded, Bound::Included(two)),
        ),
        (
            json!({"minimum": "1", "maximum": null}),
            (Bound::Unbounded, Bound::Unbounded),
        ),
    ] {
        with(json.clone(), |schema| {
            assert_eq!(schema.root().range(), expected, "{json}")
        });
    }
}

#[test]
fn elements_are_those_of_all_drafts() {
    for (json, places) in [
        (json!({}), [None, None]),
        (json!({"items": {}}), [Some("/items"), Some("/items")]),
        (json!({"prefixItems": [{}]}), [Some("/prefixItems/0"), None]),
        (
            json!({"prefixItems": [{}], "items": false}),
            [Some("/prefixItems/0"), Some("/items")],
        ),
        (json!({"items": [{}]}), [Some("/items/0"), None]),
        (
            json!({"items": [{}], "additionalItems": {}}),
            [Some("/items/0"), Some("/additionalItems")],
        ),
    ] {
        with(json.clone(), |schema| {
            let found = [0, 1].map(|index| Some(schema.root().element(index)?.pointer()));
            assert_eq!(
                found,
                places.map(|place| place.map(str::to_owned)),
                "{json}"
            );
        });
    }
}

#[test]
fn other_keywords_count_as_absent_with_wrong_values() {
    let json = json!({
        "enum": 7, "const": "a", "minLength": 3.0, "maxLength": -1, "minItems": 1e30, "title": 7, "required": ["a", 7, null],
        "properties": {"a": 7}, "anyOf": {}, "oneOf": [{}, 7], "uniqueItems": true, "x": 1,
    });
    with(json, |schema| {
        let root = schema.root();
        assert_eq!(root.listed(), Some(&[json!("a")][..]));
        let counts = ["minLength", "maxLength", "minItems", "none"].map(|name| root.count(name));
        assert_eq!(counts, [Some(3), None, Some(u64::MAX), None]);
        assert_eq!((root.text("title"), root.required()), (None, vec!["a"]));
        assert!(root.flag("uniqueItems") && !root.flag("x"));
        assert_eq!(root.alternatives().len(), 2);
        let (name, a) = root.properties()[0];
        assert!(name == "a" && a.object().is_none() && !a.is_true() && a.types().is_empty());
    });
    for (json, is_null) in [
        (json!({"type": "null"}), true),
        (json!({"type": ["null", "string"]}), false),
        (json!({"const": null}), true),
        (json!({"enum": [null]}), true),
        (json!({"enum": []}), false),
        (json!({}), false),
    ] {
        with(json.clone(), |schema| {
            assert_eq!(schema.root().is_null(), is_null, "{json}")
        });
    }
}

#[test]
fn parts_are_all_schemas_for_the_same_value_each_once() {
    let json = json!({
        "$ref": "#/$defs/a",
        "title": "root",
        "allOf": [{"required": ["c"], "properties": {"p": {"title": "second"}}, "$ref": "#"}],
        "anyOf": [{"title": "one", "type": "object"}],
        "$defs": {"a": {
            "title": "a", "description": "a", "required": ["a"], "properties": {"p": {"title": "first"}, "q": {}},
            "allOf": [{"$ref": "#/$defs/a"}],
        }},
    });
    with(json, |schema| {
        let walk = Walk::of_schema(100);
        let parts = Parts::of(schema.root(), &walk, 0).unwrap();
        let pointers = parts.nodes().iter().map(|node| node.pointer());
        assert_eq!(
            pointers.collect::<Vec<_>>(),
            ["", "/$defs/a", "/$defs/a/allOf/0", "/allOf/0"]
        );
        assert_eq!(walk.taken(), 4);
        let texts = ["title", "description"].map(|name| parts.text(name));
        assert_eq!(texts, [Some("root"), Some("a")]);
        assert_eq!(parts.required(), ["a", "c"]);
        let properties = parts.properties().into_iter();
        let titles: Vec<_> = properties
            .map(|(name, node)| (name, node.text("title")))
            .collect();
        assert_eq!(titles, [("p", Some("first")), ("q", None)]);
        // Two of them have schemas for one property.
        let both = parts.nodes().iter().filter_map(|part| part.property("p"));
        let both = Parts::of_all(&both.collect::<Vec<_>>(), &walk, 1).unwrap();
        assert_eq!(both.all("title").collect::<Vec<_>>(), ["first", "second"]);
        // An alternative has the constraints around it, not the texts.
        let one = parts.alternatives()[0];
        let inner = parts.alternative(one, &walk, 1).unwrap();
        assert_eq!(
            (inner.text("title"), inner.text("description")),
            (Some("one"), None)
        );
        assert_eq!(
            (inner.required(), inner.alternatives().len()),
            (vec!["a", "c"], 0)
        );
        let names = inner.keywords().into_iter().map(|(name, _)| name);
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["title", "type", "required", "properties"]
        );
    });
}
