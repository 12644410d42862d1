//! Subschemas, references and the limits for reading.

use std::sync::Arc;

use mcp_schema::{
    Keywords as _, Limit, Node, Place, Schema, SchemaError, change_subschemas, limits,
    subschemas_mut,
};
use serde_json::{Map, Value, json};

pub(crate) fn object(json: Value) -> Map<String, Value> {
    match json {
        Value::Object(object) => object,
        other => panic!("{other} is not an object"),
    }
}

fn pointers(json: Value) -> Vec<String> {
    let json = object(json);
    let schema = Schema::parse(&json).unwrap();
    schema.nodes().map(Node::pointer).collect()
}

#[test]
fn each_keyword_with_schemas_leads_to_them() {
    let names = [
        "additionalProperties",
        "unevaluatedProperties",
        "propertyNames",
        "items",
        "additionalItems",
        "unevaluatedItems",
        "contains",
        "not",
        "if",
        "then",
        "else",
        "contentSchema",
    ];
    for name in names {
        assert_eq!(pointers(json!({name: {}})), ["", &format!("/{name}")]);
    }
    for name in ["items", "prefixItems", "allOf", "anyOf", "oneOf"] {
        let found = pointers(json!({name: [{}, true]}));
        assert_eq!(found, ["", &format!("/{name}/0"), &format!("/{name}/1")]);
    }
    let maps = [
        "properties",
        "patternProperties",
        "dependentSchemas",
        "dependencies",
        "$defs",
        "definitions",
    ];
    for name in maps {
        let found = pointers(json!({name: {"a/b": {}, "c~d": false}}));
        assert_eq!(
            found,
            ["", &format!("/{name}/a~1b"), &format!("/{name}/c~0d")]
        );
    }
    // Data, unknown keywords, and the names in draft 7's `dependencies`.
    let data = json!({
        "default": {"not": {}}, "const": {"items": {}}, "enum": [{"not": {}}], "x-own": {"not": {}}, "examples": [{"not": {}}],
        "dependencies": {"a": ["b"]}, "allOf": {"a": {}}, "properties": [{}],
    });
    assert_eq!(pointers(data), ["", "/allOf"]);
}

#[test]
fn ids_count_from_the_root_and_lead_back_to_their_place() {
    let json = object(json!({
        "properties": {"a": {"items": {"anyOf": [true, {}]}}, "b": false},
        "$defs": {"c": {"properties": {"a": {}}}},
    }));
    let schema = Schema::parse(&json).unwrap();
    for (index, node) in schema.nodes().enumerate() {
        assert_eq!(node.id().index(), index);
        let same = schema.node(node.id()).unwrap();
        assert_eq!(same.pointer(), node.pointer());
        assert_eq!(
            Some(&same.to_json()),
            Value::Object(json.clone()).pointer(&node.pointer())
        );
        for sub in node.subschemas() {
            assert_eq!(sub.node.parent().map(Node::id), Some(node.id()));
        }
    }
    assert_eq!(schema.len(), 8);
    let (root, b) = (schema.root(), schema.root().property("b").unwrap());
    assert!(b.is_false() && root.parent().is_none() && b.object().is_none());
    let places = root.subschemas().map(|sub| (sub.keyword, sub.place));
    let expected = [
        ("properties", Place::Name("a")),
        ("properties", Place::Name("b")),
        ("$defs", Place::Name("c")),
    ];
    assert_eq!(places.collect::<Vec<_>>(), expected);
}

/// The pointer of the target of `/properties/x`, or why there is none.
fn target(mut json: Value, reference: &str) -> String {
    json["properties"]["x"] = json!({"$ref": reference});
    let json = object(json);
    let schema = Schema::shared(Arc::new(json)).unwrap();
    let x = schema.root().property("x").unwrap();
    assert!(x.has_references() && !schema.root().has_references());
    let found = x.references().next().unwrap();
    assert_eq!(found.text, reference);
    match (found.target, found.resource) {
        (Some(target), Some(_)) => target.pointer(),
        (None, Some(_)) => "missing".to_owned(),
        (_, None) => "external".to_owned(),
    }
}

#[test]
fn references_lead_to_schemas_in_the_same_document() {
    let json = json!({
        "properties": {"": {}, "a/b": {"items": [{}, {}]}, "ü %": {}},
        "definitions": {"old": {"$id": "#name"}},
        "$defs": {
            "anchor": {"$anchor": "here"},
            "dynamic": {"$dynamicAnchor": "there"},
            "own": {"$id": "https://example.com/own", "$anchor": "here", "$defs": {"a": {}}},
        },
        "data": [{"not": {"$ref": "#/data/0"}}],
    });
    for (reference, expected) in [
        ("#", ""),
        ("#/properties/a~1b/items/1", "/properties/a~1b/items/1"),
        ("#/properties/a~1b/items/2", "missing"),
        ("#/properties/a~1b/items/x", "missing"),
        ("#/properties/%C3%BC%20%25", "/properties/ü %"),
        ("#/properties/", "/properties/"),
        ("#/definitions/old", "/definitions/old"),
        ("#name", "/definitions/old"),
        ("#here", "/$defs/anchor"),
        ("#there", "/$defs/dynamic"),
        ("#nowhere", "missing"),
        ("#/$defs/none", "missing"),
        ("https://example.com/own", "/$defs/own"),
        ("https://example.com/own#here", "/$defs/own"),
        ("https://example.com/own#/$defs/a", "/$defs/own/$defs/a"),
        ("https://example.com/other", "external"),
        ("other.json#/a", "external"),
        // A place that no keyword leads to.
        ("#/data/0", "/data/0"),
        ("#/data/0/not", "/data/0/not"),
    ] {
        assert_eq!(target(json.clone(), reference), expected, "{reference}");
    }
}

