//! Unusual and hostile schemas.

use std::time::{Duration, Instant};

use mcp_client::catalog::Snapshot;
use mcp_gen::{Generated, Generator};
use serde_json::{Value, json};

/// Generates a client whose one tool has the schema twice, and checks that the code is Rust.
pub(crate) fn generate(schema: &Value) -> Generated {
    let tool = json!({"name": "t", "inputSchema": schema, "outputSchema": schema});
    let snapshot = Snapshot::from_value(json!({ "tools": [tool] })).unwrap();
    let generated = Generator::client("t").generate(&snapshot).unwrap();
    let source = generated.to_source();
    let source = source.unwrap_or_else(|error| panic!("{schema}: {error}"));
    syn::parse_file(&source).unwrap_or_else(|error| panic!("{schema}: {error}\n{source}"));
    generated
}

/// Returns the type of the member `a`, as the generated file declares it.
fn type_of(schema: Value) -> String {
    let root = json!({"type": "object", "properties": {"a": schema}, "required": ["a"],
        "$defs": {"D": {"type": "object", "properties": {"x": {"type": "string"}}}}});
    let source = generate(&root).to_source().unwrap();
    let (_, after) = source.split_once("pub a: ").unwrap();
    after.split_once(",\n").unwrap().0.to_owned()
}

#[test]
fn schemas_have_the_expected_types() {
    let cases = [
        (json!(true), "::mcp::typed::Value"),
        (json!({}), "::mcp::typed::Value"),
        (json!({"type": "integer"}), "i64"),
        (json!({"type": "integer", "minimum": 0}), "u64"),
        (json!({"type": ["integer", "number"]}), "f64"),
        (json!({"type": ["string", "null"]}), "Option<String>"),
        (json!({"type": "null"}), "()"),
        (json!({"const": null}), "()"),
        (json!({"enum": [1, 2]}), "u64"),
        (json!({"enum": ["a", null]}), "Option<TInputA>"),
        (json!({"type": "array"}), "Vec<::mcp::typed::Value>"),
        (json!({"items": {"type": "boolean"}}), "Vec<bool>"),
        (
            json!({"items": [{"type": "boolean"}, {}], "minItems": 2, "maxItems": 2}),
            "(bool, ::mcp::typed::Value)",
        ),
        (
            json!({"type": "object"}),
            "::std::collections::BTreeMap<String, ::mcp::typed::Value>",
        ),
        (
            json!({"additionalProperties": {"type": "number"}}),
            "::std::collections::BTreeMap<String, f64>",
        ),
        (
            json!({"patternProperties": {"^x": {"type": "number"}}, "additionalProperties": false}),
            "::std::collections::BTreeMap<String, f64>",
        ),
        (json!({"$ref": "#/$defs/D"}), "D"),
        (
            json!({"allOf": [{"$ref": "#/$defs/D"}], "description": "d"}),
            "D",
        ),
        (
            json!({"anyOf": [{"$ref": "#/$defs/D"}, {"type": "null"}]}),
            "Option<D>",
        ),
        (
            json!({"type": "object", "properties": {"y": {}}, "anyOf": [{"required": ["y"]}, {"required": ["z"]}]}),
            "TInputA",
        ),
        (
            json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}),
            "String",
        ),
        (
            json!({"allOf": [{"type": "number"}, {"type": "integer"}]}),
            "i64",
        ),
        (json!({"not": {"type": "string"}}), "::mcp::typed::Value"),
        (
            json!({"type": "string", "pattern": "^a", "not": {"const": "ab"}}),
            "String",
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(type_of(schema.clone()), expected, "{schema}");
    }
}

/// Two variants of one type would have two equal conversions, which the compiler refuses.
#[test]
fn variants_of_a_union_have_different_types() {
    let schema = json!({"anyOf": [
        {"type": "string"}, {"enum": [1, "a"]}, {"$ref": "#/none"},
        {"type": "array", "items": {"enum": [1, "a"]}}, {"type": "array"},
    ]});
    let root = json!({"type": "object", "properties": {"a": schema}});
    let source = generate(&root).to_source().unwrap();
    assert_eq!(
        source
            .matches("impl From<::mcp::typed::Value> for TInputA ")
            .count(),
        1
    );
    assert_eq!(
        source
            .matches("impl From<Vec<::mcp::typed::Value>> for TInputA ")
            .count(),
        1
    );
}

#[test]
fn schemas_without_a_type_have_a_reason() {
    let cases = [
        (json!({"$ref": "#/$defs/None"}), "not in the schema"),
        (json!({"$ref": "#anchor"}), "not in the schema"),
        (json!({"$dynamicRef": "#a"}), "depends on the schema"),
        (
            json!({"allOf": [{"type": "string"}, {"type": "number"}]}),
            "two different types",
        ),
        (json!({"allOf": [false]}), "matches no value"),
        (json!({"enum": [1, "a"]}), "different types"),
        (json!({"enum": []}), "no values"),
        (json!({"type": "strnig"}), "no type `strnig`"),
        (json!({"type": 1}), "a string or an array"),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "number"}]}),
            "no fixed length",
        ),
        (json!(false), "no value matches"),
        (json!(7), "an object or a boolean"),
    ];
    for (schema, expected) in cases {
        let root = json!({"type": "object", "properties": {"a": schema}});
        let report = generate(&root).report().to_string();
        assert!(report.starts_with("0 of 1"), "{schema}: {report}");
        assert!(report.contains(expected), "{schema}: {report}");
        assert!(report.contains("t/outputSchema/properties/a"), "{report}");
    }
}

