//! Tools of many Rust return types. Other programs serve them, too.

#![allow(
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::unwrap_used,
    clippy::use_self,
    reason = "a table of types and values"
)]

use std::collections::{BTreeMap, HashMap};

use mcp::prelude::*;
use mcp::types::JsonObject;
use mcp::{IntoToolResult, Json, Output, ToolRoute};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Index of the value that a tool returns.
#[derive(Deserialize, JsonSchema)]
struct Pick {
    index: usize,
}

/// A tool that returns one of `values`, and their number, which is also its description.
fn tool<T: IntoToolResult + 'static>(name: &str, values: fn() -> Vec<T>) -> (ToolRoute, usize) {
    let handler = move |Args(pick): Args<Pick>| values().swap_remove(pick.index);
    let count = values().len();
    let tool = Tool::new(name).description(count.to_string());
    (tool.handler(handler), count)
}

#[derive(Clone, Default, Serialize, JsonSchema, Output)]
struct Point {
    x: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    tags: Option<Vec<String>>,
}

fn point() -> Point {
    Point {
        x: 0.5,
        label: Some("a".to_owned()),
        tags: None,
    }
}

#[derive(Serialize, JsonSchema, Output)]
enum External {
    Circle { radius: f64 },
    Square(Point),
}

#[derive(Serialize, JsonSchema, Output)]
enum Mixed {
    None,
    Circle { radius: f64 },
}

#[derive(Serialize, JsonSchema, Output)]
enum Plain {
    Low,
    /// Much.
    High,
}

#[derive(Clone, Serialize, JsonSchema, Output)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    Cash,
    Card { number: String },
    At(Point),
}

#[derive(Serialize, JsonSchema, Output)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Number(u8),
    Fields { a: bool },
}

#[derive(Serialize, JsonSchema, Output)]
#[serde(untagged)]
enum UntaggedObjects {
    Point(Point),
    Named { name: String },
}

#[derive(Serialize, JsonSchema, Output)]
#[serde(untagged)]
enum UntaggedMixed {
    Point(Point),
    Many(Vec<u8>),
    Text(String),
}

#[derive(Serialize, JsonSchema, Output)]
struct NewPoint(Point);

#[derive(Serialize, JsonSchema, Output)]
struct NewInternal(Internal);

#[derive(Serialize, JsonSchema, Output)]
struct NewList(Vec<u8>);

#[derive(Serialize, JsonSchema, Output)]
#[serde(transparent)]
struct Transparent {
    inner: Option<Point>,
}

#[derive(Serialize, JsonSchema, Output)]
struct Pair2(u8, String);

#[derive(Clone, Serialize, JsonSchema, Output)]
struct Tree {
    name: String,
    children: Vec<Tree>,
    parent: Option<Box<Tree>>,
}

fn tree() -> Tree {
    let leaf = Tree {
        name: "leaf".to_owned(),
        children: Vec::new(),
        parent: None,
    };
    Tree {
        name: "root".to_owned(),
        children: vec![leaf.clone(), leaf.clone()],
        parent: Some(Box::new(leaf)),
    }
}

#[derive(Serialize, JsonSchema, Output)]
#[serde(tag = "op")]
enum Expression {
    Number { value: f64 },
    Not { of: Box<Expression> },
    Sum { of: Vec<Expression> },
}

#[derive(Serialize, JsonSchema, Output)]
#[serde(untagged)]
enum Nested {
    Leaf(u8),
    Node(Vec<Nested>),
}

#[derive(Serialize, JsonSchema, Output)]
struct Flat {
    id: u8,
    #[serde(flatten)]
    point: Point,
}

#[derive(Serialize, JsonSchema, Output)]
struct FlatEnum {
    id: u8,
    #[serde(flatten)]
    kind: Internal,
}

#[derive(Serialize, JsonSchema, Output)]
struct FlatMap {
    id: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Serialize, JsonSchema, Output)]
struct Page<T> {
    items: Vec<T>,
    next: Option<Box<Page<T>>>,
}

#[derive(Serialize, JsonSchema, Output)]
struct Unit;

fn expressions() -> Vec<Expression> {
    let number = || Expression::Number { value: 1.0 };
    vec![
        number(),
        Expression::Not {
            of: Box::new(number()),
        },
        Expression::Sum {
            of: vec![number(), Expression::Sum { of: Vec::new() }],
        },
    ]
}

fn internals() -> Vec<Internal> {
    let number = "1".to_owned();
    vec![
        Internal::Cash,
        Internal::Card { number },
        Internal::At(point()),
    ]
}

fn words() -> BTreeMap<String, u8> {
    BTreeMap::from([("a".to_owned(), 1)])
}