#[test]
fn recursive_and_dynamic_references_have_their_target() {
    let json = object(json!({
        "$id": "https://example.com/tree",
        "$dynamicAnchor": "node",
        "properties": {"left": {"$ref": "#"}, "right": {"$dynamicRef": "#node"}, "self": {"$ref": "#/properties/self"}},
    }));
    let schema = Schema::parse(&json).unwrap();
    let property = |name| schema.root().property(name).unwrap();
    assert_eq!(property("left").target().unwrap().id(), schema.root().id());
    assert!(property("right").target().is_none());
    let found = property("right").references().next().unwrap();
    assert_eq!(
        (found.keyword, found.target.unwrap().id()),
        ("$dynamicRef", schema.root().id())
    );
    assert_eq!(
        property("self").target().unwrap().id(),
        property("self").id()
    );
}

#[test]
fn each_limit_for_reading_refuses_with_its_place() {
    let error = |json: Value| Schema::parse(&object(json)).unwrap_err();
    let nested = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({"not": inner}));
    let row = |count: usize| {
        let next = |number: usize| json!({"$ref": format!("#/$defs/{}", number + 1)});
        let defs = (0..count).map(|number| (number.to_string(), next(number)));
        let defs: Map<_, _> = defs.chain([(count.to_string(), json!({}))]).collect();
        json!({"$defs": defs})
    };
    let wide = |count: usize| json!({"anyOf": vec![true; count]});
    let text = |bytes: usize| json!({"title": "x".repeat(bytes)});
    for (fits, refused, limit, location) in [
        (
            nested(128),
            nested(129),
            Limit::Depth(128),
            "/not".repeat(129),
        ),
        (
            wide(4095),
            wide(4096),
            Limit::Nodes(4096),
            "/anyOf/4095".to_owned(),
        ),
        (
            text(256 * 1024 - 12),
            text(256 * 1024 - 11),
            Limit::Bytes(256 << 10),
            String::new(),
        ),
    ] {
        assert!(Schema::parse(&object(fits)).is_ok());
        let SchemaError {
            limit: found,
            location: place,
            ..
        } = error(refused);
        assert_eq!((found, place), (limit, location));
    }
    assert!(Schema::parse(&object(row(limits::REFERENCES - 1))).is_ok());
    let refused = error(row(limits::REFERENCES));
    assert_eq!(refused.limit, Limit::References(64));
    assert!(refused.location.starts_with("/$defs/"), "{refused}");
    let below = |width: usize| json!({"properties": {"x".repeat(100_000): wide(width)}});
    assert!(Schema::parse(&object(below(19))).is_ok());
    let error = error(below(20));
    assert_eq!(error.limit, Limit::Locations(2 << 20));
    assert!(
        error.to_string().len() < 2_000 && error.location.ends_with('…'),
        "{error}"
    );
}

/// The index of a route's schema is small: about 100 bytes for a subschema.
#[test]
fn index_of_ordinary_schema_takes_little_memory() {
    let property = |number: usize| {
        (
            format!("argument_{number}"),
            json!({"type": "string", "description": "x".repeat(100)}),
        )
    };
    let properties: Map<_, _> = (0..20).map(property).collect();
    let json = Arc::new(object(
        json!({"type": "object", "properties": properties, "required": ["argument_1"]}),
    ));
    let mut schema = None;
    let memory =
        allocation_counter::measure(|| schema = Some(Schema::shared(json.clone()).unwrap()));
    println!("{memory:?}");
    assert_eq!(schema.unwrap().len(), 21);
    assert!(memory.bytes_current < 21 * 110, "{memory:?}");
}

#[test]
fn writers_reach_each_subschema() {
    let mut json = object(json!({
        "properties": {"a": {}}, "items": {"not": {}}, "anyOf": [{}, true], "default": {"not": {}}, "dependencies": {"a": ["b"]},
    }));
    change_subschemas(&mut json, |schema| {
        schema.insert("title".to_owned(), "seen".into());
    });
    let expected = json!({
        "properties": {"a": {"title": "seen"}}, "items": {"not": {}, "title": "seen"}, "anyOf": [{"title": "seen"}, true],
        "default": {"not": {}}, "dependencies": {"a": ["b"]},
    });
    assert_eq!(Value::Object(json.clone()), expected);
    subschemas_mut(&mut json).for_each(|value| *value = Value::Null);
    let expected = json!({
        "properties": {"a": null}, "items": null, "anyOf": [null, null], "default": {"not": {}}, "dependencies": {"a": null},
    });
    assert_eq!(Value::Object(json), expected);
}
