//! Tools of OpenAPI documents, with a service in this process.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use mcp::InProcess;
use mcp::gateway::openapi::{OpenApi, OpenApiError};
use mcp::gateway::{Gateway, GatewayServer, ToolOptions};
use mcp::prelude::*;
use mcp::schema::{JsonSchema, Validator as _};
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::authorization;
use crate::kit::LogLines;

const SECRET: &str = "Bearer s3cret";

fn document(version: &str) -> Value {
    json!({
        "openapi": version,
        "info": {"title": "pets", "version": "1.0.0"},
        "servers": [{"url": "https://elsewhere.example.com"}],
        "paths": {
            "/pets": {
                "get": {
                    "operationId": "listPets", "tags": ["pets"], "summary": "Lists pets.",
                    "parameters": [
                        {"name": "kind", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                        {"name": "limit", "in": "query", "schema": {"type": "integer"}},
                        {"name": "X-Trace", "in": "header", "schema": {"type": "string"}},
                        {"name": "Authorization", "in": "header", "schema": {"type": "string"}},
                    ],
                    "responses": {},
                },
                "post": {
                    "operationId": "addPet", "tags": ["pets", "admin"],
                    "requestBody": {"required": true, "content": {"application/json": {
                        "schema": {"$ref": "#/components/schemas/Pet"},
                    }}},
                    "responses": {},
                },
            },
            "/pets/{id}": {
                "parameters": [{"$ref": "#/components/parameters/Id"}],
                "get": {"tags": ["pets"], "responses": {}},
                "delete": {"operationId": "delete pet", "tags": ["admin"], "responses": {}},
            },
            "/upload": {"post": {
                "operationId": "upload", "tags": ["pets"],
                "requestBody": {"required": true, "content": {"multipart/form-data": {}}},
                "responses": {},
            }},
        },
        "components": {
            "parameters": {"Id": {
                "name": "id", "in": "path", "required": true, "schema": {"type": "string"},
            }},
            "schemas": {
                "Pet": {"type": "object", "required": ["name"], "properties": {
                    "name": {"type": "string"},
                    "parent": {"$ref": "#/components/schemas/Pet"},
                    "toy": {"$ref": "#/components/schemas/Toy"},
                }},
                "Toy": {"type": "string"},
            },
        },
    })
}

/// A request that the service has received.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    method: Method,
    pub(crate) url: String,
    headers: HeaderMap,
    body: String,
}

pub(crate) type Log = Arc<Mutex<Vec<Seen>>>;

/// Answers with the status, type and body of the query or path.
fn respond(request: &Request<Bytes>) -> Response<Full<Bytes>> {
    let (status, kind, body) = match request.uri().path() {
        "/v1/pets" if request.method() == Method::POST => {
            (201, "application/json", "{\"id\": 7}".into())
        }
        "/v1/pets" => (200, "application/json; charset=utf-8", "[1, 2]".into()),
        "/v1/pets/text" => (200, "text/plain", "hello".into()),
        "/v1/pets/long" => (200, "text/plain", "x".repeat(5000)),
        "/v1/pets/none" => (404, "application/json", "{\"error\": \"no pet\"}".into()),
        _ => (204, "", String::new()),
    };
    let response = Response::builder()
        .status(status)
        .header("content-type", kind);
    response.body(Full::from(body)).unwrap()
}

pub(crate) fn http(
    log: &Log,
) -> impl tower::Service<
    Request<Bytes>,
    Response = Response<Full<Bytes>>,
    Error = Infallible,
    Future: Send,
> + Clone
+ Send
+ Sync
+ 'static {
    let log = log.clone();
    tower::service_fn(move |request: Request<Bytes>| {
        log.lock().push(Seen {
            method: request.method().clone(),
            url: request.uri().to_string(),
            headers: request.headers().clone(),
            body: String::from_utf8(request.body().to_vec()).unwrap(),
        });
        let response = respond(&request);
        async move { Ok(response) }
    })
}

