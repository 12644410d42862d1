//! Tests of schemas, arguments and reported violations.

use mcp_schema::{Schema, Type, Walk};
use mcp_types::RawObject;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::compile::integer_range;
use super::{ArgumentFormat, Constraints, types};
use crate::schema::{InputSchema, convert_strings};

fn constraints(schema: &Value) -> Option<Constraints> {
    let compiled = Constraints::from_schema(schema.as_object().unwrap());
    compiled.unwrap()
}

fn check(schema: &Value, arguments: &Value) -> Result<(), String> {
    let constraints = constraints(schema).unwrap_or_else(|| panic!("{schema} has no constraints"));
    let arguments = RawObject::from_value(arguments).unwrap();
    let checked = constraints.check(Some(&arguments), ArgumentFormat::Json);
    checked.map_err(|error| error.to_string())
}

/// Checks the value of the one property `p`.
fn property(schema: Value, value: Value) -> Result<(), String> {
    let schema = json!({"type": "object", "properties": {"p": schema}});
    check(&schema, &json!({"p": value}))
}

/// Returns the violation of the one property `p`.
fn violation(schema: Value, value: Value) -> String {
    let checked = property(schema.clone(), value.clone());
    checked
        .expect_err(&format!("{schema} accepts {value}"))
        .trim_start_matches("invalid arguments: ")
        .to_owned()
}

#[test]
fn keyword_rejects_values_outside_its_limit() {
    for (schema, good, bad, reason) in [
        (
            json!({"minimum": 1}),
            json!(1),
            json!(0),
            "0 is out of range, expected at least 1",
        ),
        (
            json!({"maximum": 9.5}),
            json!(9.5),
            json!(10),
            "10 is out of range, expected at most 9.5",
        ),
        (
            json!({"minimum": 1, "maximum": 9}),
            json!(9),
            json!(10),
            "10 is out of range, expected 1 to 9",
        ),
        (
            json!({"exclusiveMinimum": 0}),
            json!(0.001),
            json!(0),
            "0 is out of range, expected above 0",
        ),
        (
            json!({"minimum": 0, "exclusiveMinimum": 0, "maximum": 3, "exclusiveMaximum": 4}),
            json!(3),
            json!(3.5),
            "3.5 is out of range, expected above 0 and at most 3",
        ),
        (
            json!({"multipleOf": 5}),
            json!(-10),
            json!(7),
            "7 is not a multiple of 5",
        ),
        (
            json!({"multipleOf": 0.1}),
            json!(0.3),
            json!(0.35),
            "0.35 is not a multiple of 0.1",
        ),
        (
            json!({"minLength": 2}),
            json!("\u{e9}\u{1f600}"),
            json!("\u{1f600}"),
            "has 1 character, expected at least 2 characters",
        ),
        (
            json!({"maxLength": 1}),
            json!(""),
            json!("ab"),
            "has 2 characters, expected at most 1 character",
        ),
        (
            json!({"minLength": 3, "maxLength": 3}),
            json!("abc"),
            json!("ab"),
            "has 2 characters, expected 3 characters",
        ),
        (
            json!({"pattern": "^[a-z]+$"}),
            json!("abc"),
            json!("aB"),
            "expected text that matches `^[a-z]+$`, got \"aB\"",
        ),
        (
            json!({"minItems": 1, "maxItems": 2}),
            json!([1]),
            json!([]),
            "has 0 elements, expected 1 to 2 elements",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, "1", [1], {"a": 1}, {"a": 2}]),
            json!([{"a": 1}, 2, {"a": 1}]),
            "an object comes twice, expected each once",
        ),
        (
            json!({"minProperties": 1}),
            json!({"a": 1}),
            json!({}),
            "has 0 members, expected at least 1 member",
        ),
    ] {
        assert_eq!(property(schema.clone(), good), Ok(()), "{schema}");
        assert_eq!(
            violation(schema.clone(), bad),
            format!("`p`: {reason}"),
            "{schema}"
        );
        // A constraint of one JSON type accepts values of other types.
        for other in [json!(null), json!(true)] {
            assert_eq!(property(schema.clone(), other), Ok(()), "{schema}");
        }
    }
}

