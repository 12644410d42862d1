//! Output schemas and results of Rust return types, as a client of each revision receives them. The
//! `jsonschema` crate compares them.

#![allow(
    clippy::expect_used,
    clippy::too_many_lines,
    clippy::type_complexity,
    clippy::use_self,
    reason = "a table of types and values"
)]

use std::collections::{BTreeMap, HashMap};

use mcp::client::ClientBuilder;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::http::StreamableHttp;
use mcp::prelude::*;
use mcp::types::{JsonObject, ProtocolVersion};
use mcp::{ConnectMode, IntoToolResult, Json, Output, ToolRoute};
use mcp_testing::Pair;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::TestServer;

/// Index of the value that a tool returns.
#[derive(Deserialize, JsonSchema)]
struct Pick {
    index: usize,
}

/// A tool that returns one of `values`, and their number.
fn tool<T: IntoToolResult + 'static>(name: &str, values: fn() -> Vec<T>) -> (ToolRoute, usize) {
    let handler = move |Args(pick): Args<Pick>| values().swap_remove(pick.index);
    (Tool::new(name).handler(handler), values().len())
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
fn tools() -> Vec<(ToolRoute, usize)> {
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
fn raw_tools() -> Vec<(ToolRoute, usize)> {
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
        let tool = Tool::new(name).output_schema(schema);
        (tool.handler(handler), values().len())
    });
    tools.into()
}

/// All tools, and the number of values by name.
fn server() -> (Server, BTreeMap<String, usize>) {
    let mut server = Server::new("s", "1");
    let mut counts = BTreeMap::new();
    for (route, count) in tools().into_iter().chain(raw_tools()) {
        counts.insert(route.tool().name.clone(), count);
        server = server.tool(route);
    }
    (server, counts)
}

/// Calls each tool once per value and checks the results by the listed schemas.
async fn check(client: &Client, counts: &BTreeMap<String, usize>, version: ProtocolVersion) {
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools.len(), counts.len());
    for tool in tools {
        let schema = tool.output_schema.as_deref().cloned().map(Value::Object);
        let has_structure = version >= ProtocolVersion::V2025_06_18;
        assert_eq!(schema.is_some(), has_structure, "{version} {}", tool.name);
        if !version.is_modern() {
            let root = schema.as_ref().map(|schema| &schema["type"]);
            assert!(root.is_none_or(|root| root == "object"), "{}", tool.name);
        }
        let own = tool.name.trim_start_matches("s__");
        for index in 0..counts[own] {
            let result = client.call(&tool.name, json!({ "index": index })).await;
            let result = result.unwrap();
            assert!(!result.is_error(), "{}: {}", tool.name, result.text());
            let value = result.structured();
            let Some(schema) = &schema else {
                assert_eq!(value, None, "{version} {}", tool.name);
                continue;
            };
            let value = value.unwrap_or_else(|| panic!("{version} {}: no structure", tool.name));
            let place = format!("{version} {} {index}: {value} by {schema}", tool.name);
            assert!(value.is_object() || version.is_modern(), "{place}");
            let published: Value = serde_json::from_str(&result.text()).unwrap_or_default();
            let is_whole = value == published || value == json!({ "result": published });
            assert!(
                is_whole || ["numbers", "flags", "two_trees"].contains(&own),
                "{place}"
            );
            jsonschema::draft202012::meta::validate(schema).expect(&place);
            let checks = [
                jsonschema::draft202012::new(schema),
                jsonschema::draft7::new(schema),
            ];
            // Validating clients of older revisions read draft 7.
            let drafts = if version.is_modern() { 1 } else { 2 };
            for check in checks.into_iter().take(drafts) {
                if let Err(error) = check.expect(&place).validate(&value) {
                    panic!("{place}: {error}");
                }
            }
        }
    }
}

// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test]
async fn published_schema_accepts_each_returned_value_in_each_revision() {
    assert!(tools().len() >= 30);
    for version in ProtocolVersion::ALL {
        let (server, counts) = server();
        let pair = Pair::stdio(server)
            .revision(version)
            .connect()
            .await
            .unwrap();
        check(&pair.client, &counts, version).await;
    }
}

/// The gateway lists definitions of a server that has another revision than its client.
// spec: TOOL-14, TOOL-16, TOOL-18
#[tokio::test]
async fn published_schema_accepts_each_value_behind_a_gateway() {
    use ProtocolVersion::{V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
    for (back, front) in [
        (V2026_07_28, V2025_11_25),
        (V2026_07_28, V2025_06_18),
        (V2026_07_28, V2025_03_26),
        (V2025_11_25, V2026_07_28),
        (V2025_11_25, V2025_06_18),
    ] {
        let (server, counts) = server();
        let upstream = TestServer::start(StreamableHttp::new(server)).await;
        let url = upstream.url().to_owned();
        let server = GatewayServer::new("s", move |client: ClientBuilder| {
            client.mode(ConnectMode::Pin(back)).connect(url.clone())
        });
        let gateway = Gateway::new("gateway", "1").server(server);
        let ConnectedGateway {
            server,
            group: _group,
            ..
        } = gateway.connect().await.unwrap();
        let pair = Pair::http(server).revision(front).connect().await.unwrap();
        check(&pair.client, &counts, front).await;
    }
}