fn api(version: &str) -> OpenApi {
    OpenApi::parse(&document(version).to_string())
        .unwrap()
        .base_url("https://api.example.com/v1/")
        .unwrap()
        .header("Authorization", SECRET)
        .unwrap()
        .max_response_bytes(1000)
}

#[tokio::test]
async fn operations_are_tools_with_schemas() {
    for version in ["3.0.3", "3.1.0"] {
        let server = api(version).server(http(&Log::default())).unwrap();
        server.check().unwrap();
        let lints = server.lints();
        let is_unchecked =
            |lint: &mcp::schema::Lint| lint.to_string().contains("no type checks it");
        assert!(!lints.iter().any(is_unchecked), "{lints:?}");
        let client = Client::connect(InProcess(server)).await.unwrap();
        let tools = client.list_tools().await.unwrap();
        let mut names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["addPet", "delete_pet", "get_pets_id", "listPets"]);
        let tool = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap();
        assert_eq!(
            tool("listPets").description.as_deref().unwrap_or_default(),
            "Lists pets."
        );
        let hints = tool("listPets").annotations.clone().unwrap();
        assert_eq!(hints.read_only_hint, Some(true));
        let schema = &tool("listPets").input_schema;
        assert!(
            schema["properties"].get("Authorization").is_none(),
            "{schema:?}"
        );
        assert_eq!(tool("get_pets_id").input_schema["required"], json!(["id"]));
        let schema = &tool("addPet").input_schema;
        let pet = &schema["properties"]["body"];
        assert_eq!(pet["properties"]["toy"]["type"], "string");
        assert_eq!(pet["properties"]["parent"]["$ref"], "#/$defs/Pet");
        assert_eq!(&schema["$defs"]["Pet"], pet);
    }
}

#[tokio::test]
async fn operations_are_selected_by_tag_and_method() {
    let names = async |api: OpenApi| {
        let server = api.server(http(&Log::default())).unwrap();
        let client = Client::connect(InProcess(server)).await.unwrap();
        let tools = client.list_tools().await.unwrap();
        let mut names: Vec<_> = tools.into_iter().map(|tool| tool.name).collect();
        names.sort_unstable();
        names
    };
    let admin = names(api("3.1.0").tags(["admin"])).await;
    assert_eq!(admin, ["addPet", "delete_pet"]);
    let read = names(api("3.1.0").tags(["pets"]).methods([Method::GET])).await;
    assert_eq!(read, ["get_pets_id", "listPets"]);
    let none = api("3.1.0").tags(["none"]).server(http(&Log::default()));
    assert_eq!(none.unwrap_err(), OpenApiError::NoOperation);
}

#[tokio::test]
async fn calls_are_requests_below_the_base_url() {
    let log = Log::default();
    let server = api("3.0.3").query("key", "k&y").server(http(&log)).unwrap();
    let client = Client::connect(InProcess(server)).await.unwrap();
    let arguments =
        json!({"kind": ["cat", "dog & co"], "limit": 5, "X-Trace": "t", "Authorization": "other"});
    let listed = client.call("listPets", arguments).await.unwrap();
    assert_eq!(listed.structured(), Some(json!({"result": [1, 2]})));
    let body = json!({"body": {"name": "Tom"}});
    let added = client.call("addPet", body).await.unwrap();
    assert_eq!(added.structured(), Some(json!({"id": 7})));
    for id in ["a/b", "?x=1", "@evil.example.com", "%2e%2e"] {
        client.call("get_pets_id", json!({"id": id})).await.unwrap();
    }
    // Some proxies and frameworks decode `%2F` before they resolve the segments.
    for id in ["..", ".", "", "a/../../admin", "..\\a", "..;a", "a\0"] {
        let refused = client.call("get_pets_id", json!({"id": id})).await.unwrap();
        assert!(refused.is_error(), "{refused:?}");
    }
    let seen = log.lock().clone();
    let urls: Vec<_> = seen.iter().map(|request| &*request.url).collect();
    let base = "https://api.example.com/v1/pets";
    let expected = [
        format!("{base}?kind=cat&kind=dog%20%26%20co&limit=5&key=k%26y"),
        format!("{base}?key=k%26y"),
        format!("{base}/a%2Fb?key=k%26y"),
        format!("{base}/%3Fx%3D1?key=k%26y"),
        format!("{base}/%40evil.example.com?key=k%26y"),
        format!("{base}/%252e%252e?key=k%26y"),
    ];
    assert_eq!(urls, expected);
    let has_secret = |seen: &Seen| seen.headers["authorization"] == SECRET;
    assert!(seen.iter().all(has_secret), "{seen:?}");
    assert_eq!(seen[0].headers["x-trace"], "t");
    assert_eq!(
        (&seen[1].method, &*seen[1].body),
        (&Method::POST, "{\"name\":\"Tom\"}")
    );
}