#[test]
fn violations_have_paths_into_nested_values() {
    let small = json!({"maximum": 1});
    let schema = json!({"type": "object", "properties": {
        "list": {"type": "array", "prefixItems": [{}], "items": {"type": "object", "properties": {"n": small}}},
        "map": {"type": "object", "properties": {"x": {}}, "additionalProperties": small},
        "both": {"allOf": [small, {"minimum": 0}]},
        "tree": {"$ref": "#/$defs/tree"},
    }, "$defs": {"tree": {"type": "object", "properties": {
        "n": small, "next": {"$ref": "#/$defs/tree"},
    }}}});
    assert_eq!(
        check(
            &schema,
            &json!({"list": [{"n": 9}, {"n": 1}], "map": {"x": 9}, "unknown": 9})
        ),
        Ok(())
    );
    let arguments = json!({
        "list": [0, {"n": 2}], "map": {"k": 3}, "both": -1, "tree": {"next": {"next": {"n": 4}}},
    });
    assert_eq!(
        check(&schema, &arguments).unwrap_err(),
        "invalid arguments: `list[1].n`: 2 is out of range, expected at most 1; \
         `map.k`: 3 is out of range, expected at most 1; \
         `both`: -1 is out of range, expected at least 0; \
         `tree.next.next.n`: 4 is out of range, expected at most 1"
    );
}

#[test]
fn violation_is_reported_for_selected_alternative() {
    let case = |kind: &str, most: i32| json!({"properties": {"kind": {"const": kind}, "n": {"maximum": most}}, "required": ["kind"]});
    let tagged = json!({"oneOf": [case("a", 5), case("b", 9)]});
    assert_eq!(
        property(tagged.clone(), json!({"kind": "b", "n": 9})),
        Ok(())
    );
    assert!(violation(tagged.clone(), json!({"kind": "a", "n": 9})).starts_with("`p.n`: 9 is out"));
    // No alternative is selected: decoding reports it.
    assert_eq!(property(tagged, json!({"kind": "c", "n": 99})), Ok(()));
    let optional = json!({"anyOf": [{"type": "string", "minLength": 2}, {"type": "null"}]});
    assert_eq!(property(optional.clone(), json!(null)), Ok(()));
    assert!(violation(optional, json!("x")).contains("has 1 character"));
    let either = json!({"anyOf": [{"maxLength": 1}, {"pattern": "^x"}]});
    assert_eq!(property(either.clone(), json!("xyz")), Ok(()));
    assert!(violation(either, json!("yz")).contains("has 2 characters"));
}

#[test]
fn value_with_an_unchecked_schema_is_accepted() {
    let short = json!({"maxLength": 1});
    for (schema, value) in [
        (
            json!({"properties": {"a": true}, "additionalProperties": short}),
            json!({"a": "long", "b": "x"}),
        ),
        (
            json!({"prefixItems": [true, {"maxLength": 9}], "items": short}),
            json!(["long", "long", "x"]),
        ),
        (json!({"anyOf": [short, true]}), json!("long")),
        (
            json!({"minProperties": 1, "patternProperties": {"^x": {}}, "additionalProperties": short}),
            json!({"x": "long"}),
        ),
    ] {
        assert_eq!(property(schema.clone(), value), Ok(()), "{schema}");
    }
    let tuple = json!({"prefixItems": [true, short]});
    assert!(violation(tuple, json!([1, "long"])).starts_with("`p[1]`: has 4 characters"));
    let never = json!({"anyOf": [false, short]});
    assert!(violation(never, json!("long")).starts_with("`p`: has 4 characters"));
}

#[test]
fn schema_without_bounds_has_no_constraints() {
    for schema in [
        json!({}),
        json!({"type": "object", "properties": {"a": {"type": "string", "enum": ["x"], "format": "uri"}}}),
        json!({"properties": {"a": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}}}),
        json!({"properties": {"a": {"type": "integer", "format": "int64", "minimum": i64::MIN}}}),
        json!({"default": {"minimum": 1}, "properties": {"minimum": {"type": "number"}}}),
    ] {
        assert!(constraints(&schema).is_none(), "{schema}");
    }
    let narrower = json!({"properties": {"a": {"format": "uint8", "minimum": 1, "maximum": 255}}});
    assert!(constraints(&narrower).is_some());
}

