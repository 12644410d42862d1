//! The impact of schema changes in both directions.

use mcp::catalog::{Diff, Impact, Snapshot};
use serde_json::{Value, json};

pub(super) fn diff(field: &str, old: &Value, new: &Value) -> Diff {
    let snapshot = |schema: &Value| {
        let mut tool = json!({ "name": "t", "inputSchema": {} });
        tool[field] = schema.clone();
        Snapshot::from_value(json!({ "tools": [tool] })).unwrap()
    };
    snapshot(old).diff(&snapshot(new))
}

/// The effects of a change on arguments and on results: `B`reaking, `C`ompatible, cosmetic (`T`ext), and
/// `-` for no difference.
fn effects(old: &Value, new: &Value) -> String {
    let of = |field: &str| match diff(field, old, new).impact() {
        Some(Impact::Breaking) => 'B',
        Some(Impact::Compatible) => 'C',
        Some(_) => 'T',
        None => '-',
    };
    [of("inputSchema"), of("outputSchema")].iter().collect()
}

/// Checks rows of an older schema, a newer one, and the effects. `reverse` are the effects of the
/// opposite change.
pub(super) fn check(rows: &[(Value, Value, &str, &str)]) {
    for (old, new, forward, reverse) in rows {
        assert_eq!(effects(old, new), *forward, "{old} became {new}");
        assert_eq!(effects(new, old), *reverse, "{new} became {old}");
        assert_eq!(effects(old, old), "--", "{old}");
    }
}

#[test]
fn impact_depends_on_direction_for_value_limits() {
    check(&[
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "BC",
            "CB",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "integer"}),
            "BB",
            "BB",
        ),
        (json!({}), json!({"type": "string"}), "BC", "CB"),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": "string"}),
            "BC",
            "CB",
        ),
        (
            json!({"type": ["a", "b"]}),
            json!({"type": ["b", "a"]}),
            "--",
            "--",
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["a"]}),
            "BC",
            "CB",
        ),
        (json!({"enum": ["a"]}), json!({"const": "a"}), "--", "--"),
        (
            json!({"enum": ["a"]}),
            json!({"const": "a", "type": "string"}),
            "--",
            "--",
        ),
        (json!({"enum": ["a"]}), json!({"enum": ["b"]}), "BB", "BB"),
        (
            json!({"type": "string"}),
            json!({"type": "string", "enum": ["a"]}),
            "BC",
            "CB",
        ),
        (json!({"minimum": 1}), json!({"minimum": 2}), "BC", "CB"),
        (json!({"maximum": 2}), json!({"maximum": 1}), "BC", "CB"),
        (json!({}), json!({"exclusiveMaximum": 1}), "BC", "CB"),
        (json!({"minimum": 1}), json!({"minimum": 1.0}), "--", "--"),
        (json!({"minLength": 1}), json!({"minLength": 3}), "BC", "CB"),
        (json!({"maxItems": 9}), json!({"maxItems": 3}), "BC", "CB"),
        (
            json!({"multipleOf": 2}),
            json!({"multipleOf": 4}),
            "BC",
            "CB",
        ),
        (
            json!({"multipleOf": 2}),
            json!({"multipleOf": 3}),
            "BB",
            "BB",
        ),
        (json!({"pattern": "a"}), json!({"pattern": "b"}), "BB", "BB"),
        (json!({}), json!({"pattern": "b"}), "BC", "CB"),
        (json!({}), json!({"format": "date"}), "BC", "CB"),
        (json!(true), json!(false), "BC", "CB"),
    ]);
}

