//! The rules XHDR-01 to XHDR-21 by tables.

use allocation_counter::measure;
use mcp_types::{JsonObject, RawObject};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::ParamHeaders;
use super::decimal::Decimal;
use super::values::ParamValue;

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

fn plan(properties: Value) -> Result<Option<ParamHeaders>, String> {
    let schema = json!({"type": "object", "properties": properties});
    ParamHeaders::from_schema(&object(schema)).map_err(|error| error.to_string())
}

fn string(header: &str) -> Value {
    json!({"type": "string", "x-mcp-header": header})
}

fn names(properties: Value) -> Vec<String> {
    let plan = plan(properties).unwrap();
    let names = plan.iter().flat_map(ParamHeaders::names);
    names.map(str::to_owned).collect()
}

// spec: XHDR-01, XHDR-06, XHDR-07
#[test]
fn annotated_properties_are_found() {
    assert_eq!(plan(json!({"a": {"type": "string"}})), Ok(None));
    assert_eq!(
        names(json!({
            "a": string("Region"),
            "b": {"type": "integer", "x-mcp-header": "Max-Count_1.x~"},
            "c": {"type": "boolean", "x-mcp-header": "!#$%&'*+-.^_`|~"},
            "d": {"type": "object", "properties": {
                "e": {"type": "object", "properties": {"f": string("Deep")}},
            }},
        })),
        ["Region", "Max-Count_1.x~", "!#$%&'*+-.^_`|~", "Deep"]
    );
    // A property of that name and data that resembles a schema are not annotations.
    assert_eq!(
        names(json!({
            "x-mcp-header": {"type": "string"},
            "a": {"type": "object", "default": {"x-mcp-header": "No"}, "x-other": string("No")},
            "b": {"const": {"x-mcp-header": 1}, "enum": [string("No")], "examples": [string("No")]},
        })),
        Vec::<String>::new()
    );
}

// spec: XHDR-03, XHDR-04, XHDR-05, XHDR-06
#[test]
fn invalid_header_name_or_type_is_an_error() {
    let typed = |kind: Value| json!({"a": {"type": kind, "x-mcp-header": "A"}});
    for (properties, expected) in [
        (json!({"a": string("")}), "the name is empty"),
        (
            json!({"a": {"type": "string", "x-mcp-header": 1}}),
            "the name is not a string",
        ),
        (
            json!({"a": {"type": "string", "x-mcp-header": null}}),
            "the name is not a string",
        ),
        (json!({"a": string("My Region")}), "is not a header name"),
        (json!({"a": string("Region:")}), "is not a header name"),
        (json!({"a": string("Region\t")}), "is not a header name"),
        (json!({"a": string("R\u{e9}gion")}), "is not a header name"),
        (json!({"a": string("a\r\nb")}), "is not a header name"),
        (json!({"a": string("A"), "b": string("A")}), "is used twice"),
        (
            json!({"a": string("Region"), "b": string("REGION")}),
            "is used twice",
        ),
        (
            json!({"a": string("A"), "b": {"type": "object", "properties": {"c": string("a")}}}),
            "\"/properties/b/properties/c\" of the input schema: \"a\" is used twice",
        ),
        (typed(json!("number")), "its type is \"number\""),
        (typed(json!("object")), "its type is \"object\""),
        (typed(json!("array")), "its type is \"array\""),
        (typed(json!("null")), "its type is \"null\""),
        (
            typed(json!(["string", "null"])),
            "its type is [\"string\",\"null\"]",
        ),
        (typed(json!(["string"])), "its type is [\"string\"]"),
        (json!({"a": {"x-mcp-header": "A"}}), "its type is not given"),
    ] {
        let error = plan(properties.clone()).expect_err(&properties.to_string());
        assert!(error.contains(expected), "{properties}: {error}");
    }
}

/// Names of a megabyte above many schemas, headers without end, and annotations anywhere.
#[test]
fn hostile_schemas_cost_what_their_bytes_cost() {
    let long = "n".repeat(1 << 20);
    let many = |header: fn(usize) -> Value| -> serde_json::Map<String, Value> {
        (0..2_000)
            .map(|number| (format!("p{number}"), header(number)))
            .collect()
    };
    let annotated = many(|number| string(&format!("H{number}")));
    let plain = many(|_| json!({"type": "string"}));
    let below = |members: &serde_json::Map<String, Value>| json!({long.clone(): {"type": "object", "properties": members}});
    for (name, properties, expected) in [
        ("long names", below(&plain), "Ok(None)"),
        ("a long name", below(&annotated), "more than 262144 bytes"),
        (
            "a long path",
            json!({long[..2_000]: {"type": "object", "properties": {"a": string("A")}}}),
            "more than 1000 bytes",
        ),
        (
            "long locations",
            json!({long[..2_000]: {"type": "object", "properties": annotated}}),
            "more than 2097152 bytes together",
        ),
        (
            "many headers",
            annotated.clone().into(),
            "more than 64 arguments",
        ),
        (
            "a long header",
            json!({"a": string(&"é".repeat(100_000))}),
            "is not a header name",
        ),
        (
            "a long type",
            json!({"a": {"type": [long[..200_000]], "x-mcp-header": "A"}}),
            "its type is",
        ),
    ] {
        let schema = object(json!({"type": "object", "properties": properties}));
        let mut found = String::new();
        let memory = measure(|| {
            found = format!(
                "{:?}",
                ParamHeaders::from_schema(&schema).map_err(|error| error.to_string())
            )
        });
        assert!(found.contains(expected), "{name}: {found:.200}");
        assert!(found.len() < 5_000, "{name}: {}", found.len());
        assert!(
            memory.bytes_total < 16 << 20,
            "{name}: {} bytes",
            memory.bytes_total
        );
    }
    let nested = (0..120).fold(json!({}), |inner, level| {
        json!({"type": "object", "properties": {"a": inner}, "allOf": [{"items": {format!("x{level}"): 1}}]})
    });
    assert_eq!(ParamHeaders::from_schema(&object(nested)), Ok(None));
}