#[tokio::test]
async fn responses_are_results_within_limits() {
    let server = Arc::new(api("3.1.0").server(http(&Log::default())).unwrap());
    let api = GatewayServer::new("pets", move |client| {
        client.connect(InProcess(server.clone()))
    });
    let opened = Gateway::new("gateway", "1.0.0")
        .server(api)
        .connect()
        .await
        .unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let get = async |id: &str| {
        client
            .call("pets__get_pets_id", json!({"id": id}))
            .await
            .unwrap()
    };
    assert_eq!(get("text").await.text(), "hello");
    assert_eq!(get("empty").await.text(), "done");
    for (id, part) in [
        ("long", "1000 bytes"),
        ("none", "status 404: {\"error\": \"no pet\"}"),
    ] {
        let result = get(id).await;
        assert!(
            result.is_error() && result.text().contains(part),
            "{result:?}"
        );
    }
}

#[test]
fn settings_are_checked_and_secrets_not_shown() {
    let api = || OpenApi::parse(&document("3.1.0").to_string()).unwrap();
    for url in [
        "pets",
        "ftp://a/",
        "https://a/?q",
        "https://ada:s3cret@a/",
        "https://a/#b",
    ] {
        let error = api().base_url(url).unwrap_err().to_string();
        assert!(
            error.contains("is not a base URL") && !error.contains("s3cret"),
            "{error}"
        );
    }
    let error = api().header("X", "s3\ncret").unwrap_err().to_string();
    assert_eq!(error, "the header \"X\" cannot be sent");
    let shown = format!(
        "{:?}",
        api().header("X", "s3cret").unwrap().query("k", "s3cret")
    );
    assert!(!shown.contains("s3cret"), "{shown}");
    let error = api().server(http(&Log::default())).unwrap_err();
    assert!(matches!(error, OpenApiError::BaseUrl(_)), "{error:?}");
}

/// Returns a document whose operations are `paths`.
pub(crate) fn document_of(paths: Value) -> OpenApi {
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"}, "paths": paths,
    });
    OpenApi::parse(&document.to_string())
        .unwrap()
        .base_url("https://api.example.com/v1")
        .unwrap()
}

/// Returns a client of the tools of `api`, and the requests that the service receives.
pub(crate) async fn connect(api: OpenApi) -> (Client, Log) {
    let log = Log::default();
    let server = api.server(http(&log)).unwrap();
    (Client::connect(InProcess(server)).await.unwrap(), log)
}