#[test]
fn impact_depends_on_direction_for_objects_and_arrays() {
    let properties = |value: Value| json!({"type": "object", "properties": value});
    let closed = |value: Value| json!({"properties": value, "additionalProperties": false});
    check(&[
        (json!({}), json!({"required": ["a"]}), "BC", "CB"),
        (
            properties(json!({})),
            properties(json!({"a": {}})),
            "CC",
            "BC",
        ),
        (closed(json!({})), closed(json!({"a": {}})), "CB", "BC"),
        (
            properties(json!({"a": {"minimum": 1}})),
            properties(json!({"a": {"minimum": 2}})),
            "BC",
            "CB",
        ),
        (
            json!({}),
            json!({"additionalProperties": false}),
            "BC",
            "CB",
        ),
        (json!({}), json!({"additionalProperties": true}), "--", "--"),
        (
            json!({"additionalProperties": {"type": "number"}}),
            json!({"additionalProperties": {"type": "integer"}}),
            "BC",
            "CB",
        ),
        (
            json!({}),
            json!({"patternProperties": {"^x": {"type": "null"}}}),
            "BC",
            "CB",
        ),
        (
            json!({"items": {"type": "number"}}),
            json!({"items": {"type": "integer"}}),
            "BC",
            "CB",
        ),
        (
            json!({"prefixItems": [{}]}),
            json!({"prefixItems": [{}, {}]}),
            "BC",
            "CB",
        ),
        (json!({}), json!({"uniqueItems": true}), "BC", "CB"),
        (json!({}), json!({"uniqueItems": false}), "--", "--"),
        (json!({}), json!({"allOf": [{"minimum": 1}]}), "BC", "CB"),
        (json!({}), json!({"not": {"const": 1}}), "BB", "BB"),
        (json!({"if": {}}), json!({"if": {"const": 1}}), "BB", "BB"),
    ]);
}