/// The tools, each with the number of its values.
pub(crate) fn tools() -> Vec<(ToolRoute, usize)> {
    vec![
        tool("u8", || vec![7u8]),
        tool("i128", || vec![-7i128]),
        tool("f64", || vec![0.5, -1.5]),
        tool("bool", || vec![true]),
        tool("numbers", || vec![vec![], vec![1u32, 2]]),
        tool("flags", || vec![vec![true]]),
        tool("number_or_none", || vec![None, Some(5i64)]),
        tool("struct", || vec![point(), Point::default()]),
        tool("struct_or_none", || vec![None, Some(point())]),
        tool("structs", || vec![vec![], vec![point()]]),
        tool("structs_or_none", || vec![vec![None, Some(point())]]),
        tool("external", || {
            let square = External::Square(point());
            vec![External::Circle { radius: 1.0 }, square]
        }),
        tool("mixed", || vec![Mixed::None, Mixed::Circle { radius: 1.0 }]),
        tool("plain", || vec![Plain::Low, Plain::High]),
        tool("internal", internals),
        tool("internal_or_none", || {
            vec![None, Some(Internal::Cash), Some(Internal::At(point()))]
        }),
        tool("adjacent", || {
            let fields = Adjacent::Fields { a: true };
            vec![Adjacent::Unit, Adjacent::Number(1), fields]
        }),
        tool("untagged_objects", || {
            let name = "n".to_owned();
            vec![
                UntaggedObjects::Point(point()),
                UntaggedObjects::Named { name },
            ]
        }),
        tool("untagged_mixed", || {
            let text = UntaggedMixed::Text("{".to_owned());
            vec![
                UntaggedMixed::Point(point()),
                UntaggedMixed::Many(vec![1]),
                text,
            ]
        }),
        tool("new_point", || vec![NewPoint(point())]),
        tool("new_internal", || {
            internals().into_iter().map(NewInternal).collect()
        }),
        tool("new_list", || vec![NewList(vec![1])]),
        tool("transparent", || {
            let some = Some(point());
            vec![Transparent { inner: None }, Transparent { inner: some }]
        }),
        tool("tuple_struct", || vec![Pair2(1, "a".to_owned())]),
        tool("box_struct", || vec![Json(Box::new(point()))]),
        tool("box_internal", || {
            let boxed = internals().into_iter().map(Box::new);
            boxed.map(Json).collect()
        }),
        tool("tree", || vec![tree()]),
        tool("trees", || vec![vec![tree()], vec![]]),
        tool("tree_or_none", || vec![None, Some(tree())]),
        tool("two_trees", || vec![(tree(), Some(tree())), (tree(), None)]),
        tool("expression", expressions),
        tool("expressions", || vec![expressions()]),
        tool("nested", || {
            let inner = Nested::Node(vec![Nested::Leaf(2), Nested::Node(vec![])]);
            vec![Nested::Leaf(1), Nested::Node(vec![inner])]
        }),
        tool("nested_or_none", || vec![None, Some(Nested::Leaf(1))]),
        tool("flat", || {
            vec![Flat {
                id: 1,
                point: point(),
            }]
        }),
        tool("flat_enum", || {
            let kinds = internals().into_iter();
            kinds.map(|kind| FlatEnum { id: 1, kind }).collect()
        }),
        tool("flat_map", || {
            vec![FlatMap {
                id: 1,
                rest: words(),
            }]
        }),
        tool("page", || {
            let next = Page {
                items: vec![],
                next: None,
            };
            let items = vec![point()];
            vec![Page {
                items,
                next: Some(Box::new(next)),
            }]
        }),
        tool("unit", || vec![Unit]),
        tool("any", || {
            let values = [
                json!({"a": 1}),
                json!({"result": 1}),
                json!([1]),
                json!("{"),
                json!(null),
            ];
            values.map(Json).into()
        }),
        tool("map", || vec![Json(words())]),
        tool("map_of_lists", || {
            vec![Json(HashMap::from([("a".to_owned(), vec![point()])]))]
        }),
        tool("list_of_options", || {
            vec![Json(vec![None, Some(internals())])]
        }),
        tool("tuple", || vec![Json((1u8, "a".to_owned(), None::<Point>))]),
        tool("nothing", || vec![Json(())]),
        tool("result", || vec![Ok::<_, ToolError>(Internal::Cash)]),
        tool("outcome", || {
            vec![Json(Ok::<u8, String>(1)), Json(Err("no".to_owned()))]
        }),
    ]
}

/// Tools with a schema of their author, whose references lead to the root.
pub(crate) fn raw_tools() -> Vec<(ToolRoute, usize)> {
    let list = json!({
        "anyOf": [{"type": "integer"}, {"type": "object", "additionalProperties": {"$ref": "#"}}],
    });
    let named = json!({
        "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/definitions/b"}],
        "$defs": {"a": {"type": "object", "required": ["a"]}},
        "definitions": {"b": {"allOf": [{"type": "object", "required": ["b"]}, {}]}},
    });
    let values: [(&str, Value, fn() -> Vec<Value>); 2] = [
        ("raw_list", list, || {
            vec![json!(1), json!({"a": {"b": 2}}), json!({})]
        }),
        ("raw_named", named, || {
            vec![json!({"a": 1}), json!({"b": 1})]
        }),
    ];
    let tools = values.map(|(name, schema, values)| {
        let schema: JsonObject = serde_json::from_value(schema).unwrap();
        let handler = move |Args(pick): Args<Pick>| values().swap_remove(pick.index);
        let count = values().len();
        let tool = Tool::new(name).description(count.to_string());
        (tool.output_schema(schema).handler(handler), count)
    });
    tools.into()
}
