//! Rows, circles and powers of references and alternatives; width and depth.

use serde_json::{Map, Value, json};

use super::attack::{Attack, attack, defs, nested, reference, row, with_a};

/// A function that puts a schema into another one.
type Outer = fn(Value) -> Value;

pub(super) fn all() -> Vec<Attack> {
    let mut all = rows();
    all.extend(powers());
    all.extend(circles());
    all.extend(shapes());
    all
}

fn rows() -> Vec<Attack> {
    let numbered = |length: usize| {
        let next = |number: usize| json!({"$ref": format!("#/$defs/{}", number + 1)});
        let defs = (0..length).map(|number| (number.to_string(), next(number)));
        json!({"$ref": "#/$defs/0", "$defs": defs.collect::<Map<_, _>>()})
    };
    vec![
        attack("row of references", row(2_000, |next| next)),
        attack("row of references within the limit", row(60, |next| next)),
        attack("row of references at the root, to nothing", numbered(2_000)),
        attack(
            "row of alternatives",
            row(1_990, |next| json!({"anyOf": [next]})),
        ),
        attack(
            "row of properties",
            row(
                200,
                |next| json!({"type": "object", "properties": {"a": next}, "required": ["a"]}),
            ),
        ),
        attack("row of allOf", row(200, |next| json!({"allOf": [next]}))),
        attack(
            "row of optional members",
            row(
                200,
                |next| json!({"anyOf": [{"properties": {"a": next}}, {"type": "null"}]}),
            ),
        ),
        attack(
            "row below unevaluatedProperties",
            row(60, |mut next| {
                next["unevaluatedProperties"] = json!(false);
                next
            }),
        ),
        attack(
            "row of negations",
            row(200, |next| json!({"not": {"not": next}})),
        ),
        attack(
            "row of items",
            row(120, |next| json!({"type": "array", "items": next})),
        ),
    ]
}

fn powers() -> Vec<Attack> {
    let wide = |keyword: &str| row(4, |next| json!({keyword: vec![next; 100]}));
    let three = |keyword: &str| row(40, |next| json!({keyword: [next, next, next]}));
    let inline = |inner: &Value| json!({"allOf": vec![inner.clone(); 60]});
    let mut all = vec![
        attack(
            "alternatives to the power of 8",
            row(9, |next| json!({"anyOf": vec![next; 6]})),
        ),
        attack(
            "properties to the power of 14",
            row(
                15,
                |next| json!({"type": "object", "properties": {"a": next, "b": next}, "required": ["a", "b"]}),
            ),
        ),
        attack(
            "allOf and anyOf in turn",
            row(40, |next| json!({"allOf": [next, next], "anyOf": [next]})),
        ),
        attack(
            "conditions",
            row(40, |next| json!({"if": next, "then": next, "else": next})),
        ),
        attack(
            "dependent schemas",
            row(
                40,
                |next| json!({"dependentSchemas": {"a": next, "b": next}}),
            ),
        ),
        attack(
            "two references below unevaluatedProperties",
            row(
                24,
                |next| json!({"anyOf": [next, next], "unevaluatedProperties": false}),
            ),
        ),
        attack(
            "two references below unevaluatedItems",
            row(
                24,
                |next| json!({"oneOf": [next, next], "unevaluatedItems": false, "unevaluatedProperties": {}}),
            ),
        ),
        attack(
            "one level of allOf in another",
            with_a(inline(&inline(&json!({"type": "string"}))), json!({})),
        ),
        attack(
            "two recursive alternatives",
            json!({"anyOf": [
                {"properties": {"a": {"$ref": "#"}, "kind": {"const": "a"}}},
                {"properties": {"a": {"$ref": "#"}, "kind": {"const": "b"}}},
            ]}),
        ),
    ];
    for keyword in ["allOf", "oneOf"] {
        all.push(attack(format!("wide {keyword}"), wide(keyword)));
        all.push(attack(
            format!("{keyword} to the power of 40"),
            three(keyword),
        ));
    }
    all
}

fn circles() -> Vec<Attack> {
    let of_each_other = |keyword: &str| {
        defs(
            60,
            |_| json!({keyword: (0..60).map(reference).collect::<Vec<_>>()}),
        )
    };
    let itself = json!({"$ref": "#/properties/a"});
    vec![
        attack("reference to itself", json!({"$ref": "#"})),
        attack("property that is itself", with_a(itself.clone(), json!({}))),
        attack(
            "circle",
            with_a(reference(0), defs(2, |number| reference(1 - number))),
        ),
        attack(
            "circle of 60",
            with_a(
                reference(0),
                defs(60, |number| reference((number + 1) % 60)),
            ),
        ),
        attack(
            "circle of alternatives",
            with_a(
                reference(0),
                defs(2, |number| json!({"anyOf": vec![reference(1 - number); 9]})),
            ),
        ),
        attack(
            "circle through the root",
            json!({"type": "object", "allOf": [{"$ref": "#"}, {"$ref": "#"}], "minProperties": 1}),
        ),
        attack(
            "wide circle",
            json!({"anyOf": vec![json!({"$ref": "#"}); 100]}),
        ),
        attack(
            "alternatives that are their property",
            with_a(json!({"anyOf": vec![itself; 8]}), json!({})),
        ),
        attack(
            "anyOf of each other",
            with_a(reference(0), of_each_other("anyOf")),
        ),
        attack(
            "allOf of each other",
            with_a(reference(0), of_each_other("allOf")),
        ),
        attack(
            "circle through negation",
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
        ),
        attack(
            "members without end",
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
        ),
        attack(
            "items without end",
            json!({"items": {"$ref": "#"}, "minItems": 3}),
        ),
        attack(
            "places without end",
            json!({"properties": {"a": {"prefixItems": [{"$ref": "#/properties/a"}], "minItems": 1, "maxItems": 1}}}),
        ),
        attack(
            "any member without end",
            json!({"additionalProperties": {"$ref": "#"}}),
        ),
        attack(
            "alternatives of each other",
            json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}], "$defs": {
                "A": {"oneOf": [{"$ref": "#/$defs/B"}, {"type": "number"}]}, "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
            }}),
        ),
        attack(
            "contained without end",
            json!({"allOf": [{"allOf": [{"$ref": "#/$defs/a"}], "unevaluatedItems": false}], "unevaluatedItems": false, "$defs": {
                "a": {"oneOf": [{"items": {"$ref": "#"}}, {"contains": {"$ref": "#"}}]},
            }}),
        ),
    ]
}