// spec: PROMPT-03
#[test]
fn string_arguments_are_checked_as_their_json_values() {
    let schema = json!({"properties": {
        "n": {"type": ["integer", "null"], "maximum": 5},
        "list": {"type": "array", "maxItems": 1},
        "text": {"type": "string", "maxLength": 2},
    }});
    let constraints = constraints(&schema).unwrap();
    let check = |arguments: Value| {
        let arguments = RawObject::from_value(&arguments).unwrap();
        constraints
            .check(Some(&arguments), ArgumentFormat::Strings)
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        check(json!({"n": "5", "list": "[1]", "text": "99"})),
        Ok(())
    );
    assert_eq!(check(json!({"n": "no number"})), Ok(()));
    assert_eq!(
        check(json!({"n": "6", "list": "[1, 2]", "text": "999"})).unwrap_err(),
        "invalid arguments: `n`: 6 is out of range, expected at most 5; \
         `list`: has 2 elements, expected at most 1 element; \
         `text`: has 3 characters, expected at most 2 characters"
    );
}

#[test]
fn check_of_hostile_schema_or_value_is_bounded() {
    // The number of reported violations.
    let many: Vec<_> = (10..1000).collect();
    let text = violation(json!({"items": {"maximum": 1}}), json!(many));
    assert_eq!(text.matches("out of range").count(), 8, "{text}");
    // Recursive schemas, and schemas with exponentially many paths.
    let endless = json!({"allOf": [{"$ref": "#"}], "minProperties": 1});
    assert_eq!(check(&endless, &json!({"a": 1})), Ok(()));
    let mut doubling = json!({"$ref": "#/$defs/a24", "$defs": {"a0": {"minProperties": 1}}});
    for level in 1..=24 {
        let below = json!({"$ref": format!("#/$defs/a{}", level - 1)});
        doubling["$defs"][format!("a{level}")] = json!({"allOf": [below, below]});
    }
    let _ = check(&doubling, &json!({}));
    // Deeply nested schemas, large patterns, long strings.
    let deep = (0..500).fold(json!({"maximum": 1}), |inner, _| json!({"items": inner}));
    assert!(Constraints::from_schema(deep.as_object().unwrap()).is_err());
    let large = json!({"pattern": "(a{100}){100}"});
    assert_eq!(constraints(&large).unwrap().unsupported_patterns, [""]);
    let text = violation(json!({"pattern": "x"}), json!("y".repeat(100_000)));
    assert!(
        text.contains("has 100000 bytes") && text.len() < 200,
        "{text}"
    );
}

#[test]
fn check_that_takes_too_long_is_an_error() {
    let alternatives = "(a|a|a|a|a|a|a|a|a|a){100}x";
    let mut deep = json!(["x".repeat(2_000_000)]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    // One search by a large pattern takes a second for a string of 64 KiB.
    for (schema, value) in [
        (json!({"pattern": alternatives}), json!("a".repeat(1 << 16))),
        (
            json!({"items": {"pattern": "^(a?){50}$"}}),
            json!(vec!["a".repeat(40); 1000]),
        ),
        (json!({"items": {"maximum": 1}}), json!(vec![0; 2_000_000])),
        (
            json!({"uniqueItems": true}),
            json!(vec![vec![0; 100]; 25_000]),
        ),
    ] {
        let text = violation(schema, value);
        assert!(
            text.starts_with("too large to be checked in 2000000 steps"),
            "{text}"
        );
    }
    // Nested `uniqueItems` hash the innermost value once per level.
    let reference = json!({"uniqueItems": true, "items": {"$ref": "#/properties/p"}});
    let schema = json!({"type": "object", "properties": {"p": reference}});
    let text = check(&schema, &json!({"p": deep})).unwrap_err();
    assert!(text.contains("too large to be checked"), "{text}");
    // Usual arguments are far below the limit.
    let mails: Vec<_> = (0..5000)
        .map(|index| format!("user{index}@example.com"))
        .collect();
    let schema = json!({"items": {"pattern": "^[a-zA-Z0-9._%+-]+@[a-z.]+$"}, "uniqueItems": true});
    assert_eq!(property(schema, json!(mails)), Ok(()));
    assert_eq!(
        property(json!({"items": {"maximum": 1}}), json!(vec![0; 500_000])),
        Ok(())
    );
}

#[test]
fn unsupported_pattern_is_listed_and_not_checked() {
    let schema =
        json!({"properties": {"a": {"items": {"pattern": "^(?=x)"}}, "b": {"pattern": "x"}}});
    let constraints = constraints(&schema).unwrap();
    assert_eq!(constraints.unsupported_patterns, ["/properties/a/items"]);
    assert!(
        check(&schema, &json!({"a": ["y"], "b": "y"}))
            .unwrap_err()
            .contains("`b`")
    );
}

proptest! {
    /// The checker agrees with a comparison of integers.
    #[test]
    fn range_accepts_exactly_values_inside(least in -50_i64..50, most in -50_i64..50, value in -60_i64..60, open: bool) {
        let schema = if open { json!({"exclusiveMinimum": least, "exclusiveMaximum": most}) } else { json!({"minimum": least, "maximum": most}) };
        let fits = if open { least < value && value < most } else { (least..=most).contains(&value) };
        prop_assert_eq!(property(schema, json!(value)).is_ok(), fits);
    }

    /// No schema and no value makes the checker panic.
    #[test]
    fn check_of_any_schema_and_value_does_not_panic(schema in json_value(), arguments in json_value()) {
        let schema = json!({"properties": {"p": schema}});
        if let Some(constraints) = constraints(&schema) {
            let arguments = RawObject::from_value(&json!({"p": arguments})).unwrap();
            let _ = constraints.check(Some(&arguments), ArgumentFormat::Strings);
        }
    }
}

/// Arbitrary JSON of keywords and values that occur in schemas.
fn json_value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "minimum",
        "maximum",
        "multipleOf",
        "pattern",
        "minLength",
        "items",
        "properties",
        "allOf",
        "anyOf",
        "$ref",
        "#",
        "#/properties/p",
        "type",
        "string",
        "required",
        "const",
        "x",
        "(",
        "uniqueItems",
        "prefixItems",
        "additionalProperties",
        "format",
        "uint8",
        "[1]",
        "7",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(members.collect())
            }),
        ]
    })
}

