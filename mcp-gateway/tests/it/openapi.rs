//! Tools of OpenAPI documents, with a service in this process.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use mcp::InProcess;
use mcp::gateway::openapi::{OpenApi, OpenApiError};
use mcp::gateway::{Gateway, GatewayServer};
use mcp::prelude::*;
use parking_lot::Mutex;
use serde_json::{Value, json};

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
struct Seen {
    method: Method,
    url: String,
    authorization: String,
    trace: Option<String>,
    body: String,
}

type Log = Arc<Mutex<Vec<Seen>>>;

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

fn http(
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
        let header = |name: &str| {
            let header = request.headers().get(name)?;
            Some(header.to_str().unwrap().to_owned())
        };
        log.lock().push(Seen {
            method: request.method().clone(),
            url: request.uri().to_string(),
            authorization: header("authorization").unwrap_or_default(),
            trace: header("x-trace"),
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
        let client = Client::connect(InProcess(server)).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        let mut names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        names.sort_unstable();
        assert_eq!(names, ["addPet", "delete_pet", "get_pets_id", "listPets"]);
        let tool = |name: &str| tools.iter().find(|tool| tool.name == name).unwrap();
        assert_eq!(tool("listPets").description(), "Lists pets.");
        let hints = tool("listPets").annotations.clone().unwrap();
        assert_eq!(hints.read_only_hint, Some(true));
        let schema = &tool("listPets").input_schema;
        assert!(
            schema["properties"].get("Authorization").is_none(),
            "{schema:?}"
        );
        assert_eq!(tool("get_pets_id").input_schema["required"], json!(["id"]));
        let schema = &tool("addPet").input_schema;
        assert_eq!(schema["properties"]["body"]["$ref"], "#/$defs/Pet");
        let parent = &schema["$defs"]["Pet"]["properties"]["parent"]["$ref"];
        assert_eq!(parent, "#/$defs/Pet");
        assert_eq!(schema["$defs"]["Toy"]["type"], "string");
    }
}

#[tokio::test]
async fn operations_are_selected_by_tag_and_method() {
    let names = async |api: OpenApi| {
        let server = api.server(http(&Log::default())).unwrap();
        let client = Client::connect(InProcess(server)).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
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
    for id in ["a/../../admin", "?x=1", "@evil.example.com", "%2e%2e"] {
        client.call("get_pets_id", json!({"id": id})).await.unwrap();
    }
    for id in ["..", ".", ""] {
        let refused = client.call("get_pets_id", json!({"id": id})).await.unwrap();
        assert!(refused.is_error(), "{refused:?}");
    }
    let seen = log.lock().clone();
    let urls: Vec<_> = seen.iter().map(|it| &*it.url).collect();
    let base = "https://api.example.com/v1/pets";
    let expected = [
        format!("{base}?kind=cat&kind=dog%20%26%20co&limit=5&key=k%26y"),
        format!("{base}?key=k%26y"),
        format!("{base}/a%2F..%2F..%2Fadmin?key=k%26y"),
        format!("{base}/%3Fx%3D1?key=k%26y"),
        format!("{base}/%40evil.example.com?key=k%26y"),
        format!("{base}/%252e%252e?key=k%26y"),
    ];
    assert_eq!(urls, expected);
    assert!(seen.iter().all(|it| it.authorization == SECRET), "{seen:?}");
    assert_eq!(seen[0].trace.as_deref(), Some("t"));
    assert_eq!(
        (&seen[1].method, &*seen[1].body),
        (&Method::POST, "{\"name\":\"Tom\"}")
    );
}

#[tokio::test]
async fn responses_are_results_within_limits() {
    let server = Arc::new(api("3.1.0").server(http(&Log::default())).unwrap());
    let api = GatewayServer::new("pets", move |client| {
        client.over(mcp::core::InProcessChannel::new(server.clone()))
    });
    let opened = Gateway::new("gateway", "1.0.0")
        .with_server(api)
        .open()
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
            error.contains("is no base URL") && !error.contains("s3cret"),
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