#[test]
fn recursive_schemas_end() {
    let cases = [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"type": "string"}]}),
        json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}], "$defs": {
            "A": {"oneOf": [{"$ref": "#/$defs/B"}, {"type": "number"}]}, "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}}),
        json!({"type": "object", "properties": {"x": {"type": "string"}}, "anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"type": "array", "items": {"$ref": "#"}}),
        json!({"type": "array", "prefixItems": [{"$ref": "#"}], "minItems": 1, "maxItems": 1}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"$ref": "#/properties/a"}}}),
        json!({"type": "object", "additionalProperties": {"$ref": "#"}}),
        json!({"type": ["object", "null"], "properties": {"a": {"$ref": "#"}}}),
    ];
    for schema in cases {
        generate(&schema);
    }
}

#[test]
fn large_schemas_are_bounded() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    assert!(generate(&deep).report().to_string().contains("deeper than"));
    let wide: serde_json::Map<_, _> = (0..600).map(|i| (format!("p{i}"), json!({}))).collect();
    let wide = generate(&json!({"type": "object", "properties": wide}));
    assert!(wide.report().to_string().contains("more than 500"));
    let long = json!({"type": "object", "description": "x".repeat(2 << 20)});
    assert!(
        generate(&long)
            .report()
            .to_string()
            .contains("more than 1 MiB")
    );
    let mut branches = json!({"type": "string"});
    for _ in 0..20 {
        branches =
            json!({"anyOf": [{"allOf": [branches, {}]}, {"allOf": [branches, {"title": "x"}]}]});
        if branches.to_string().len() > 400_000 {
            break;
        }
    }
    generate(&branches);
}

#[test]
fn names_of_every_kind_are_valid() {
    let names = [
        "",
        "_",
        "self",
        "Self",
        "super",
        "crate",
        "type",
        "async",
        "gen",
        "union",
        "try",
        "日本",
        "a-b",
        "a b",
        "1",
        "r#x",
        "new",
        "String",
        "Option",
        "Value",
        "additional",
        "with_a",
        "\"",
        "\\",
        "\u{202e}",
        "{}",
    ];
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|it| ((*it).to_owned(), json!({"type": "object", "properties": {"a": {"enum": names}}, "additionalProperties": {}})))
        .collect();
    let definitions = properties.clone();
    generate(&json!({"type": "object", "properties": properties, "$defs": definitions}));
    let tools: Vec<_> = names
        .iter()
        .map(|it| json!({"name": it, "inputSchema": {"$ref": "#/$defs/String", "$defs": {"String": {"type": "object", "properties": {"a": {}}}}}}))
        .collect();
    let templates: Vec<_> = names
        .iter()
        .map(|it| json!({"uriTemplate": format!("x://{{{it}}}"), "name": it}))
        .collect();
    let document = json!({"tools": tools, "prompts": [{"name": "self", "arguments": [{"name": "self"}]}], "resourceTemplates": templates});
    let snapshot = Snapshot::from_value(document).unwrap();
    for generator in [
        Generator::client("self"),
        Generator::server("String"),
        Generator::client(""),
    ] {
        let source = generator.generate(&snapshot).unwrap().to_source().unwrap();
        syn::parse_file(&source).unwrap();
    }
}

#[test]
fn variable_of_a_template_is_one_field() {
    let template =
        json!({"uriTemplate": "repo://{owner}/{+path}{?ref,owner,page*}{", "name": "file"});
    let snapshot = Snapshot::from_value(json!({"resourceTemplates": [template]})).unwrap();
    let generated = Generator::client("t").generate(&snapshot).unwrap();
    let source = generated.to_source().unwrap();
    let fields = source.lines().map(str::trim);
    let fields = fields.filter(|line| line.starts_with("pub ") && line.ends_with(','));
    assert_eq!(
        fields.collect::<Vec<_>>(),
        [
            "pub owner: String,",
            "pub path: String,",
            "pub r#ref: Option<String>,",
            "pub page: Option<String>,"
        ],
        "{source}"
    );
}

/// The bound is generous, for unoptimized code on a busy machine.
#[test]
fn catalog_of_1000_tools_is_generated_soon() {
    let shop = crate::files::shop();
    let tools = shop.as_value()["tools"].as_array().unwrap();
    let named = |number: usize| {
        let mut tool = tools[number % tools.len()].clone();
        tool["name"] = json!(format!("tool_{number}"));
        tool
    };
    let tools: Vec<Value> = (0..1_000).map(named).collect();
    let snapshot = Snapshot::from_value(json!({ "tools": tools })).unwrap();
    let start = Instant::now();
    let generated = Generator::client("large").generate(&snapshot).unwrap();
    let source = generated.to_source().unwrap();
    let elapsed = start.elapsed();
    println!("1,000 tools: {elapsed:?}, {} lines", source.lines().count());
    assert_eq!(generated.report().tools().len(), 1_000);
    assert!(elapsed < Duration::from_secs(30), "{elapsed:?}");
}