#[test]
fn format_gives_the_range_for_an_integer() {
    assert_eq!(integer_range("uint8"), Some((0, 255)));
    assert_eq!(integer_range("int8"), Some((-128, 127)));
    assert_eq!(integer_range("uint64"), Some((0, u64::MAX.into())));
    assert_eq!(
        integer_range("int64"),
        Some((i64::MIN.into(), i64::MAX.into()))
    );
    for other in [
        "date", "uint", "int", "uint128", "uint7", "uint999", "u", "interval", "double",
    ] {
        let usize_range = integer_range(other).is_some();
        assert_eq!(usize_range, matches!(other, "uint" | "int"), "{other}");
    }
}

/// 14 schemas in a row apply to the value at each of 126 levels.
#[test]
fn deep_value_and_rows_of_schemas_end_within_the_stack() {
    let run = || {
        for keyword in ["allOf", "anyOf"] {
            let next =
                |level: usize| json!({keyword: [{"$ref": format!("#/$defs/d{}", level + 1)}]});
            let rows = (0..7).map(|level| (format!("d{level}"), next(level)));
            let mut definitions: serde_json::Map<_, _> = rows.collect();
            let last = json!({"properties": {"a": {"$ref": "#/$defs/d0"}, "b": {"minimum": 1}}});
            definitions.insert("d7".to_owned(), last);
            let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
            let nested = |levels| (0..levels).fold(json!({"b": 0}), |inner, _| json!({"a": inner}));
            let refused = check(&schema, &nested(120)).unwrap_err();
            assert!(refused.contains("too large to be checked"), "{refused}");
            let refused = check(&schema, &nested(30)).unwrap_err();
            assert!(refused.contains("0 is out of range"), "{refused}");
            let schema = InputSchema::new(schema.as_object().unwrap().clone());
            let arguments = RawObject::from_value(&nested(120)).unwrap();
            assert!(convert_strings(&arguments, &schema).is_none());
        }
    };
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    thread.spawn(run).unwrap().join().unwrap();
}

/// Long lists in a schema are read for each value, so they count.
#[test]
fn long_lists_in_a_schema_cost_more_steps() {
    let names: Vec<_> = (0..10_000).map(|number| number.to_string()).collect();
    let walk = Walk::of_value();
    let json = json!({"enum": names});
    let schema = Schema::parse(json.as_object().unwrap()).unwrap();
    assert_eq!(types(schema.root(), &walk), [Type::String]);
    assert!(walk.taken() > 100, "{}", walk.taken());
    // 20,000 values with 3,000 alternatives are 60,000,000 comparisons.
    let alternatives = vec![json!({"required": ["a"], "minProperties": 2}); 3_000];
    let schema = json!({"properties": {"p": {"items": {"anyOf": alternatives}}}});
    let refused = check(&schema, &json!({"p": vec![json!({}); 20_000]})).unwrap_err();
    assert!(refused.contains("too large to be checked"), "{refused}");
}
