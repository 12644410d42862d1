//! Every public way through which a schema of others is read, written or compared.

use std::collections::HashSet;
use std::convert::Infallible;
use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::executor::block_on;
use http::{Request, Response};
use http_body_util::Full;
use mcp_client::catalog::Snapshot;
use mcp_client::{Client, ConnectMode, InProcess};
use mcp_core::schema::{JsonSchema, LintProfile, Validator, Violations, lint};
use mcp_core::{Call, InputState, ParamHeaders};
use mcp_gateway::openapi::OpenApi;
use mcp_gen::Generator;
use mcp_schema::{
    Keywords, Limit, Node, Parts, Schema, SchemaError, Walk, change_subschemas, limits,
};
use mcp_server::{RawArgs, Server, Tool, ToolExt as _};
use mcp_toolset::search::describe_tools;
use mcp_toolset::{Provider, Ranker as _, ToolSet, WordRanker};
use mcp_types::{CallToolParams, CallToolResult, JsonObject, ProtocolVersion, RawObject};
use serde_json::{Value, json};
use tower_service::Service;

use crate::server::send;

/// A function that gets a schema, and arguments for it, and panics if a promise is broken.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Visitor {
    /// The crate, and the part of it.
    pub name: &'static str,
    /// Visits the schema.
    pub visit: fn(&JsonObject, &Value),
}

/// All visitors.
pub const VISITORS: [Visitor; 12] = [
    visitor("mcp-schema", read),
    visitor("mcp-core lints", lints),
    visitor("mcp-core JsonSchema", validate),
    visitor("mcp-core ParamHeaders", headers),
    visitor("mcp-core narrowing, mcp-client index", revisions),
    visitor("mcp-server checks", check),
    visitor("mcp-server lenient arguments", lenient),
    visitor("mcp-toolset", tool_sets),
    visitor("mcp-gen", generate),
    visitor("mcp-client differences", compare),
    visitor("mcp-gateway OpenAPI", openapi),
    visitor("mcp-testing samples", samples),
];

const fn visitor(name: &'static str, visit: fn(&JsonObject, &Value)) -> Visitor {
    Visitor { name, visit }
}

/// Longest text about one place in a schema, in bytes.
const MAX_TEXT: usize = 20_000;
/// Longest definition of a tool for a model, in bytes: the limit of its schema, and what is around it.
const MAX_DEFINITION: usize = 300_000;
/// Most values and bytes of a sample.
const MAX_SAMPLE: usize = 400_000;

const PROFILES: [LintProfile; 8] = [
    LintProfile::Claude,
    LintProfile::OpenAi,
    LintProfile::Gemini,
    LintProfile::Kimi,
    LintProfile::Copilot,
    LintProfile::Zed,
    LintProfile::LlamaIndex,
    LintProfile::Smolagents,
];
const PROVIDERS: [Provider; 5] = [
    Provider::Anthropic,
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::OpenAiResponsesStrict,
    Provider::Gemini,
];

fn tool(schema: &JsonObject) -> Tool {
    Tool::new("t").input_schema(schema.clone())
}

/// Reads the schema, all that it says, and walks along all paths.
fn read(schema: &JsonObject, _: &Value) {
    let schema = match Schema::parse(schema) {
        Ok(schema) => schema,
        Err(error) => return assert!(error.to_string().len() < MAX_TEXT),
    };
    let walk = Walk::of_schema(usize::MAX);
    if let Err(error) = visit_paths(schema.root(), &walk, 0) {
        assert!(
            matches!(error.limit, Limit::Nested(_) | Limit::Steps(_)),
            "{error}"
        );
    }
    assert!(walk.taken() <= limits::STEPS, "{} steps", walk.taken());
    let ids: HashSet<_> = schema.nodes().map(Node::id).collect();
    assert_eq!(ids.len(), schema.len());
    for node in schema.nodes() {
        let parent = node
            .parent()
            .map_or(usize::MAX, |parent| parent.id().index());
        assert!(node.id().index() == 0 || parent < node.id().index());
        assert!(node.pointer().chars().count() <= limits::LOCATION + 1);
        let _ = (node.kinds(), node.is_null(), node.range(), node.listed());
        let _ = (node.properties(), node.required(), node.alternatives());
        let _ = (node.element(1), node.subschema("items"), node.target());
        let _ = (node.count("minLength"), node.text("title"), node.resource());
        assert!(node.subschemas().all(|inner| inner.node.depth() > 0));
        let texts = node.references().map(|reference| reference.text.len());
        assert!(texts.sum::<usize>() <= limits::BYTES);
    }
}