#[test]
fn impact_depends_on_direction_for_alternatives() {
    let string = json!({"type": "string"});
    let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    check(&[
        (string.clone(), optional.clone(), "CB", "BC"),
        (
            optional.clone(),
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            "--",
            "--",
        ),
        (
            optional.clone(),
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            "BB",
            "BB",
        ),
        (
            json!({"oneOf": [{"const": "a"}]}),
            json!({"oneOf": [{"const": "a"}, {"const": "b"}]}),
            "CB",
            "BC",
        ),
        (
            json!({"anyOf": [{"type": "number"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            "BC",
            "CB",
        ),
    ]);
}

#[test]
fn changed_text_inside_an_alternative_is_cosmetic() {
    let nullable = |schema: Value| json!({"anyOf": [schema, {"type": "null"}]});
    let text = |text: &str| json!({"type": "string", "description": text});
    let list = |description: &str| json!({"type": "array", "items": text(description)});
    let both = |one: &str, two: &str| json!({"oneOf": [text(one), text(two)]});
    check(&[
        (nullable(text("a")), nullable(text("b")), "TT", "TT"),
        (nullable(list("a")), nullable(list("b")), "TT", "TT"),
        (
            json!({"oneOf": [text("a")]}),
            json!({"oneOf": [text("b")]}),
            "TT",
            "TT",
        ),
        (both("a", "b"), both("b", "a"), "--", "--"),
        (both("a", "b"), both("a", "c"), "TT", "TT"),
        (
            text("a"),
            json!({"description": "a", "anyOf": [{"type": "string"}]}),
            "--",
            "--",
        ),
        (
            nullable(json!({"type": "number"})),
            nullable(json!({"type": "integer", "title": "a"})),
            "BC",
            "CB",
        ),
    ]);
    let diff = diff("inputSchema", &nullable(list("a")), &nullable(list("b")));
    let paths: Vec<_> = diff
        .differences()
        .iter()
        .map(|difference| &*difference.path)
        .collect();
    assert_eq!(paths, ["/tools/t/inputSchema/anyOf/0/items/description"]);
}

#[test]
fn annotations_are_cosmetic_and_defaults_compatible() {
    check(&[
        (json!({"title": "a"}), json!({"title": "b"}), "TT", "TT"),
        (json!({"description": "a"}), json!({}), "TT", "TT"),
        (json!({}), json!({"x-note": 1}), "TT", "TT"),
        (json!({"default": 1}), json!({"default": 2}), "CC", "CC"),
        (json!({"$defs": {"unused": {}}}), json!({}), "--", "--"),
    ]);
}

#[test]
fn references_are_resolved() {
    let with =
        |target: Value| json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": target}});
    let inline = |schema: Value| json!({"properties": {"a": schema}});
    let tree = |value: Value| json!({"properties": {"value": value, "child": {"$ref": "#"}}});
    check(&[
        (
            with(json!({"type": "number"})),
            inline(json!({"type": "number"})),
            "--",
            "--",
        ),
        (
            with(json!({"type": "number"})),
            with(json!({"type": "integer"})),
            "BC",
            "CB",
        ),
        (
            tree(json!({"type": "number"})),
            tree(json!({"type": "integer"})),
            "BC",
            "CB",
        ),
        (
            inline(json!({"$ref": "https://a"})),
            inline(json!({"$ref": "https://b"})),
            "BB",
            "BB",
        ),
        (
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/x"}}}),
            json!({"$ref": "#/$defs/x", "$defs": {"x": {"$ref": "#/$defs/x"}}, "minimum": 1}),
            "BC",
            "CB",
        ),
    ]);
}

#[test]
fn target_of_an_unchanged_reference_is_compared() {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let with =
            |target: Value| json!({keyword: [{"$ref": "#/$defs/a"}], "$defs": {"a": target}});
        let (old, new) = (json!({"type": "number"}), json!({"type": "integer"}));
        check(&[(with(old), with(new), "BC", "CB")]);
    }
    let with = |target: Value| json!({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": target}});
    check(&[(with(json!({})), with(json!({"type": "null"})), "BB", "BB")]);
}

#[test]
fn references_are_found_by_pointer_anchor_and_id() {
    let definitions = |name: &str, target: Value| json!({name: {"a b": target}});
    let with = |reference: &str, name: &str, target: Value| {
        let mut schema = definitions(name, target);
        schema["properties"] = json!({"x": {"$ref": reference}});
        schema
    };
    for (reference, name, own) in [
        ("#/$defs/a b", "$defs", json!({})),
        ("#/$defs/a%20b", "$defs", json!({})),
        ("#/%24defs/a%20b", "$defs", json!({})),
        ("#/definitions/a%20b", "definitions", json!({})),
        ("#here", "$defs", json!({"$anchor": "here"})),
        ("#here", "definitions", json!({"$id": "#here"})),
        ("https://a/b", "$defs", json!({"$id": "https://a/b"})),
    ] {
        let target = |kind: &str| {
            let mut target = own.clone();
            target["type"] = kind.into();
            target
        };
        let with = |kind: &str| with(reference, name, target(kind));
        check(&[(with("number"), with("integer"), "BC", "CB")]);
        let inline = |kind: &str| json!({"properties": {"x": target(kind)}});
        check(&[(with("number"), inline("integer"), "BC", "CB")]);
    }
    // A reference that leads to nothing, and the same one with a target.
    let lost = json!({"properties": {"x": {"$ref": "#/$defs/a"}}});
    let mut found = lost.clone();
    found["$defs"] = json!({"a": {"type": "number"}});
    check(&[(lost, found, "BB", "BB")]);
}

#[test]
fn keywords_beside_a_reference_win() {
    let with = |own: Value, target: Value| {
        let mut schema = own;
        schema["$ref"] = "#/$defs/a".into();
        json!({"properties": {"x": schema}, "$defs": {"a": target}})
    };
    let inline = |schema: Value| json!({"properties": {"x": schema}});
    let property = |name: &str, kind: &str| json!({"properties": {name: {"type": kind}}});
    check(&[
        (
            with(json!({"minimum": 5}), json!({"minimum": 1})),
            with(json!({"minimum": 5}), json!({"minimum": 3})),
            "--",
            "--",
        ),
        (
            with(json!({"minimum": 5}), json!({"minimum": 1})),
            with(json!({"minimum": 6}), json!({"minimum": 1})),
            "BC",
            "CB",
        ),
        (
            with(json!({"minimum": 5}), json!({"minimum": 1, "maximum": 9})),
            inline(json!({"minimum": 5, "maximum": 9})),
            "--",
            "--",
        ),
        (
            with(json!({"description": "own"}), json!({"description": "a"})),
            with(json!({"description": "own"}), json!({"description": "b"})),
            "--",
            "--",
        ),
        // The properties and the required names of both count.
        (
            with(property("a", "string"), property("b", "number")),
            with(property("a", "string"), property("b", "integer")),
            "BC",
            "CB",
        ),
        (
            with(json!({"required": ["a"]}), json!({})),
            with(json!({"required": ["a"]}), json!({"required": ["b"]})),
            "BC",
            "CB",
        ),
        (
            with(json!({"allOf": [{}]}), json!({"allOf": [{"minimum": 1}]})),
            with(json!({"allOf": [{}]}), json!({"allOf": [{"minimum": 2}]})),
            "BC",
            "CB",
        ),
    ]);
}

#[test]
fn keywords_around_alternatives_are_compared() {
    let around = |own: Value| {
        let mut schema = own;
        schema["anyOf"] = json!([
            {"properties": {"a": {}}, "required": ["a"], "allOf": [{"maxProperties": 3}]},
            {"properties": {"b": {}}, "required": ["b"], "allOf": [{"maxProperties": 4}]},
        ]);
        schema
    };
    let property = |kind: &str| around(json!({"properties": {"x": {"type": kind}}}));
    let count = |count: u8| around(json!({"allOf": [{"minProperties": count}]}));
    let external = |name: &str| around(json!({"$ref": name}));
    let both = |kind: &str| around(json!({"oneOf": [{"type": "object"}, {"type": kind}]}));
    check(&[
        (property("number"), property("integer"), "BC", "CB"),
        (
            around(json!({})),
            around(json!({"required": ["c"]})),
            "BC",
            "CB",
        ),
        (count(1), count(2), "BC", "CB"),
        (external("https://a"), external("https://b"), "BB", "BB"),
        (both("number"), both("integer"), "BC", "CB"),
        (
            around(json!({"description": "a"})),
            around(json!({"description": "b"})),
            "TT",
            "TT",
        ),
        (around(json!({})), around(json!({"x-note": 1})), "TT", "TT"),
    ]);
    // An alternative that leads back to the schema around it.
    let circle = |kind: &str| json!({"anyOf": [{"$ref": "#"}, {"type": kind}], "title": kind});
    check(&[(circle("number"), circle("integer"), "BC", "CB")]);
}

#[test]
fn forms_of_older_drafts_and_other_languages_are_compared() {
    let nullable = |value: bool| json!({"type": "string", "nullable": value});
    let list = |kind: &str| json!({"items": [{"type": kind}], "additionalItems": false});
    check(&[
        (json!({"type": "string"}), nullable(true), "CB", "BC"),
        (
            nullable(true),
            json!({"type": ["string", "null"]}),
            "--",
            "--",
        ),
        (list("number"), list("integer"), "BC", "CB"),
        (
            list("number"),
            json!({"prefixItems": [{"type": "number"}], "items": false}),
            "--",
            "--",
        ),
        (
            list("number"),
            json!({"prefixItems": [{"type": "number"}]}),
            "CB",
            "BC",
        ),
        (
            json!({"type": "str"}),
            json!({"type": "string"}),
            "--",
            "--",
        ),
        (json!({"type": "int"}), json!({"type": "float"}), "CB", "BC"),
        (json!({"type": "any"}), json!({}), "--", "--"),
        (json!({"type": "date"}), json!({"type": "time"}), "BB", "BB"),
        (
            json!({"minimum": 1}),
            json!({"minimum": 1, "exclusiveMinimum": true}),
            "BC",
            "CB",
        ),
    ]);
    let reasons = diff("inputSchema", &nullable(true), &json!({"type": "string"})).to_string();
    let expected = "/type: \"string\" or null became \"string\"; ";
    assert!(reasons.contains(expected), "{reasons}");
}

#[test]
fn texts_name_alternatives_as_they_are_written() {
    let definitions = json!({"b": {"required": ["b"]}});
    let old = json!({"type": "object", "anyOf": [{"required": ["a"]}, {"$ref": "#/$defs/b"}], "$defs": definitions});
    let new = json!({"type": "object", "anyOf": [{"required": ["c"]}, {"required": ["d"]}], "$defs": definitions});
    let whole = json!({"title": "T", "type": "object", "$defs": definitions});
    let reasons = |old: &Value, new: &Value| {
        let diff = diff("inputSchema", old, new);
        let reasons = diff.differences().iter().map(|found| found.reason.clone());
        let reasons = reasons.map(|reason| reason.split(';').next().unwrap().to_owned());
        reasons.collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(&old, &new),
        [
            "alternative {\"required\":[\"a\"]} removed",
            "alternative {\"$ref\":\"#/$defs/b\"} removed",
            "alternative {\"required\":[\"c\"]} added",
            "alternative {\"required\":[\"d\"]} added",
        ]
    );
    let removed = "alternative {\"type\":\"object\"} removed";
    assert_eq!(reasons(&whole, &old), [removed, "removed"]);
}

#[test]
fn difference_has_path_and_reason() {
    let old = json!({"properties": {"a/b": {"enum": ["x", "y"]}}});
    let new = json!({"properties": {"a/b": {"enum": ["x"]}}});
    assert_eq!(
        diff("inputSchema", &old, &new).to_string(),
        "breaking: /tools/t/inputSchema/properties/a~1b/enum: value \"y\" removed; the server refuses \
         arguments that it accepted\n"
    );
}

#[test]
fn deep_reference_chain_ends() {
    let chain = |last: Value| {
        let mut schema = json!({"$ref": "#/$defs/n0", "$defs": {}});
        for index in 0..5_000 {
            let next = format!("#/$defs/n{}", index + 1);
            schema["$defs"][format!("n{index}")] =
                json!({"anyOf": [{"properties": {"x": {"$ref": next}}}, {"type": "null"}]});
        }
        schema["$defs"]["n5000"] = last;
        schema
    };
    let old = chain(json!({"type": "string"}));
    let new = chain(json!({"type": "integer"}));
    let diff = diff("inputSchema", &old, &new);
    assert_eq!(diff.impact(), Some(Impact::Breaking));
}

/// A constraint applies as well if a nearer one has its name: that of a reference's target, or that around an alternative.
#[test]
fn constraints_behind_nearer_ones_are_compared() {
    let target = |near: &Value, target: Value| {
        let mut near = near.clone();
        near["$ref"] = "#/$defs/a".into();
        json!({"properties": {"x": near}, "$defs": {"a": target}})
    };
    let around = |near: &Value, mut around: Value| {
        around["anyOf"] = json!([near]);
        around
    };
    let type_of = |name: &str, kind: &str| json!({"properties": {name: {"type": kind}}});
    let rows = [
        (
            json!({"maxLength": 10}),
            json!({"maxLength": 20}),
            json!({"maxLength": 5}),
            "BC",
            "CB",
        ),
        (
            json!({"maxLength": 10}),
            json!({"maxLength": 20}),
            json!({"maxLength": 30}),
            "--",
            "--",
        ),
        (
            json!({"multipleOf": 4}),
            json!({"multipleOf": 2}),
            json!({"multipleOf": 3}),
            "BB",
            "BB",
        ),
        (
            json!({"pattern": "^a"}),
            json!({"pattern": "b"}),
            json!({"pattern": "c"}),
            "BB",
            "BB",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": ["string", "null"]}),
            json!({"type": "string"}),
            "BB",
            "BB",
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["a"]}),
            "BB",
            "BB",
        ),
        (
            json!({"additionalProperties": true}),
            json!({"additionalProperties": true}),
            json!({"additionalProperties": false}),
            "BC",
            "CB",
        ),
        (
            type_of("y", "string"),
            json!({"properties": {"y": {"maxLength": 5}}}),
            json!({"properties": {"y": {"maxLength": 3}}}),
            "BC",
            "CB",
        ),
        (
            json!({"not": {"const": 1}}),
            json!({"not": {"const": 2}}),
            json!({"not": {"const": 3}}),
            "BB",
            "BB",
        ),
        (
            json!({"pattern": "a"}),
            json!({}),
            json!({"pattern": "b"}),
            "BC",
            "CB",
        ),
        (
            json!({"enum": ["a"]}),
            json!({}),
            json!({"enum": ["a"]}),
            "--",
            "--",
        ),
    ];
    for (near, old, new, forward, reverse) in rows {
        check(&[
            (
                target(&near, old.clone()),
                target(&near, new.clone()),
                forward,
                reverse,
            ),
            (around(&near, old), around(&near, new), forward, reverse),
        ]);
    }
}

/// Tools list values once more with a text for each.
#[test]
fn constants_beside_an_enum_are_compared() {
    let texts = |constants: &[&str]| {
        let texts = constants
            .iter()
            .map(|value| json!({"const": value, "title": "t"}));
        json!({"properties": {"x": {"enum": ["a", "b"], "oneOf": Vec::from_iter(texts)}}})
    };
    let constant = |value: &str| json!({"enum": ["a", "b"], "const": value});
    check(&[
        (texts(&["a", "b"]), texts(&["a"]), "BC", "CB"),
        (texts(&["a"]), texts(&["b"]), "BB", "BB"),
        (constant("a"), constant("b"), "BB", "BB"),
    ]);
}

#[test]
fn targets_of_dynamic_references_are_compared() {
    let dynamic = |kind: &str| {
        json!({
            "properties": {"x": {"$dynamicRef": "#a"}},
            "$defs": {"a": {"$dynamicAnchor": "a", "type": kind}},
        })
    };
    let recursive = |kind: &str| {
        let members = json!({"x": {"$recursiveRef": "#"}, "y": {"type": kind}});
        json!({"properties": members})
    };
    check(&[
        (dynamic("number"), dynamic("integer"), "BC", "CB"),
        (recursive("number"), recursive("integer"), "BC", "CB"),
    ]);
}
