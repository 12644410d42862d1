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
        "$defs": {"D": {"$anchor": "D", "type": "object", "properties": {"x": {"type": "string"}}}}});
    let source = generate(&root).to_source().unwrap();
    let (_, after) = source.split_once("pub a: ").unwrap();
    after.split_once(",\n").unwrap().0.to_owned()
}

#[test]
fn schemas_have_the_expected_types() {
    let cases = [
        (json!(true), "Value"),
        (json!({}), "Value"),
        (json!({"type": "integer"}), "i64"),
        (json!({"type": "integer", "minimum": 0}), "u64"),
        (json!({"type": ["integer", "number"]}), "f64"),
        (json!({"type": ["string", "null"]}), "Option<String>"),
        (json!({"type": "null"}), "()"),
        (json!({"const": null}), "()"),
        (json!({"enum": [1, 2]}), "u64"),
        (json!({"enum": ["a", null]}), "Option<A>"),
        (json!({"type": "array"}), "Vec<Value>"),
        (json!({"items": {"type": "boolean"}}), "Vec<bool>"),
        (
            json!({"items": [{"type": "boolean"}, {}], "minItems": 2, "maxItems": 2}),
            "(bool, Value)",
        ),
        (json!({"type": "object"}), "BTreeMap<String, Value>"),
        (
            json!({"additionalProperties": {"type": "number"}}),
            "BTreeMap<String, f64>",
        ),
        (
            json!({"patternProperties": {"^x": {"type": "number"}}, "additionalProperties": false}),
            "BTreeMap<String, f64>",
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
            "A",
        ),
        (
            json!({"anyOf": [{"type": "string", "format": "date"}, {"type": "string"}]}),
            "String",
        ),
        (
            json!({"allOf": [{"type": "number"}, {"type": "integer"}]}),
            "i64",
        ),
        (
            json!({"type": "string", "nullable": true}),
            "Option<String>",
        ),
        (json!({"$ref": "#/$defs/D", "nullable": true}), "Option<D>"),
        (
            json!({"anyOf": [{"type": "string"}, {"const": null}]}),
            "Option<String>",
        ),
        (
            json!({"allOf": [{"items": {"$ref": "#/$defs/D"}}, {"items": {"$ref": "#/%24defs/D"}}]}),
            "Vec<D>",
        ),
        (json!({"$ref": "#D"}), "D"),
        (
            json!({"patternProperties": {"^x": {"type": "number"}, "^y": {}}, "additionalProperties": {"type": "string"}}),
            "BTreeMap<String, Value>",
        ),
        (
            json!({"allOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}, {"anyOf": [{"type": "string"}, {"type": "null"}]}]}),
            "Option<String>",
        ),
        (
            json!({"allOf": [{"enum": ["a", 1, null]}, {"enum": [null, 1, 2]}]}),
            "Option<u64>",
        ),
        (
            json!({"allOf": [{"type": ["string", "integer"]}, {"type": ["number", "null"]}]}),
            "i64",
        ),
        (json!({"type": ["string", "date"]}), "String"),
        (json!({"not": {"type": "string"}}), "Value"),
        (
            json!({"type": "string", "pattern": "^a", "not": {"const": "ab"}}),
            "String",
        ),
    ];
    for (schema, expected) in cases {
        assert_eq!(type_of(schema.clone()), expected, "{schema}");
    }
}

/// Two strings in another order would be swapped without an error.
#[test]
fn constructor_takes_members_in_the_order_of_required() {
    let properties = json!({"ant": {"type": "string"}, "bee": {"type": "string"}, "cat": {"type": "string"},
        "kind": {"const": "zoo"}, "zebra": {"type": "string"}});
    let part = json!({"properties": {"dog": {"type": "string"}}, "required": ["dog", "cat"]});
    let root = json!({"type": "object", "properties": properties, "allOf": [part],
        "required": ["zebra", "kind", "cat", "any", "ant", "cat"]});
    let source = generate(&root).to_source().unwrap();
    let (_, new) = source.split_once("pub fn new(\n").unwrap();
    let (parameters, _) = new.split_once("\n        ) -> Self").unwrap();
    let names = parameters
        .lines()
        .map(|line| line.trim().split(':').next().unwrap());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["zebra", "cat", "any", "ant", "dog"], "{new}");
}

/// A second field would be required as well, with the name of the first one.
#[test]
fn repeated_required_member_is_one_field() {
    let root = json!({"type": "object", "required": ["a", "a"]});
    let source = generate(&root).to_source().unwrap();
    assert!(!source.contains("a_2"), "{source}");
}

/// Two variants of one type would have two equal conversions, which the compiler refuses.
#[test]
fn variants_in_a_union_have_different_types() {
    let schema = json!({"anyOf": [
        {"type": "string"}, {"enum": [1, "a"]}, {"$ref": "#/none"},
        {"type": "array", "items": {"enum": [1, "a"]}}, {"type": "array"},
    ]});
    let root = json!({"type": "object", "properties": {"a": schema}});
    let source = generate(&root).to_source().unwrap();
    assert_eq!(source.matches("impl From<Value> for A ").count(), 1);
    assert_eq!(source.matches("impl From<Vec<Value>> for A ").count(), 1);
}

/// Returns the names of the structs and enums of a client, except for the client itself.
fn type_names(catalog: Value) -> Vec<String> {
    let snapshot = Snapshot::from_value(catalog).unwrap();
    let generated = Generator::client("shop").generate(&snapshot).unwrap();
    let source = generated.to_source().unwrap();
    let items = crate::files::items(&source).into_iter();
    let names = items.filter_map(|item| match item {
        syn::Item::Struct(item) => Some(item.ident.to_string()),
        syn::Item::Enum(item) => Some(item.ident.to_string()),
        _ => None,
    });
    names.filter(|name| name != "Shop").collect()
}

#[test]
fn tools_with_equal_schemas_share_one_type() {
    let severity = |text: &str| json!({"enum": ["low", "high"], "description": text});
    let place = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let issue = json!({"type": "object", "title": "Issue", "properties": {
        "severity": severity("how bad it is"), "place": place
    }});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let tools = json!([
        {"name": "find", "inputSchema": object(json!({"min_severity": severity("at least"), "near": place})),
            "outputSchema": object(json!({"issues": {"type": "array", "items": {"$ref": "#/$defs/Issue"}}}))},
        {"name": "get", "inputSchema": object(json!({"id": {"type": "integer"}})), "outputSchema": issue},
        {"name": "put", "inputSchema": object(json!({"severity": severity("new one"), "place": place})),
            "outputSchema": issue},
        {"name": "drop", "inputSchema": object(json!({"id": {"type": "integer"}}))},
    ]);
    let mut catalog = json!({ "tools": tools });
    catalog["tools"][0]["outputSchema"]["$defs"] = json!({ "Issue": issue });
    let expected = [
        "DropInput",
        "FindInput",
        "Severity",
        "FindInputNear",
        "FindOutput",
        "Issue",
        "Place",
        "GetInput",
        "PutInput",
    ];
    assert_eq!(type_names(catalog), expected);
}

#[test]
fn titled_list_items_are_one_type() {
    let articles = json!({"type": "array", "items": {"type": "object", "title": "Article", "properties": {
        "name": {"type": "string"}
    }}});
    let receipt = json!({"type": "object", "properties": {"lines": articles}});
    let tools = json!([
        {"name": "search", "inputSchema": {"type": "object"}, "outputSchema": articles},
        {"name": "order", "inputSchema": {"type": "object"}, "outputSchema": receipt},
    ]);
    let names = type_names(json!({ "tools": tools }));
    assert!(names.contains(&"Article".to_owned()), "{names:?}");
    assert!(names.iter().all(|name| !name.contains("Item")), "{names:?}");
}

#[test]
fn different_schemas_with_one_name_stay_different_types() {
    let object = |text: &str| {
        let user = json!({"type": "object", "properties": {"name": {"type": "string", "description": text}}});
        json!({"type": "object", "properties": {"user": {"$ref": "#/$defs/User"}}, "$defs": {"User": user}})
    };
    let sizes = json!({"type": "object", "properties": {
        "width": {"enum": ["s", "l"]}, "height": {"enum": ["s", "l"]}
    }});
    let catalog = json!({"tools": [
        {"name": "a", "inputSchema": object("login")},
        {"name": "b", "inputSchema": object("full name")},
        {"name": "c", "inputSchema": object("login")},
        {"name": "d", "inputSchema": sizes},
    ]});
    let expected = [
        "AInput",
        "User",
        "BInput",
        "User2",
        "CInput",
        "DInput",
        "DInputHeight",
        "DInputWidth",
    ];
    assert_eq!(type_names(catalog), expected);
}

/// Two equal variants would have two equal conversions, which the compiler refuses.
#[test]
fn union_with_equal_definitions_has_one_variant() {
    let cat = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let pet = json!({"anyOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/WildCat"}, {"type": "string"}]});
    let root = json!({"type": "object", "properties": {"pet": pet}, "$defs": {"Cat": cat, "WildCat": cat}});
    let source = generate(&root).to_source().unwrap();
    assert_eq!(source.matches("impl From<Cat>").count(), 1, "{source}");
    assert!(!source.contains("WildCat)"), "{source}");
}