/// Visits all paths: properties, alternatives, and what applies to the same value.
fn visit_paths(node: Node<'_>, walk: &Walk, nested: usize) -> Result<(), SchemaError> {
    let parts = Parts::of(node, walk, nested)?;
    for (_, inner) in parts.properties() {
        visit_paths(inner, walk, nested + 1)?;
    }
    for inner in parts.alternatives() {
        parts.alternative(inner, walk, nested + 1)?.keywords();
        visit_paths(inner, walk, nested + 1)?;
    }
    Ok(())
}

fn lints(schema: &JsonObject, _: &Value) {
    for lint in lint(&tool(schema).output_schema(schema.clone())) {
        let concerned = PROFILES.map(|profile| lint.concerns(profile));
        assert!(concerned.contains(&true), "{lint}");
        assert!(lint.to_string().len() < MAX_TEXT);
    }
}

fn validate(schema: &JsonObject, arguments: &Value) {
    let check = match JsonSchema.compile(schema) {
        Ok(check) => check,
        Err(error) => return assert!((1..MAX_TEXT).contains(&error.to_string().len())),
    };
    for value in [arguments, &json!("a"), &json!([arguments])] {
        if let Err(violations) = check.check(value) {
            let count = violations.iter().count();
            assert!((1..=Violations::MAX + 1).contains(&count), "{count}");
            let length = violations.to_string().len();
            assert!(length < (Violations::MAX + 1) * MAX_TEXT, "{length}");
        }
    }
}

fn headers(schema: &JsonObject, _: &Value) {
    if let Err(error) = ParamHeaders::from_schema(schema) {
        assert!((1..MAX_TEXT).contains(&error.to_string().len()));
    }
}

fn with_tokio<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.expect("a runtime").block_on(future)
}

/// A server with a tool that returns its arguments. The schema is also that of its results.
fn echo(schema: &JsonObject) -> Server {
    let handler = async |arguments: RawArgs| {
        let arguments: Value = serde_json::from_str(arguments.as_str()).unwrap_or_default();
        CallToolResult::from_json(&arguments).map_err(|error| error.to_string())
    };
    let tool = tool(schema).output_schema(schema.clone()).handler(handler);
    Server::new("s", "1").tool(tool.forwarded())
}

/// Lists and calls the tool in each revision. The client checks the result.
fn revisions(schema: &JsonObject, arguments: &Value) {
    with_tokio(async {
        for version in ProtocolVersion::ALL {
            let builder = Client::builder().validate_with(JsonSchema);
            let builder = builder.mode(ConnectMode::Pin(version));
            // A server may refuse the schema when it starts.
            let Ok(client) = builder.connect(InProcess(echo(schema))).await else {
                return;
            };
            let _ = client.list_tools().await;
            let _ = client.call("t", arguments).await;
        }
    });
}

/// Sends the arguments to the tool. The result is short.
fn answer(server: &Server, arguments: &Value) {
    let Ok(arguments) = RawObject::from_value(arguments) else {
        return;
    };
    let call = Call::CallTool(CallToolParams::new("t", Some(arguments)));
    let reply = send(server, call, InputState::default());
    let length = format!("{reply:?}").len();
    assert!(length < 10 * MAX_TEXT, "{length} bytes");
}

fn quiet(schema: &JsonObject) -> Server {
    let tool = tool(schema).handler(async |_: RawArgs| "done");
    Server::new("s", "1").tool(tool)
}

fn check(schema: &JsonObject, arguments: &Value) {
    let server = quiet(schema);
    if let Err(error) = server.check() {
        assert!((1..10 * MAX_TEXT).contains(&error.to_string().len()));
    }
    answer(&server, arguments);
    answer(&server, &json!({"a": 7, "b": ["x"]}));
}

fn lenient(schema: &JsonObject, arguments: &Value) {
    let server = quiet(schema).lenient_arguments();
    answer(&server, arguments);
}