/// A server that verifies no headers would let proxies route by what it has not seen.
#[test]
fn annotated_schema_beyond_the_limits_is_an_error() {
    let deep = (0..200).fold(json!({}), |inner, _| json!({"items": inner}));
    let links = (0..100).map(|link| {
        (
            link.to_string(),
            json!({"$ref": format!("#/$defs/{}", link + 1)}),
        )
    });
    let links = Value::from_iter(links);
    for (keyword, value, expected) in [
        (
            "description",
            "d".repeat(300 << 10).into(),
            "at \"\" of the input schema: the schema has more than 262144 bytes",
        ),
        ("not", deep, "deeper than 128 levels"),
        (
            "$defs",
            links,
            "at \"/$defs/0\" of the input schema: the schema has more than 64 references",
        ),
    ] {
        let mut schema = object(json!({"type": "object", "properties": {"a": string("A")}}));
        schema.insert(keyword.to_owned(), value);
        let error = ParamHeaders::from_schema(&schema).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:.200}");
        schema.insert("properties".to_owned(), json!({"a": {"type": "string"}}));
        assert_eq!(ParamHeaders::from_schema(&schema), Ok(None));
    }
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(true)),
        Just(json!({"$ref": "#"})),
        Just(json!(7)),
        "[A-Ca-c ]{0,2}".prop_map(|name| json!({"type": "string", "x-mcp-header": name})),
        Just(json!({"type": ["string"], "x-mcp-header": ["A"]})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let members = prop::collection::btree_map("[a-c~/.]{0,2}", inner.clone(), 0..4);
        let members = members.prop_map(|members| json!(members));
        let list = prop::collection::vec(inner, 0..3).prop_map(Value::from);
        let keyword = prop_oneof![
            Just("properties"),
            Just("properties"),
            Just("$defs"),
            Just("allOf"),
            Just("items"),
            Just("const"),
        ];
        (keyword, prop_oneof![members, list]).prop_map(|(keyword, inside)| json!({keyword: inside}))
    })
}

proptest! {
    #[test]
    fn any_schema_has_a_bounded_plan_or_an_error(schema in schema()) {
        let Value::Object(schema) = schema else { return Ok(()) };
        if let Ok(Some(plan)) = ParamHeaders::from_schema(&schema) {
            let names: Vec<_> = plan.names().map(str::to_ascii_lowercase).collect();
            let mut unique = names.clone();
            unique.sort_unstable();
            unique.dedup();
            prop_assert_eq!(unique.len(), names.len());
            prop_assert!(names.len() <= 64 && plan.arguments().all(|path| path.len() <= 1_000));
        }
    }
}

// spec: XHDR-07
#[test]
fn annotation_outside_properties_is_an_error() {
    let below = object(json!({"type": "object", "properties": {"a": string("A")}}));
    let direct = [
        "items",
        "prefixItems",
        "contains",
        "additionalProperties",
        "unevaluatedProperties",
        "unevaluatedItems",
        "propertyNames",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
    ];
    for keyword in direct {
        for schema in [string("A"), below.clone().into()] {
            for held in [schema.clone(), json!([schema])] {
                let root = json!({"type": "object", keyword: held});
                let error = ParamHeaders::from_schema(&object(root.clone()))
                    .unwrap_err()
                    .to_string();
                assert!(error.contains("`properties` alone"), "{root}: {error}");
                plan(json!({"x": {"type": "object", keyword: held}})).unwrap_err();
            }
        }
    }
    for keyword in [
        "$defs",
        "definitions",
        "patternProperties",
        "dependentSchemas",
    ] {
        let root = json!({"type": "object", keyword: {"x": string("A")}});
        let error = ParamHeaders::from_schema(&object(root.clone()))
            .unwrap_err()
            .to_string();
        assert!(error.contains("`properties` alone"), "{root}: {error}");
    }
    let root = json!({"type": "object", "x-mcp-header": "A"});
    ParamHeaders::from_schema(&object(root)).unwrap_err();
}

