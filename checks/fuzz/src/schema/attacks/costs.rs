//! Keywords that are large, and those whose evaluation is dear.

use serde_json::{Map, Value, json};

use super::attack::{Attack, attack, defs, nested, reference, with_a, with_arguments};

/// Bytes of a keyword: a quarter of the longest schema.
const LONG: usize = 64 << 10;

pub(super) fn all() -> Vec<Attack> {
    let mut all = large();
    all.extend(patterns());
    all.extend(dear());
    all
}

fn large() -> Vec<Attack> {
    let long = "x".repeat(LONG);
    let words: Vec<_> = (0..20_000).map(|number| format!("w{number}")).collect();
    let often = |items: &Value| {
        let list = json!({"type": "array", "minItems": 10_000, "items": items});
        with_a(
            json!({"type": "array", "minItems": 10, "items": list}),
            json!({}),
        )
    };
    vec![
        attack(
            "long pattern at many references",
            json!({"pattern": long, "anyOf": vec![json!({"$ref": "#"}); 500]}),
        ),
        attack(
            "long text at many references",
            with_a(
                json!({"anyOf": vec![reference(0); 1_000]}),
                defs(1, |_| json!({"type": "string", "const": long})),
            ),
        ),
        attack(
            "long description at many references",
            with_a(
                json!({"properties": {"a": reference(0), "b": reference(0)}, "allOf": vec![reference(0); 100]}),
                defs(1, |_| json!({"description": long, "examples": [long]})),
            ),
        ),
        attack(
            "long values",
            with_a(json!({"type": "string", "enum": vec![&long; 3]}), json!({})),
        ),
        attack(
            "long value in a long list",
            with_a(
                json!({"type": "array", "items": {"const": long}, "minItems": 1_000}),
                json!({}),
            ),
        ),
        attack("huge enum", with_a(json!({"enum": words}), json!({}))),
        attack(
            "huge enum at many references",
            with_a(
                json!({"anyOf": vec![reference(0); 200]}),
                defs(1, |_| json!({"enum": words})),
            ),
        ),
        attack(
            "two types without end",
            with_a(
                json!({"type": vec!["null"; 30_000], "enum": vec![Value::Null; 20_000]}),
                json!({}),
            ),
        ),
        attack(
            "null alternatives in long lists",
            often(&json!({"anyOf": vec![json!({"type": "null"}); 4_000]})),
        ),
        attack(
            "null types in long lists",
            often(&json!({"type": vec!["null"; 30_000]})),
        ),
        attack(
            "constants in long lists",
            often(&json!({"enum": vec![1; 100_000]})),
        ),
        attack(
            "larger than the limit",
            json!({"type": "object", "description": "x".repeat(2 << 20)}),
        ),
        attack(
            "default as large as the schema",
            with_a(
                json!({"type": "array", "default": vec![7; 50_000]}),
                json!({}),
            ),
        ),
        attack(
            "deep data",
            with_a(
                json!({"default": nested(110, json!(1), |inner| json!([inner])), "const": nested(110, json!(1), |inner| json!({"not": inner}))}),
                json!({}),
            ),
        ),
    ]
}