/// Definitions for each provider are valid by the metaschema, and the arguments of a model reach the tool.
fn tool_sets(schema: &JsonObject, arguments: &Value) {
    with_tokio(async {
        let Ok(client) = Client::connect(InProcess(echo(schema))).await else {
            return;
        };
        let tools = ToolSet::from(&client);
        for provider in PROVIDERS {
            let Ok(definitions) = tools.definitions(provider).await else {
                return;
            };
            let length = definitions.to_string().len();
            assert!(length < MAX_DEFINITION, "{length} bytes");
            let definition = match provider {
                Provider::Gemini => &definitions[0]["functionDeclarations"][0],
                Provider::OpenAiChat => &definitions[0]["function"],
                _ => &definitions[0],
            };
            for name in ["input_schema", "parameters"] {
                let schema = definition.get(name).unwrap_or(&Value::Bool(true));
                let checked = jsonschema::draft202012::meta::validate(schema);
                assert!(checked.is_ok(), "{provider:?}: {checked:?}: {schema}");
            }
        }
        for arguments in [arguments, &json!({"a": "{\"a\": 1}", "b": null})] {
            let call = json!([{"type": "tool_use", "id": "c", "name": "t", "input": arguments}]);
            let blocks = tools.run(Provider::Anthropic, &call).await;
            assert_eq!(blocks.map(|blocks| blocks.len()), Ok(1));
        }
    });
    let tools = [tool(schema)];
    let names = RawObject::from_value(&json!({"names": ["t"]})).ok();
    let described = describe_tools(&tools, names.as_ref());
    assert!(described.text().len() < MAX_DEFINITION);
    block_on(WordRanker::new().rank(&tools, &["a".to_owned(), "title".to_owned()]));
}

fn catalog(schema: &JsonObject) -> Snapshot {
    let tool = json!({"name": "t", "inputSchema": schema, "outputSchema": schema});
    Snapshot::from_value(json!({"tools": [tool]})).expect("a catalog")
}

fn generate(schema: &JsonObject, _: &Value) {
    let catalog = catalog(schema);
    for generator in [Generator::client("Shop"), Generator::server("Shop")] {
        let generated = generator.generate(&catalog).expect("code for one tool");
        let source = generated.to_source().expect("the code of one tool is Rust");
        assert!(source.len() < 64 << 20, "{} bytes", source.len());
    }
}

/// Changes all subschemas.
fn change(schema: &mut JsonObject) {
    change_subschemas(schema, change);
    schema.insert("minLength".to_owned(), json!(3));
    schema.insert("type".to_owned(), json!(["string", "null"]));
}

fn compare(schema: &JsonObject, _: &Value) {
    let mut other = schema.clone();
    change(&mut other);
    let (old, new) = (catalog(schema), catalog(&other));
    assert!(old.diff(&old).differences().len() <= 2);
    let diff = old.diff(&new);
    assert!(diff.differences().len() <= 1_001);
    assert!(diff.to_string().len() < 32 << 20);
}

/// A service that is never reached by wrong arguments.
#[derive(Clone)]
struct Empty;

impl Service<Request<Bytes>> for Empty {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        ready(Ok(Response::new(Full::default())))
    }
}

/// A document whose body, parameter and response have the schema: as it is, and with its definitions as components.
fn documents(schema: &JsonObject) -> [String; 2] {
    let document = |version: &str, schema: &JsonObject, schemas: &Value| {
        let content = json!({"application/json": {"schema": schema}});
        let parameter = json!({"name": "q", "in": "query", "schema": schema});
        let responses = json!({"200": {"description": "", "content": content}});
        let post = json!({
            "operationId": "t", "parameters": [parameter], "requestBody": {"content": content}, "responses": responses,
        });
        let document = json!({
            "openapi": version, "info": {"title": "a", "version": "1"}, "paths": {"/t": {"post": post}},
            "components": {"schemas": schemas},
        });
        document.to_string()
    };
    let mut moved = schema.clone();
    let schemas = moved
        .remove("$defs")
        .unwrap_or_else(|| json!({"s": schema}));
    let moved = document("3.0.3", &moved, &schemas);
    [
        document("3.1.0", schema, &json!({})),
        moved.replace("#/$defs/", "#/components/schemas/"),
    ]
}

fn openapi(schema: &JsonObject, arguments: &Value) {
    for document in documents(schema) {
        let api = OpenApi::parse(&document).and_then(|api| api.base_url("https://example.com"));
        let Ok(server) = api.and_then(|api| api.server(Empty)) else {
            continue;
        };
        with_tokio(async {
            let Ok(client) = Client::connect(InProcess(server)).await else {
                return;
            };
            let tools = client.list_tools().await.unwrap_or_default();
            let sizes = tools
                .iter()
                .map(|tool| json!(tool.input_schema).to_string().len());
            assert!(sizes.sum::<usize>() < 4 << 20);
            let arguments = json!({"body": arguments, "q": arguments});
            let _ = client.call("t", &arguments).await;
        });
    }
}

/// Returns the number of values, and bytes of texts.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| name.len() + size(member))
            .sum(),
        _ => 0,
    }
}

fn samples(schema: &JsonObject, _: &Value) {
    for sample in mcp_testing::samples(schema, 7).take(3) {
        assert!(size(&sample) <= MAX_SAMPLE, "{}", size(&sample));
    }
}