/// Each style and location of a parameter with values of each type: only the right one is sent.
#[tokio::test]
async fn arguments_with_a_wrong_type_are_not_sent() {
    let object = json!({"tenant": "1", "api_key": "mine"});
    let values = [
        json!("x"),
        json!(5),
        json!(1.5),
        json!(true),
        object,
        json!(["x"]),
    ];
    let parameter = |place: &str, style: &str, explode: bool, kind: &str| {
        json!({
            "name": "v", "in": place, "style": style, "explode": explode, "required": true,
            "schema": {"type": kind},
        })
    };
    let form = |explode, kind| parameter("query", "form", explode, kind);
    let content = json!({"application/json": {"schema": {"type": "object"}}});
    let pair = json!({"a": "b"});
    let list = json!(["a", "b"]);
    for (parameter, good, expected) in [
        (form(true, "string"), json!("a&b"), "/a?v=a%26b"),
        (form(true, "integer"), json!(7), "/a?v=7"),
        (form(true, "number"), json!(7.5), "/a?v=7.5"),
        (form(true, "boolean"), json!(false), "/a?v=false"),
        (form(true, "array"), list.clone(), "/a?v=a&v=b"),
        (form(false, "array"), list.clone(), "/a?v=a%2Cb"),
        (form(true, "object"), pair.clone(), "/a?a=b"),
        (form(false, "object"), pair.clone(), "/a?v=a%2Cb"),
        (
            parameter("query", "spaceDelimited", false, "array"),
            list.clone(),
            "/a?v=a%20b",
        ),
        (
            parameter("query", "pipeDelimited", false, "array"),
            list.clone(),
            "/a?v=a%7Cb",
        ),
        (
            parameter("query", "deepObject", true, "object"),
            pair.clone(),
            "/a?v%5Ba%5D=b",
        ),
        (
            json!({"name": "v", "in": "query", "required": true, "content": content}),
            pair.clone(),
            "/a?v=%7B%22a%22%3A%22b%22%7D",
        ),
        (
            parameter("path", "simple", false, "string"),
            json!("a/b"),
            "/a%2Fb",
        ),
        (
            parameter("path", "simple", false, "array"),
            list.clone(),
            "/a%2Cb",
        ),
        (parameter("path", "simple", false, "object"), pair, "/a%2Cb"),
        (
            parameter("header", "simple", false, "string"),
            json!("a"),
            "/a",
        ),
        (parameter("header", "simple", false, "array"), list, "/a"),
    ] {
        let kind = parameter.pointer("/schema/type").and_then(Value::as_str);
        let kind = kind.unwrap_or("object").to_owned();
        let path = if parameter["in"] == "path" {
            "/{v}"
        } else {
            "/a"
        };
        let get = json!({"operationId": "get", "parameters": [parameter], "responses": {}});
        let (client, log) = connect(document_of(json!({path: {"get": get}}))).await;
        for value in &values {
            let is_right = match &*kind {
                "string" => value.is_string(),
                "integer" => value.is_i64(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                _ => value.is_object(),
            };
            if is_right {
                continue;
            }
            let refused = client.call("get", json!({"v": value})).await.unwrap();
            assert!(refused.is_error(), "{parameter} {value}: {refused:?}");
            assert!(refused.text().contains("expected"), "{refused:?}");
        }
        assert!(log.lock().is_empty(), "{parameter}: {log:?}");
        client.call("get", json!({"v": good})).await.unwrap();
        let url = format!("https://api.example.com/v1{expected}");
        assert_eq!(log.lock().last().unwrap().url, url, "{parameter}");
    }
}

/// A schema without a type does not describe an object or an array, so that none is sent.
#[tokio::test]
async fn objects_need_a_schema_that_says_so() {
    let parameter = json!({"name": "v", "in": "query", "schema": {"description": "any"}});
    let get = json!({"operationId": "get", "parameters": [parameter], "responses": {}});
    let (client, log) = connect(document_of(json!({"/a": {"get": get}}))).await;
    for value in [json!({"api_key": "mine"}), json!(["a"])] {
        let refused = client.call("get", json!({"v": value})).await.unwrap();
        assert!(
            refused.text().contains("\"v\" cannot be an "),
            "{refused:?}"
        );
    }
    assert!(log.lock().is_empty(), "{log:?}");
    client.call("get", json!({"v": "a"})).await.unwrap();
    assert_eq!(log.lock()[0].url, "https://api.example.com/v1/a?v=a");
}

#[tokio::test]
async fn caller_cannot_add_to_values_from_the_operator() {
    let object = |name: &str, style: &str| json!({"name": name, "in": "query", "style": style, "schema": {"type": "object"}});
    let text = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    let parameters = [
        object("q", "form"),
        object("r", "form"),
        object("filter", "deepObject"),
        text("filter[owner]"),
        text("tenant"),
        text("Api-Key"),
    ];
    let get = json!({"operationId": "get", "parameters": parameters, "responses": {}});
    let log = Log::default();
    let api = document_of(json!({"/a": {"get": get}})).query("api_key", "k");
    let server = Arc::new(api.server(http(&log)).unwrap());
    let api = GatewayServer::new("s", move |client| client.connect(InProcess(server.clone())));
    let hidden = ToolOptions::new()
        .hidden_argument("tenant", json!("acme"))
        .hidden_argument("r", json!({"region": "eu"}));
    let opened = Gateway::new("gateway", "1.0.0")
        .server(api.tool("get", hidden))
        .connect()
        .await
        .unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let listed = client.list_tools().await.unwrap();
    let names = listed[0].input_schema["properties"].as_object().unwrap();
    let names: Vec<_> = names.keys().collect();
    assert_eq!(names, ["q", "filter", "filter[owner]"]);
    for arguments in [
        json!({"q": {"tenant": "1", "api_key": "mine"}}),
        json!({"q": {"Tenant": "1"}}),
        json!({"q": {"tenant[]": "1"}}),
        json!({"q": {"tenant[0]": "1"}}),
        json!({"q": {" tenant": "1"}}),
        json!({"q": {"api_key": "mine"}}),
        json!({"q": {"API.KEY": "mine"}}),
        json!({"q": {"api-key": "mine"}}),
        json!({"q": {"region": "us"}}),
        json!({"q": {"r": "us"}}),
        json!({"q": {"filter[owner]": "1"}}),
        json!({"q": {"filter": "1"}}),
        json!({"filter": {"owner": "1"}}),
        json!({"q": {"": "1"}}),
        json!({"q": {"a\0": "1"}}),
        json!({"q": {"[tenant]": "1"}}),
        // Wrong types.
        json!({"filter[owner]": {"tenant": "1"}}),
        json!({"q": "tenant=1"}),
        json!({"q": [{"tenant": "1"}]}),
    ] {
        let refused = client.call("s__get", &arguments).await.unwrap();
        assert!(refused.is_error(), "{arguments}: {refused:?}");
    }
    assert!(log.lock().is_empty(), "{log:?}");
    let arguments = json!({
        "q": {"color": "red"}, "filter": {"age": 3, "a][tenant": "&tenant=1"}, "filter[owner]": "o",
        "Api-Key": "mine",
    });
    client.call("s__get", arguments).await.unwrap();
    let expected = "https://api.example.com/v1/a?color=red&region=eu&filter%5Bage%5D=3\
                    &filter%5Ba%5D%5Btenant%5D=%26tenant%3D1&filter%5Bowner%5D=o&tenant=acme&api_key=k";
    assert_eq!(log.lock()[0].url, expected);
}

#[tokio::test]
async fn request_headers_are_not_arguments() {
    let names = [
        "Host",
        "Authorization",
        "Accept",
        "Content-Type",
        "Content-Length",
        "Transfer-Encoding",
        "transfer_encoding",
        "Connection",
        "Cookie",
        "X_Key",
    ];
    let header = |name: &&str| json!({"name": name, "in": "header", "required": true, "schema": {"type": "string"}});
    let parameters: Vec<_> = names.iter().map(header).collect();
    let get = json!({"operationId": "get", "parameters": parameters, "responses": {}});
    let api = document_of(json!({"/a": {"get": get}}));
    let (client, log) = connect(api.header("X-Key", "k").unwrap()).await;
    let tools = client.list_tools().await.unwrap();
    assert_eq!(tools[0].input_schema["properties"], json!({}));
    let evil = names.iter().map(|name| ((*name).to_owned(), json!("evil")));
    client.call("get", Value::from_iter(evil)).await.unwrap();
    let seen = log.lock().clone();
    assert!(
        !format!("{:?}", seen[0].headers).contains("evil"),
        "{seen:?}"
    );
    assert_eq!(seen[0].headers["x-key"], "k");
}

#[tokio::test]
async fn service_gets_the_caller_identity_only_from_the_gateway() {
    let parameters = json!([{"name": "x_caller", "in": "header", "schema": {"type": "string"}}]);
    let get = json!({"operationId": "get", "parameters": parameters, "responses": {}});
    let api = || {
        let api = document_of(json!({"/a": {"get": get}}));
        api.forward_header("X-Caller").unwrap()
    };
    let log = Log::default();
    let server = Arc::new(api().server(http(&log)).unwrap());
    let inner = GatewayServer::new("api", move |client| {
        client.connect(InProcess(server.clone()))
    });
    let url = authorization::protected(inner.forward_identity(authorization::identity())).await;
    let ada = authorization::client(&url, "token-of-ada").await;
    let evil = json!({"x_caller": "evil"});
    ada.call("api__get", evil.clone()).await.unwrap();
    let sent = log.lock()[0].headers.clone();
    let token = sent["x-caller"].to_str().unwrap();
    assert_eq!(token.split('.').count(), 3, "{token}");

    // A client over HTTP cannot set it.
    let log = Log::default();
    let url = crate::kit::serve(api().server(http(&log)).unwrap()).await;
    let client = Client::builder().header("X-Caller", "evil").connect(url);
    let client = client.await.unwrap();
    client
        .call("get", evil)
        .header("X-Caller", "evil")
        .await
        .unwrap();
    let sent = log.lock()[0].headers.clone();
    assert!(!format!("{sent:?}").contains("evil"), "{sent:?}");
}

#[tokio::test]
async fn paths_that_leave_the_base_are_no_tools() {
    for path in [
        "@evil.example.com/a",
        ".evil.example.com/a",
        ":8080/a",
        "a",
        "//evil.example.com/a",
        "/a//b",
        "/../a",
        "/a/../../b",
        "/%2e%2e/a",
        "/%252e%252e/a",
        "/a%2f..%2f..%2fb",
        "/..\\a",
        "/a?tenant=1",
        "/a#b",
        "/..;/a",
        "/a%0d%0aX: y",
    ] {
        let get = json!({"responses": {}});
        let api = || document_of(json!({path: {"get": get}})).header("Authorization", SECRET);
        let refused = api().unwrap().server(http(&Log::default())).unwrap_err();
        assert_eq!(refused, OpenApiError::NoOperation, "{path}");
    }
    let parameter = |name: &str| json!({"name": name, "in": "path", "schema": {"type": "string"}});
    let parameters = [parameter("a"), parameter("b")];
    let get = json!({"operationId": "get", "parameters": parameters, "responses": {}});
    let (client, log) = connect(document_of(json!({"/x/{a}.{b}/y": {"get": get}}))).await;
    // A service sees `..`.
    let dots = client
        .call("get", json!({"a": ".", "b": "x"}))
        .await
        .unwrap();
    assert!(dots.is_error(), "{dots:?}");
    let api = document_of(json!({"/x/{a}{b}/y": {"get": {"operationId": "get",
        "parameters": [parameter("a"), parameter("b")], "responses": {}}}}));
    let (client, other) = connect(api).await;
    for (a, b) in [(".", "."), ("a/.", "./b"), ("%2e", "."), ("a", "/..")] {
        let dots = client.call("get", json!({"a": a, "b": b})).await.unwrap();
        assert!(dots.is_error() || (a, b) == ("%2e", "."), "{dots:?}");
    }
    assert!(
        log.lock().is_empty() && other.lock().len() <= 1,
        "{log:?} {other:?}"
    );
}

#[test]
fn circular_references_in_a_document_are_refused() {
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"},
        "paths": {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/A"}]}}},
        "components": {"parameters": {
            "A": {"$ref": "#/components/parameters/B"}, "B": {"$ref": "#/components/parameters/A"},
        }},
    });
    let api = OpenApi::parse(&document.to_string()).unwrap();
    let api = api.base_url("https://a").unwrap();
    let refused = api.server(http(&Log::default())).unwrap_err();
    assert_eq!(refused, OpenApiError::NoOperation);
}