fn patterns() -> Vec<Attack> {
    let patterns = [
        ("power", "^(a*)*c$"),
        ("alternatives", "(a|a|a|a|a|a|a|a|a|a){100}x"),
        ("optional", "^(a?){50}$"),
        ("size", "(a{100}){100}"),
        ("repeat", ".{0,65535}.{0,65535}"),
        ("classes", "\\p{L}{200}[\\w\\W]{200}"),
        ("look-around", "^(?=a)(?!b)(?<=c)\\1"),
        ("invalid", "[("),
    ];
    let mut all: Vec<_> = patterns
        .iter()
        .map(|(name, pattern)| {
            let property = json!({"type": "string", "pattern": pattern, "minLength": 3});
            let schema = json!({"type": "object", "properties": {"a": property}, "patternProperties": {*pattern: {"type": "string"}}, "required": ["a"]});
            let text = "a".repeat(20_000);
            let arguments = json!({"a": text, "aaaaaaaaaaaaaaaaaaaaaaaaaaa": 1});
            with_arguments(format!("pattern: {name}"), schema, arguments)
        })
        .collect();
    let many: Map<_, _> = (0..1_000)
        .map(|number| {
            (
                format!("(a{{{number}}}){{20}}"),
                json!({"pattern": format!("^(b{{{number}}})*$")}),
            )
        })
        .collect();
    all.push(attack("many patterns", json!({"patternProperties": many})));
    // The parser of patterns reads 250 levels.
    for (name, levels, start, end) in [
        ("depth", 30, "(", ")*"),
        ("depth of captures", 120, "(", ")*"),
        ("depth of groups", 80, "(?:b|", "c)+?"),
        ("depth of counts", 120, "(?:", ")?"),
        ("depth of repetitions", 240, "", "*"),
    ] {
        let deep = [&start.repeat(levels), "a", &end.repeat(levels)].concat();
        all.push(attack(
            format!("pattern: {name}"),
            with_a(json!({"pattern": deep}), json!({})),
        ));
    }
    all
}

/// Keywords whose evaluation costs more the larger their value or the argument is.
fn dear() -> Vec<Attack> {
    let lists = |count: usize| (0..count).map(|number| json!([number])).collect::<Vec<_>>();
    let names: Vec<_> = (0..2_000).map(|number| format!("name{number}")).collect();
    let text = "a".repeat(256 << 10);
    let repeated = |schema: Value| json!({"allOf": vec![schema; 100]});
    let unevaluated = |levels, keyword: &str, inner: Value| {
        nested(
            levels,
            inner,
            |inner| json!({"anyOf": [inner], keyword: false}),
        )
    };
    let many = |count: usize, value: Value| json!(vec![value; count]);
    let rows = [
        (
            "enum of arrays",
            json!({"items": {"enum": lists(1_500)}}),
            many(3_000, json!([-1])),
        ),
        (
            "unique arrays",
            json!({"uniqueItems": true}),
            json!(lists(10_000)),
        ),
        (
            "unique in unique",
            json!({"uniqueItems": true, "items": {"$ref": "#/properties/a"}}),
            json!([[[["x".repeat(100_000)]]]]),
        ),
        (
            "maxLength",
            repeated(json!({"maxLength": 20_000_000})),
            json!(text),
        ),
        (
            "names",
            repeated(json!({"propertyNames": {"minLength": 1}})),
            json!({&*text: 1}),
        ),
        (
            "enum of texts",
            repeated(json!({"enum": ["a".repeat(100), "b"]})),
            json!(text),
        ),
        (
            "contents",
            repeated(json!({"contentEncoding": "base64"})),
            json!(text),
        ),
        ("pattern", repeated(json!({"pattern": "^a+$"})), json!(text)),
        (
            "required",
            json!({"items": {"required": names}}),
            many(2_000, json!({})),
        ),
        (
            "contains",
            repeated(json!({"contains": {"const": 0}})),
            many(10_000, json!(0)),
        ),
        (
            "unevaluatedProperties",
            unevaluated(
                30,
                "unevaluatedProperties",
                json!({"properties": {"a": true}}),
            ),
            json!({"a": 1}),
        ),
        (
            "unevaluatedItems",
            unevaluated(30, "unevaluatedItems", json!({"items": true})),
            json!([1]),
        ),
        (
            "wrong types",
            json!({"anyOf": [{"items": {"type": "string"}}, {"items": {"maximum": 1}}]}),
            many(30_000, json!(2)),
        ),
    ];
    let rows = rows.into_iter().map(|(name, property, value)| {
        let mut schema = with_a(property, json!({}));
        schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
        with_arguments(format!("dear: {name}"), schema, json!({"a": value}))
    });
    rows.collect()
}