/// Definitions, each around the reference to the one before it, and a property for each. A visitor that knows the definitions
/// which it has seen goes no deeper than one of them, but what it makes of them can grow.
fn defined(count: usize, outer: impl Fn(Value) -> Value) -> Value {
    let defs = defs(count, |number| match number {
        0 => json!({"type": "string"}),
        _ => outer(reference(number - 1)),
    });
    let properties = (0..count).map(|number| (format!("a{number:02}"), reference(number)));
    json!({"type": "object", "properties": properties.collect::<Map<_, _>>(), "$defs": defs})
}

fn shapes() -> Vec<Attack> {
    let names: Map<String, Value> = (0..4_000)
        .map(|number| (format!("p{number}"), json!({"type": "string"})))
        .collect();
    let referred: Map<String, Value> = (0..2_000)
        .map(|number| (format!("p{number}"), reference(1)))
        .collect();
    let mut all = vec![
        attack("many subschemas", json!({"anyOf": vec![json!({}); 9_000]})),
        attack(
            "many properties",
            json!({"type": "object", "properties": names, "additionalProperties": false}),
        ),
        attack(
            "wide objects at many references",
            with_a(
                json!({"anyOf": vec![reference(0); 1_000]}),
                defs(2, |number| match number {
                    0 => json!({"properties": referred}),
                    _ => json!({"type": "string"}),
                }),
            ),
        ),
        attack(
            "many references to data",
            json!({"data": vec![json!({}); 9_000], "anyOf": (0..4_000).map(|number| json!({"$ref": format!("#/data/{number}")})).collect::<Vec<_>>()}),
        ),
        attack(
            "references that add each other",
            json!({"a": {"b": {"c": {"$ref": "#/a/b"}, "$ref": "#/a/b/c"}, "$ref": "#/a/b"}, "$ref": "#/a"}),
        ),
        attack(
            "long lists of long lists",
            nested(
                30,
                json!({"type": "string", "minLength": 1_000}),
                |items| json!({"type": "array", "items": items, "minItems": 1_000}),
            ),
        ),
        attack(
            "longest list of lists",
            with_a(
                json!({"type": "array", "minItems": 1e18, "items": {"$ref": "#/properties/a"}}),
                json!({}),
            ),
        ),
        attack(
            "lists of defined lists",
            defined(40, |inner| {
                nested(
                    20,
                    inner,
                    |items| json!({"type": ["array", "null"], "items": items}),
                )
            }),
        ),
        attack(
            "maps of defined maps",
            defined(40, |inner| {
                nested(
                    20,
                    inner,
                    |values| json!({"type": "object", "additionalProperties": values}),
                )
            }),
        ),
        attack(
            "tuples of defined tuples",
            defined(
                12,
                |inner| json!({"type": "array", "prefixItems": vec![inner; 12], "minItems": 12, "maxItems": 12}),
            ),
        ),
        attack(
            "alternatives of defined alternatives",
            defined(20, |inner| {
                nested(
                    10,
                    inner,
                    |inner| json!({"anyOf": [{"type": "array", "items": inner}, {"type": "null"}]}),
                )
            }),
        ),
        attack(
            "halves of halves",
            with_a(
                nested(
                    9,
                    json!({"type": "string"}),
                    |inner| json!({"anyOf": [{"allOf": [inner, {}]}, {"allOf": [inner, {"title": "x"}]}]}),
                ),
                json!({}),
            ),
        ),
    ];
    // JSON has 128 levels at most. Each of these takes one of them, or two.
    let outer: [(&str, usize, Outer); 4] = [
        ("items", 1, |inner| json!({"type": "array", "items": inner})),
        (
            "properties",
            2,
            |inner| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}),
        ),
        ("allOf", 2, |inner| json!({"allOf": [inner]})),
        (
            "anyOf",
            2,
            |inner| json!({"anyOf": [inner], "unevaluatedProperties": false}),
        ),
    ];
    for (name, levels) in [("deep", 60), ("deepest", 120)] {
        for (keyword, each, outer) in outer {
            let inner = nested(levels / each, json!({"type": "string"}), outer);
            all.push(attack(
                format!("{name}: {keyword}"),
                with_a(inner, json!({})),
            ));
        }
    }
    all
}