/// The log names each part once, and counts those beyond 50.
#[test]
fn malformed_parts_are_in_the_log_with_their_place() {
    let lines = LogLines::default();
    let _guard = lines.record();
    let get = |name: &str| {
        json!({"get": {"operationId": name, "parameters": [{"$ref": "#/components/parameters/Id"}], "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/A"}}},
        }}})
    };
    let mut paths = json!({"/a": get("a"), "/b": get("b"), "/c": "text"});
    for number in 0..60 {
        paths[format!("/{number}")] = json!({"get": {"parameters": 7}});
    }
    let server = OpenApi::parse(&json!({"openapi": "3.0.0", "paths": paths, "components": {
        "parameters": {"Id": {"name": "id", "in": "query", "schema": {"type": "integer", "minimum": "1"}}},
        "schemas": {"A": {"properties": {"b/c": {"type": "money"}, "d": 7}}},
    }}).to_string());
    let server = server.unwrap().base_url("https://a").unwrap();
    server.server(http(&Log::default())).unwrap();
    let log = lines.text();
    for (part, count) in [
        ("components schemas A /properties/b~1c/type", 1),
        ("components schemas A /properties/d", 1),
        ("GET /a id /minimum", 1),
        ("GET /b id /minimum", 1),
        ("paths /c", 1),
        ("a part of the OpenAPI document is left out", 50),
        ("further parts of the OpenAPI document are left out", 1),
        ("count=15", 1),
    ] {
        assert_eq!(log.matches(part).count(), count, "{part}: {log}");
    }
}

