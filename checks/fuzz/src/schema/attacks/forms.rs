//! Spellings of references, names, numbers, and keywords with values of wrong types.

use serde_json::{Map, Value, json};

use super::attack::{Attack, attack, defs, with_a, with_arguments};

/// Names that have a meaning in JavaScript, in Rust, or in a JSON Pointer; hidden characters; the empty one.
const NAMES: [&str; 16] = [
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "toString",
    "self",
    "crate",
    "type",
    "$ref",
    "$defs",
    "properties",
    "a/b~c%20",
    "",
    " ",
    "\u{202e}a\u{200b}",
    "\u{1b}[31m",
    "*/ }}\"##",
];

/// Keywords from all drafts, OpenAPI and MCP.
pub(super) const KEYWORDS: [&str; 46] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveRef",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "description",
    "else",
    "enum",
    "examples",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minContains",
    "multipleOf",
    "not",
    "nullable",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "readOnly",
    "required",
    "type",
    "unevaluatedProperties",
    "uniqueItems",
    "x-mcp-header",
];

pub(super) fn all() -> Vec<Attack> {
    let mut all = references();
    all.extend(names());
    all.extend(values());
    all
}

fn references() -> Vec<Attack> {
    let spelled = |number: usize| {
        let letters = (0..8).map(|bit| match number >> bit & 1 {
            1 => "%61",
            _ => "a",
        });
        json!({"$ref": format!("#/$defs/{}", letters.collect::<String>())})
    };
    let members: Map<_, _> = (0..256)
        .map(|number| (format!("m{number}"), spelled(number)))
        .collect();
    let dynamic = defs(24, |number| {
        let next = json!({"$dynamicRef": format!("#a{}", (number + 1) % 24)});
        json!({"$dynamicAnchor": format!("a{number}"), "anyOf": [next, next], "unevaluatedProperties": false})
    });
    let resources = defs(24, |number| {
        let next = json!({"$ref": format!("urn:{}#a", (number + 1) % 24)});
        json!({"$id": format!("urn:{number}"), "$anchor": "a", "anyOf": [next, next]})
    });
    let odd = [
        "#/%ff",
        "#/properties/%",
        "#a%00",
        "##",
        "#/",
        "/",
        "",
        "file:///etc/passwd",
        "//host",
        "#/properties/a/~2",
        "#/properties/-1",
        "#/enum/0",
    ];
    let odd: Map<_, _> = odd
        .iter()
        .map(|text| (format!("p{text}"), json!({"$ref": text})))
        .collect();
    vec![
        attack(
            "spellings of a reference",
            json!({"$ref": "#/$defs/aaaaaaaa", "$defs": {"aaaaaaaa": {"properties": members}}}),
        ),
        attack(
            "dynamic anchors",
            json!({"$dynamicRef": "#a0", "$defs": dynamic}),
        ),
        attack("resources", json!({"$ref": "urn:0", "$defs": resources})),
        attack(
            "one anchor of all",
            json!({"$ref": "#a", "$defs": defs(2_000, |_| json!({"$anchor": "a", "$ref": "#a"}))}),
        ),
        attack("odd references", json!({"properties": odd, "enum": [{}]})),
        attack(
            "recursive reference",
            json!({"$recursiveAnchor": true, "items": {"$recursiveRef": "#"}, "properties": {"a": {"$recursiveRef": "#"}}}),
        ),
        attack(
            "long reference",
            with_a(
                json!({"$ref": format!("#/{}", "a/".repeat(30_000))}),
                json!({}),
            ),
        ),
        attack(
            "draft 7 beside its reference",
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"$ref": "#/definitions/a", "type": "string"}}, "definitions": {"a": {"$id": "#x", "items": [{}, {"$ref": "#x"}], "additionalItems": {"$ref": "#x"}}}}),
        ),
    ]
}