#[test]
fn prompt_argument_has_the_type_that_its_description_names() {
    let note = "Provide as a JSON string matching the following schema:";
    let argument = |name: &str, text: String| json!({"name": name, "description": text});
    let catalog = json!({"prompts": [{"name": "review", "arguments": [
        argument("depth", format!("how deep\n\n{note} {{\"type\":\"integer\",\"minimum\":0}}")),
        argument("tone", format!("{note} {{\"enum\":[\"kind\",\"short\"],\"type\":\"string\"}}")),
        argument("text", format!("{note} {{\"type\":\"string\"}}")),
        argument("odd", format!("{note} not JSON")),
    ]}]});
    let snapshot = Snapshot::from_value(catalog).unwrap();
    let generated = Generator::client("t").generate(&snapshot).unwrap();
    let source = generated.to_source().unwrap();
    for part in [
        "/// how deep\n",
        "pub depth: Option<u64>",
        "pub tone: Option<ReviewPromptTone>",
        "pub text: Option<String>",
        "pub odd: Option<String>",
    ] {
        assert!(source.contains(part), "{part}: {source}");
    }
    assert_eq!(
        source.matches("with = \"::mcp::typed::json_text\"").count(),
        2
    );
    assert_eq!(source.matches("Provide as").count(), 1 + 4, "{source}");
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
        (
            json!({"allOf": [{"enum": [1, 2]}, {"enum": [3]}]}),
            "two different enums",
        ),
        (
            json!({"const": 1, "allOf": [{"const": 2}]}),
            "two different constants",
        ),
        (
            json!({"anyOf": [{"type": "string"}], "allOf": [{"anyOf": [{"type": "null"}]}]}),
            "combines two `anyOf`",
        ),
        (
            json!({"oneOf": [{"type": "string"}], "allOf": [{"oneOf": [{"type": "null"}]}]}),
            "combines two `oneOf`",
        ),
        (
            json!({"prefixItems": [{}], "allOf": [{"prefixItems": [{"type": "null"}]}]}),
            "combines two `prefixItems`",
        ),
        (
            json!({"items": [{}], "allOf": [{"items": [{"type": "null"}]}]}),
            "combines two `items`",
        ),
        (
            json!({"patternProperties": {"a": {}}, "allOf": [{"patternProperties": {"b": {}}}]}),
            "combines two `patternProperties`",
        ),
        (json!({"allOf": [false]}), "matches no value"),
        (json!({"allOf": [{"$ref": "#/none"}]}), "not in the schema"),
        (json!({"type": [{}, "string"]}), "a string or an array"),
        (json!({"type": ["date"]}), "no type `[\"date\"]`"),
        (json!({"enum": [1, "a"]}), "different types"),
        (json!({"enum": []}), "no values"),
        (json!({"enum": 1}), "must be an array"),
        (json!({"type": "array", "const": [1, 2]}), "no Rust type"),
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
            .contains("more than 262144 bytes")
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

/// Each of 20 long names is in the paths of 100 parts without a type.
#[test]
fn paths_in_the_report_are_short() {
    let part = |index: usize| (format!("p{index}"), json!({"$ref": "#/none"}));
    let parts: serde_json::Map<_, _> = (0..100).map(part).collect();
    let long = |index: usize| {
        let part = json!({"allOf": [{"$ref": "#/$defs/D"}, {"type": "object"}]});
        (format!("{index}{}", "x".repeat(10_000)), part)
    };
    let names: serde_json::Map<_, _> = (0..20).map(long).collect();
    let root =
        json!({"type": "object", "properties": names, "$defs": {"D": {"properties": parts}}});
    let generated = generate(&root);
    let notes = &generated.report().tools()[0].notes;
    assert!(notes.len() > 1_000, "{}", notes.len());
    assert!(notes.iter().all(|note| note.path.chars().count() <= 1_025));
}

/// A reference costs its own steps, not those of its target.
#[test]
fn large_definition_has_a_type_at_each_reference() {
    let values: Vec<_> = (0..900)
        .map(|index| format!("{index}{}", "x".repeat(60)))
        .collect();
    let properties: serde_json::Map<_, _> = (0..100)
        .map(|index| (format!("p{index}"), json!({"$ref": "#/$defs/D"})))
        .collect();
    let root =
        json!({"type": "object", "properties": properties, "$defs": {"D": {"enum": values}}});
    assert_eq!(generate(&root).report().full(), 1);
}

/// A copy of a list costs steps, so that long lists are not compared at each of many places.
#[test]
fn comparisons_of_parts_are_bounded() {
    let list: Vec<_> = (0..2_000).map(|index| json!({"const": index})).collect();
    let part = json!({"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
    let names: serde_json::Map<_, _> = (0..400)
        .map(|index| (format!("p{index}"), part.clone()))
        .collect();
    let definitions = json!({"A": {"not": {}, "patternProperties": {"a": {"enum": list}}}, "B": {"patternProperties": {"a": {"enum": list}}}});
    let root = json!({"type": "object", "properties": names, "$defs": definitions});
    let report = generate(&root).report().to_string();
    assert!(report.contains("more than 10000 schemas"), "{report}");
}

#[test]
fn any_name_becomes_a_valid_identifier() {
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
        .map(|name| ((*name).to_owned(), json!({"type": "object", "properties": {"a": {"enum": names}}, "additionalProperties": {}})))
        .collect();
    let definitions = properties.clone();
    generate(&json!({"type": "object", "properties": properties, "$defs": definitions}));
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"$ref": "#/$defs/String", "$defs": {"String": {"type": "object", "properties": {"a": {}}}}}}))
        .collect();
    let templates: Vec<_> = names
        .iter()
        .map(|name| json!({"uriTemplate": format!("x://{{{name}}}"), "name": name}))
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
fn repeated_template_variable_is_one_field() {
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

/// The function that serves an implementation has a parameter with this name.
#[test]
fn no_type_has_the_name_of_a_type_parameter() {
    let part = json!({"$ref": "#/$defs/T"});
    let schema = json!({"type": "object", "properties": {"a": part}, "$defs": {
        "T": {"type": "object", "properties": {"b": {"type": "string"}}},
    }});
    let tool = json!({"name": "t", "inputSchema": schema});
    let snapshot = Snapshot::from_value(json!({ "tools": [tool] })).unwrap();
    let generated = Generator::server("t").generate(&snapshot).unwrap();
    let source = generated.to_source().unwrap();
    for part in ["pub trait T2:", "pub struct T3 ", "T: T2>", "Option<T3>"] {
        assert!(source.contains(part), "{part}: {source}");
    }
}