/// Every response of the service is a result that matches the output schema, as clients demand.
#[tokio::test]
async fn response_matches_the_output_schema() {
    let pet =
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}});
    let pets = json!({"type": "array", "items": {"$ref": "#/components/schemas/Pet"}});
    let response = |schema: &Value| json!({"content": {"application/json": {"schema": schema}}});
    let reference = json!({"$ref": "#/components/schemas/Pet"});
    let id = json!({"name": "id", "in": "path", "schema": {"type": "string"}});
    let document = json!({
        "openapi": "3.1.0", "info": {"title": "a", "version": "1"},
        "paths": {
            "/pets": {
                "get": {"operationId": "list", "responses": {"200": response(&pets)}},
                "post": {"operationId": "add", "responses": {"default": response(&json!({"type": "object"})), "201": response(&reference)}},
            },
            "/pets/{id}": {"get": {"operationId": "get", "parameters": [id],
                "responses": {"200": {"$ref": "#/components/responses/Pet"}}}},
        },
        "components": {"schemas": {"Pet": pet}, "responses": {"Pet": response(&reference)}},
    });
    let api = OpenApi::parse(&document.to_string()).unwrap();
    let (client, _) = connect(api.base_url("https://a/v1").unwrap()).await;
    let tools = client.list_tools().await.unwrap();
    let output = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        tool.output_schema.clone().unwrap()
    };
    assert_eq!(output("add")["anyOf"][0], pet);
    assert_eq!(output("get")["anyOf"][0], pet);
    // The response is a list: structured content is an object.
    let list = &output("list")["anyOf"][0];
    assert_eq!(list["properties"]["result"]["items"], pet);
    for (name, arguments, expected) in [
        ("add", json!({}), json!({"id": 7})),
        // These responses do not match the document.
        ("list", json!({}), json!({"result": [1, 2]})),
        ("get", json!({"id": "text"}), json!({"result": "hello"})),
        ("get", json!({"id": "empty"}), json!({"result": null})),
    ] {
        let result = client.call(name, arguments).await.unwrap();
        assert!(!result.is_error(), "{result:?}");
        assert_eq!(result.structured().as_ref(), Some(&expected));
        let check = JsonSchema.compile(&output(name)).unwrap();
        assert_eq!(check.check(&expected), Ok(()), "{name}");
    }
}