fn names() -> Vec<Attack> {
    let of_all = |schema: Value| -> Map<String, Value> {
        NAMES
            .iter()
            .map(|name| ((*name).to_owned(), schema.clone()))
            .collect()
    };
    let inner = json!({"type": "object", "properties": of_all(json!({"$ref": "#"})), "patternProperties": of_all(json!(true))});
    let long = "n".repeat(60_000);
    let many: Map<_, _> = (0..2_000)
        .map(|number| (format!("m{number}"), json!({"type": "string"})))
        .collect();
    let annotated: Map<_, _> = (0..2_000)
        .map(|number| {
            let header = format!("H{number}");
            (
                format!("p{number}"),
                json!({"type": "string", "x-mcp-header": header}),
            )
        })
        .collect();
    vec![
        attack(
            "names with a meaning",
            json!({"type": "object", "properties": of_all(inner), "required": NAMES, "$defs": of_all(json!({"enum": NAMES}))}),
        ),
        attack(
            "keywords by such names",
            Value::Object(of_all(json!({"not": {}}))),
        ),
        attack(
            "texts with hidden characters",
            json!({"title": NAMES.concat(), "description": NAMES.concat().repeat(200), "properties": {"a": {"const": NAMES.concat(), "default": NAMES, "format": NAMES[14]}}}),
        ),
        attack(
            "long name above many schemas",
            json!({"properties": {&*long: {"properties": many, "x-mcp-header": long}}}),
        ),
        attack(
            "long name of a keyword",
            with_a(json!({"type": "string", &*long: long}), json!({})),
        ),
        attack(
            "long type",
            with_a(
                json!({"type": [long, "string"], "x-mcp-header": "A"}),
                json!({}),
            ),
        ),
        attack(
            "many headers",
            json!({"type": "object", "properties": annotated}),
        ),
        attack(
            "required names that are no properties",
            json!({"type": "object", "required": (0..20_000).map(|number| format!("n{number}")).collect::<Vec<_>>()}),
        ),
    ]
}

fn values() -> Vec<Attack> {
    let numbers = [
        json!(0),
        json!(-0.0),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(-1e308),
        json!(5e-324),
        json!(9_007_199_254_740_993_u64),
        json!(1e18),
        json!(0.1),
    ];
    let numeric = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "minContains",
        "maxContains",
    ];
    let properties: Map<_, _> = numeric
        .iter()
        .flat_map(|keyword| {
            let property = move |(index, number): (usize, &Value)| {
                let kind = ["integer", "number", "string", "array", "object"];
                let property = json!({"type": kind[index % 5], *keyword: number});
                (format!("{keyword}{index}"), property)
            };
            numbers.iter().enumerate().map(property)
        })
        .collect();
    let given: Map<_, _> = properties
        .keys()
        .zip(numbers.iter().cycle())
        .map(|(name, number)| (name.clone(), number.clone()))
        .collect();
    let wrong = [
        json!(null),
        json!(true),
        json!(-1.5),
        json!("#"),
        json!("[("),
        json!([]),
        json!([null, 7, "a", {}, [[]]]),
        json!({}),
        json!({"a": 7, "": null, "b": ["c"], "d": {"$ref": 7}}),
    ];
    let mut all = vec![
        with_arguments(
            "numbers at the edge",
            json!({"type": "object", "properties": properties}),
            Value::Object(given),
        ),
        attack(
            "lengths without an end",
            json!({"type": "object", "required": ["a", "b"], "properties": {
                "a": {"type": "string", "minLength": u64::MAX}, "b": {"type": "array", "minItems": u64::MAX},
            }}),
        ),
        attack(
            "ranges without a value",
            with_a(
                json!({"type": "integer", "minimum": 9, "maximum": 1, "multipleOf": 0, "not": {}, "enum": []}),
                json!({}),
            ),
        ),
    ];
    // Each keyword with each wrong value: beside all others, and in properties of their own.
    for (number, value) in wrong.iter().enumerate() {
        let keywords = KEYWORDS.map(|keyword| (keyword.to_owned(), value.clone()));
        let beside: Map<_, _> = keywords.into_iter().collect();
        let alone = KEYWORDS.map(|keyword| (keyword.to_owned(), json!({keyword: value})));
        let alone: Map<_, _> = alone.into_iter().collect();
        all.push(attack(
            format!("wrong value {number}, together"),
            Value::Object(beside),
        ));
        all.push(attack(
            format!("wrong value {number}, alone"),
            json!({"type": "object", "properties": alone}),
        ));
    }
    all
}