fn values(properties: Value, arguments: &str) -> Result<Vec<Option<ParamValue>>, String> {
    let plan = plan(properties).unwrap().unwrap();
    let arguments = RawObject::from_text(arguments).unwrap();
    let values = plan
        .arguments_of(Some(&arguments))
        .map_err(|error| error.to_string())?;
    Ok(values.into_iter().map(|found| found.value).collect())
}

// spec: XHDR-11, XHDR-12
#[test]
fn values_are_found_by_path() {
    let properties = json!({
        "a": string("A"),
        "o": {"type": "object", "properties": {"a": string("B"), "n": {"type": "integer", "x-mcp-header": "C"}}},
    });
    let text = |text: &str| Some(ParamValue::Text(text.to_owned()));
    let number = |text: &str| Some(ParamValue::Number(text.to_owned()));
    for (arguments, expected) in [
        ("{}", [None, None, None]),
        (r#"{"a": null, "o": null}"#, [None, None, None]),
        (
            r#"{"x": {"a": "no"}, "a": "é\n"}"#,
            [text("é\n"), None, None],
        ),
        (
            r#"{"o": {"n": 42.0, "a": ""}, "a": "x"}"#,
            [text("x"), text(""), number("42.0")],
        ),
        (
            r#"{"o": [{"a": "no"}], "a": true}"#,
            [Some(ParamValue::Bool(true)), None, None],
        ),
        (
            r#"{"o": "a", "a": {"b": 1}}"#,
            [Some(ParamValue::Compound), None, None],
        ),
    ] {
        assert_eq!(
            values(properties.clone(), arguments).unwrap(),
            expected,
            "{arguments}"
        );
    }
    for twice in [
        r#"{"a": 1, "b": 2, "a": 1}"#,
        r#"{"o": {"a": 1, "\u0061": 2}}"#,
    ] {
        let error = values(properties.clone(), twice).unwrap_err();
        assert_eq!(error, "the argument \"a\" is given twice; give it once");
    }
    let plan = plan(properties).unwrap().unwrap();
    let absent = plan.arguments_of(None).unwrap();
    assert!(absent.iter().all(|found| found.value.is_none()));
    let paths: Vec<_> = absent.iter().map(|found| found.argument).collect();
    assert_eq!(paths, ["a", "o.a", "o.n"]);
}

// spec: XHDR-11, XHDR-18
#[test]
fn numbers_are_sent_in_decimal_and_compared_by_value() {
    for (body, sent, same, other) in [
        ("42", "42", "42.0", "43"),
        ("42.0", "42", "4.2e1", "42.1"),
        ("-7", "-7", "-7", "7"),
        ("0", "0", "-0", "00"),
        ("1e3", "1000", "1000.00", "1e4"),
        ("100e-2", "1", "1", "+1"),
        ("1.5", "1.5", "15E-1", "1.50001"),
        (
            "9007199254740991",
            "9007199254740991",
            "9007199254740991.0",
            "9007199254740992",
        ),
        ("5", "5", "5e0", " 5"),
        ("5", "5", "5", ""),
        ("5", "5", "5", "5."),
        ("5", "5", "5", ".5e1"),
        ("5", "5", "5", "NaN"),
        ("5", "5", "5", "0x5"),
        ("5", "5", "5", "5e99999999999"),
    ] {
        let value = ParamValue::Number(body.to_owned());
        assert_eq!(value.text().as_deref(), Some(sent), "{body}");
        assert!(
            value.matches_header(sent) && value.matches_header(same),
            "{body} {same}"
        );
        assert!(!value.matches_header(other), "{body} {other}");
        assert!(!value.is_unsafe_integer(), "{body}");
    }
    for unsafe_integer in [
        "9007199254740992",
        "-9007199254740992",
        "1e300",
        "1e999999999999",
    ] {
        let value = ParamValue::Number(unsafe_integer.to_owned());
        assert!(value.is_unsafe_integer(), "{unsafe_integer}");
    }
    assert!(ParamValue::Bool(false).matches_header("false"));
    assert!(!ParamValue::Bool(false).matches_header("False"));
    assert!(!ParamValue::Compound.matches_header("{}"));
    assert_eq!(ParamValue::Compound.text(), None);
}

proptest! {
    #[test]
    fn sent_value_matches_its_header(text in ".*", number in any::<f64>(), integer in any::<i64>()) {
        prop_assume!(number.is_finite());
        let numbers = [json!(number).to_string(), json!(integer).to_string()];
        for value in numbers.map(ParamValue::Number).into_iter().chain([ParamValue::Text(text)]) {
            let sent = value.text().unwrap();
            prop_assert!(value.matches_header(&sent), "{value:?} {sent}");
        }
    }

    #[test]
    fn integers_are_compared_as_integers(one in any::<i32>(), other in any::<i32>()) {
        let decimal = |number: i32| Decimal::parse(&number.to_string()).unwrap();
        prop_assert_eq!(decimal(one) == decimal(other), one == other);
        prop_assert_eq!(decimal(one).as_safe_integer(), Some(i64::from(one)));
    }
}