#[tokio::test]
async fn forms_and_nested_objects_are_sent_as_documented() {
    let document = json!({
        "openapi": "3.0.3", "info": {"title": "shop"},
        "paths": {"/pets": {"post": {
            "operationId": "order",
            "parameters": [
                {"name": "created", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
            ],
            "requestBody": {"required": true, "content": {"application/x-www-form-urlencoded": {
                "schema": {"type": "object", "properties": {
                    "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
                    "meta": {"type": "object"}, "card": {"type": "object"},
                }},
                "encoding": {"card": {"style": "deepObject", "explode": true}},
            }}},
            "responses": {},
        }}},
    });
    let log = Log::default();
    let api = OpenApi::parse(&document.to_string()).unwrap();
    let api = api.base_url("https://api.example.com/v1").unwrap();
    let server = api.server(http(&log)).unwrap();
    let client = Client::connect(InProcess(server)).await.unwrap();
    let body = json!({
        "name": "a & b", "tags": ["x", "y"], "meta": {"k": 1}, "none": null,
        "card": {"number": 42, "owner": {"names": ["A", "B"]}},
    });
    let created = json!({"gte": {"day": 1}, "lt": 9});
    let called = client
        .call("order", json!({"body": body, "created": created}))
        .await;
    assert!(!called.unwrap().is_error());
    let seen = log.lock()[0].clone();
    assert_eq!(
        seen.url,
        "https://api.example.com/v1/pets?created%5Bgte%5D%5Bday%5D=1&created%5Blt%5D=9"
    );
    assert_eq!(
        seen.headers["content-type"],
        "application/x-www-form-urlencoded"
    );
    assert_eq!(
        seen.body,
        "name=a%20%26%20b&tags=x&tags=y&meta=%7B%22k%22%3A1%7D&card%5Bnumber%5D=42\
         &card%5Bowner%5D%5Bnames%5D%5B0%5D=A&card%5Bowner%5D%5Bnames%5D%5B1%5D=B"
    );

    // The names are bounded, and a form is an object.
    let mut deep = json!(1);
    for _ in 0..20 {
        deep = json!({"a": deep});
    }
    for body in [json!({"card": deep}), json!([1]), json!("text")] {
        let refused = client.call("order", json!({"body": body})).await.unwrap();
        assert!(refused.is_error(), "{refused:?}");
    }
    let refused = client
        .call("order", json!({"body": {}, "created": {"a": deep}}))
        .await
        .unwrap();
    assert!(refused.is_error(), "{refused:?}");
    assert_eq!(log.lock().len(), 1);
}

#[tokio::test]
async fn operation_names_are_portable_and_unique() {
    let long = "x".repeat(80);
    let get = |id: &str| json!({"get": {"operationId": id, "responses": {}}});
    let ids = ["a.b", "a_b", "a/b", "a/b", &long, "größe", "c"];
    let paths: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (format!("/{at}"), get(id)))
        .collect();
    let names = async |paths: Vec<(String, Value)>| {
        let (client, _) = connect(document_of(Value::Object(paths.into_iter().collect()))).await;
        let tools = client.list_tools().await.unwrap();
        let names: std::collections::BTreeSet<_> =
            tools.into_iter().map(|tool| tool.name).collect();
        names
    };
    let listed = names(paths.clone()).await;
    assert_eq!(listed.len(), ids.len(), "{listed:?}");
    for fits in ["a_b", "c"] {
        assert!(listed.contains(fits), "{listed:?}");
    }
    for name in &listed {
        assert!(mcp::group::is_portable_name(name, 64), "{name}");
    }
    let reversed = names(paths.into_iter().rev().collect()).await;
    assert_eq!(reversed, listed);
}
