//! Sessions, streams, tasks and states belong to the caller that created them: another subject, and
//! another client of the same subject, receive the response to a random identifier.

use std::time::Duration;

use axum::http::header::AUTHORIZATION;
use axum::http::request::Builder;
use axum::http::{Method, Request, StatusCode};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::{BodyExt, Full};
use mcp::auth::{Protected, ResourceServer};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::{MemoryEventStore, Sessions, StreamableHttp};
use serde_json::{Value, json};
use tokio::time::timeout;
use tower_service::Service;

use crate::issuer::{Issuer, now};

const RESOURCE: &str = "http://localhost/mcp";
const LIMIT: Duration = Duration::from_secs(10);
const FILE: &str = "file:///notes";
const RANDOM: &str = "11111111-1111-4111-8111-111111111111";

#[derive(Elicit)]
struct Confirm {
    name: String,
}

/// A protected server. The tool `wait` never ends, `ask` asks the user, `render` becomes a task, and
/// `stream` reports progress.
#[derive(Clone)]
struct World(Protected<StreamableHttp>);

impl World {
    fn new(issuer: &Issuer) -> Self {
        let ask = async |ask: Ask| -> Result<String, ToolError> {
            let answer = ask.form::<Confirm>("name", "Your name?").await?;
            Ok(match answer {
                Answer::Accept(confirm) => confirm.name,
                _ => "nobody".to_owned(),
            })
        };
        let stream = async |progress: Progress| {
            progress.report(0.5, 1.0, "half").await;
            "streamed"
        };
        let render = Tool::new("render").handler(std::future::pending::<String>);
        let server = Server::new("test", "1.0.0")
            .tool(Tool::new("wait").handler(std::future::pending::<String>))
            .tool(Tool::new("ask").handler(ask))
            .tool(render.task(TaskMode::Always))
            .tool(Tool::new("stream").handler(stream).scopes(["files:stream"]))
            .resource(Resource::new(FILE).read(|_: Notify, _: Log| "notes"))
            .tool(
                Tool::new("delete")
                    .handler(|| "deleted")
                    .scopes(["files:read", "files:write"]),
            )
            .tasks(Tasks::in_memory());
        let endpoint = StreamableHttp::new(server)
            .sessions(Sessions::in_memory().http_sse())
            .events(MemoryEventStore::new());
        let auth = ResourceServer::new(RESOURCE).issuer(issuer.url());
        Self(auth.build().unwrap().protect(endpoint))
    }

    /// Sends a request, and returns the response with the beginning of its body.
    async fn send(&self, request: Request<Full<Bytes>>) -> Answered {
        let response = self.0.clone().call(request).await.unwrap();
        let (head, body) = response.into_parts();
        let mut body = body.into_data_stream();
        let mut text = String::new();
        // Streams that stay open are read until nothing comes for a moment.
        while let Ok(Some(data)) = timeout(Duration::from_millis(200), body.next()).await {
            text.push_str(std::str::from_utf8(&data.unwrap()).unwrap());
        }
        let header = |name: &str| Some(head.headers.get(name)?.to_str().unwrap().to_owned());
        Answered {
            status: head.status,
            session: header("mcp-session-id"),
            challenge: header("www-authenticate"),
            text,
        }
    }

    async fn modern(&self, token: &str, method: &str, name: &str, params: Value) -> Answered {
        self.send(modern(token, method, name, params)).await
    }

    async fn legacy(&self, token: &str, session: &str, message: &Value) -> Answered {
        let request = legacy(Method::POST, token, Some(session));
        let body = Full::from(message.to_string());
        self.send(request.body(body).unwrap()).await
    }

    async fn open(&self, token: &str) -> String {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let request = legacy(Method::POST, token, None);
        let body = Full::from(initialize.to_string());
        let opened = self.send(request.body(body).unwrap()).await;
        let session = opened.session.unwrap();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.legacy(token, &session, &ready).await.status, 202);
        session
    }
}

/// A response, with the beginning of its body.
#[derive(Debug, PartialEq)]
struct Answered {
    status: StatusCode,
    session: Option<String>,
    challenge: Option<String>,
    text: String,
}

impl Answered {
    /// The status and the body, without the identifier that was asked for.
    fn without(&self, id: &str) -> (StatusCode, String) {
        (self.status, self.text.replace(id, "ID"))
    }

    /// The first JSON message of the body.
    fn json(&self) -> Value {
        let mut lines = self
            .text
            .lines()
            .map(|line| line.strip_prefix("data: ").unwrap_or(line));
        let line = lines.find(|line| line.starts_with('{'));
        serde_json::from_str(line.unwrap_or_else(|| panic!("{self:?}"))).unwrap()
    }
}

fn post(token: &str) -> Builder {
    Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header(AUTHORIZATION, format!("Bearer {token}"))
}

fn modern(token: &str, method: &str, name: &str, mut params: Value) -> Request<Full<Bytes>> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {
            "elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}},
        },
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let mut request = post(token)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if !name.is_empty() {
        request = request.header("mcp-name", name);
    }
    request.body(Full::from(message.to_string())).unwrap()
}

fn legacy(method: Method, token: &str, session: Option<&str>) -> Builder {
    let mut request = post(token).method(method);
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request
}

fn call(id: u32, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

fn message(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Tokens for the owner, another subject, and the owner's subject through another client.
struct Tokens {
    owner: String,
    refreshed: String,
    foreign: [(&'static str, String); 2],
}

impl Tokens {
    fn new(issuer: &Issuer) -> Self {
        let scopes = "files:stream files:read";
        let mut claims = issuer.claims("ada", RESOURCE, scopes);
        let owner = issuer.key().token(&claims);
        claims["jti"] = json!("refreshed");
        let refreshed = issuer.key().token(&claims);
        claims["client_id"] = json!("another client");
        let client = issuer.key().token(&claims);
        Self {
            owner,
            refreshed,
            foreign: [
                ("subject", issuer.token("eve", RESOURCE, scopes)),
                ("client", client),
            ],
        }
    }
}

// spec: SESS-11, AUTH-S-11
#[tokio::test]
async fn sessions_and_streams_look_unknown_to_other_callers() {
    let issuer = Issuer::start().await;
    let (world, tokens) = (World::new(&issuer), Tokens::new(&issuer));
    let session = world.open(&tokens.owner).await;
    let streamed = world
        .legacy(&tokens.owner, &session, &call(5, "stream"))
        .await;
    let event = streamed
        .text
        .lines()
        .find_map(|line| line.strip_prefix("id: "));
    let event = event.unwrap_or_else(|| panic!("{streamed:?}")).to_owned();
    // A question of this session waits for its answer, and a call runs.
    let asked = {
        let (world, token, session) = (world.clone(), tokens.owner.clone(), session.clone());
        tokio::spawn(async move {
            let request = legacy(Method::POST, &token, Some(&session));
            let body = Full::<Bytes>::from(call(6, "ask").to_string());
            let response = world.0.clone().call(request.body(body).unwrap()).await;
            let mut body = response.unwrap().into_body().into_data_stream();
            let mut question = String::new();
            while !question.contains("elicitation/create") {
                question
                    .push_str(std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap());
            }
            let line = question
                .lines()
                .find(|line| line.contains("elicitation/create"));
            let question: Value = serde_json::from_str(&line.unwrap()[6..]).unwrap();
            (question["id"].clone(), body)
        })
    };
    let (question, mut answers) = timeout(LIMIT, asked).await.unwrap().unwrap();
    let accept = json!({"action": "accept", "content": {"name": "Eve"}});
    let messages = [
        call(7, "stream"),
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 6}}),
        json!({"jsonrpc": "2.0", "id": question, "result": accept}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 8, "method": "ping"}),
        message(9, "resources/subscribe", json!({"uri": FILE})),
        message(10, "resources/unsubscribe", json!({"uri": FILE})),
        message(11, "logging/setLevel", json!({"level": "debug"})),
    ];
    for (who, token) in &tokens.foreign {
        for message in &messages {
            let foreign = world.legacy(token, &session, message).await;
            let random = world.legacy(token, RANDOM, message).await;
            assert_eq!(
                foreign.without(&session),
                random.without(RANDOM),
                "{who} {message}"
            );
            assert_eq!(foreign.status, 404, "{who} {message}");
        }
        for (method, resumed) in [
            (Method::GET, None),
            (Method::GET, Some(event.as_str())),
            (Method::DELETE, None),
        ] {
            let mut responses = Vec::new();
            for id in [&*session, RANDOM] {
                let mut request = legacy(method.clone(), token, Some(id));
                if let Some(event) = resumed {
                    request = request.header("last-event-id", event);
                }
                let response = world.send(request.body(Full::default()).unwrap()).await;
                responses.push(response.without(id));
            }
            assert_eq!(responses[0], responses[1], "{who} {method} {resumed:?}");
            assert_eq!(responses[0].0, 404, "{who} {method} {resumed:?}");
        }
    }
    // The session, its stream and its question are as before, also with a new token of the owner.
    let resume =
        legacy(Method::GET, &tokens.refreshed, Some(&session)).header("last-event-id", event);
    let resumed = world.send(resume.body(Full::default()).unwrap()).await;
    assert_eq!(resumed.status, 200, "{resumed:?}");
    for message in &messages[5..] {
        let owned = world.legacy(&tokens.owner, &session, message).await;
        assert_eq!(owned.json()["result"], json!({}), "{message} {owned:?}");
    }
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question, "result": accept});
    let accepted = world.legacy(&tokens.refreshed, &session, &answer).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    let mut result = String::new();
    while let Ok(Some(data)) = timeout(LIMIT, answers.next()).await {
        result.push_str(std::str::from_utf8(&data.unwrap()).unwrap());
    }
    assert!(
        result.contains("Ada") && !result.contains("Eve"),
        "{result}"
    );
}

// spec: TASK-22
#[tokio::test]
async fn tasks_look_unknown_to_other_callers() {
    let issuer = Issuer::start().await;
    let (world, tokens) = (World::new(&issuer), Tokens::new(&issuer));
    let params = json!({"name": "render", "arguments": {}});
    let created = world
        .modern(&tokens.owner, "tools/call", "render", params)
        .await;
    let id = created.json()["result"]["taskId"]
        .as_str()
        .unwrap()
        .to_owned();
    for (who, token) in &tokens.foreign {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let mut responses = Vec::new();
            for id in [&*id, RANDOM] {
                let params = json!({"taskId": id, "inputResponses": {}});
                let response = world.modern(token, method, id, params).await;
                responses.push(response.without(id));
            }
            assert_eq!(responses[0], responses[1], "{who} {method}");
            assert!(
                responses[0].1.contains("-32602"),
                "{who} {method} {responses:?}"
            );
        }
        let mut listened = Vec::new();
        for id in [&*id, RANDOM] {
            let params = json!({"notifications": {"taskIds": [id]}});
            let response = world
                .modern(token, "subscriptions/listen", "", params)
                .await;
            listened.push(response.without(id));
        }
        assert_eq!(listened[0], listened[1], "{who}");
        assert!(!listened[0].1.contains("ID"), "{who} {listened:?}");
    }
    let params = json!({"taskId": id});
    let task = world
        .modern(&tokens.refreshed, "tasks/get", &id, params)
        .await;
    assert_eq!(task.json()["result"]["status"], "working", "{task:?}");
    let params = json!({"notifications": {"taskIds": [id]}});
    let listened = world
        .modern(&tokens.refreshed, "subscriptions/listen", "", params)
        .await;
    assert!(listened.text.contains(&id), "{listened:?}");
}

// spec: MRTR-08
#[tokio::test]
async fn request_state_from_another_caller_looks_forged() {
    let issuer = Issuer::start().await;
    let (world, tokens) = (World::new(&issuer), Tokens::new(&issuer));
    let params = json!({"name": "ask", "arguments": {}});
    let asked = world
        .modern(&tokens.owner, "tools/call", "ask", params)
        .await;
    let state = asked.json()["result"]["requestState"].clone();
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    let again = |state: Value| {
        json!({
            "name": "ask", "arguments": {}, "requestState": state,
            "inputResponses": {"name": accept},
        })
    };
    let mut forged: String = state.as_str().unwrap().to_owned();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.insert(forged.len() / 2, last);
    for (who, token) in &tokens.foreign {
        let mut responses = Vec::new();
        for state in [state.clone(), forged.clone().into()] {
            let response = world.modern(token, "tools/call", "ask", again(state)).await;
            responses.push((response.status, response.text));
        }
        assert_eq!(responses[0], responses[1], "{who}");
        assert!(responses[0].1.contains("-32602"), "{who} {responses:?}");
    }
    let done = world
        .modern(&tokens.refreshed, "tools/call", "ask", again(state))
        .await;
    assert!(done.text.contains("Ada"), "{done:?}");
}

/// An open HTTP+SSE connection.
struct SseStream {
    uri: String,
    _body: Box<dyn Send>,
}

async fn open_sse(world: &World, token: &str) -> SseStream {
    let request = legacy(Method::GET, token, None)
        .body(Full::<Bytes>::default())
        .unwrap();
    let response = world.0.clone().call(request).await.unwrap();
    assert_eq!(response.status(), 200);
    let mut body = response.into_body().into_data_stream();
    let first = timeout(LIMIT, body.next()).await.unwrap().unwrap().unwrap();
    let first = String::from_utf8(first.to_vec()).unwrap();
    let uri = first.lines().find_map(|line| line.strip_prefix("data: "));
    SseStream {
        uri: uri.unwrap().to_owned(),
        _body: Box::new(body),
    }
}

async fn post_sse(world: &World, token: &str, uri: &str, message: &Value) -> Answered {
    let body = Full::from(message.to_string());
    let request = post(token).uri(uri).body(body).unwrap();
    world.send(request).await
}

fn initialize_2024() -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

// spec: SESS-11
#[tokio::test]
async fn http_sse_connections_look_unknown_to_other_callers() {
    let issuer = Issuer::start().await;
    let (world, tokens) = (World::new(&issuer), Tokens::new(&issuer));
    let stream = open_sse(&world, &tokens.owner).await;
    let (path, id) = stream.uri.split_once("sessionId=").unwrap();
    let unknown = format!("{path}sessionId={RANDOM}");
    for (who, token) in &tokens.foreign {
        let foreign = post_sse(&world, token, &stream.uri, &initialize_2024()).await;
        let random = post_sse(&world, token, &unknown, &initialize_2024()).await;
        assert_eq!(foreign.without(id), random.without(RANDOM), "{who}");
        assert_eq!(foreign.status, 404, "{who}");
    }
    let opened = post_sse(&world, &tokens.refreshed, &stream.uri, &initialize_2024()).await;
    assert_eq!(opened.status, 202, "{opened:?}");
}

// spec: AUTH-S-08
#[tokio::test]
async fn missing_scopes_are_403_over_http_sse() {
    let issuer = Issuer::start().await;
    let world = World::new(&issuer);
    let token = issuer.token("ada", RESOURCE, "files:read");
    let stream = open_sse(&world, &token).await;
    for message in [
        initialize_2024(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ] {
        let response = post_sse(&world, &token, &stream.uri, &message).await;
        assert_eq!(response.status, 202, "{response:?}");
    }
    for (tool, scopes) in [
        ("delete", "files:read files:write"),
        ("stream", "files:stream"),
    ] {
        let refused = post_sse(&world, &token, &stream.uri, &call(3, tool)).await;
        assert_eq!(refused.status, 403, "{tool} {refused:?}");
        let challenge = refused.challenge.unwrap();
        assert!(challenge.contains("insufficient_scope"), "{challenge}");
        assert!(
            challenge.ends_with(&format!("scope=\"{scopes}\"")),
            "{challenge}"
        );
    }
    // A token with more scopes goes on with the connection.
    let token = issuer.token("ada", RESOURCE, "files:stream");
    let accepted = post_sse(&world, &token, &stream.uri, &call(4, "stream")).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
}

// spec: AUTH-S-04
#[tokio::test]
async fn subscription_and_running_call_end_when_the_token_expires() {
    let issuer = Issuer::start().await;
    let world = World::new(&issuer);
    let mut claims = issuer.claims("ada", RESOURCE, "");
    claims["exp"] = json!(now() + 60);
    let token = issuer.key().token(&claims);
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let wait = json!({"name": "wait", "arguments": {}});
    let requests = [
        (
            "subscriptions/listen",
            modern(&token, "subscriptions/listen", "", listen),
        ),
        ("tools/call", modern(&token, "tools/call", "wait", wait)),
    ];
    // The keys are fetched before the clock stops.
    let listed = world.modern(&token, "tools/list", "", json!({})).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let streams = requests.map(async |(method, request)| {
        let response = world.0.clone().call(request).await.unwrap();
        assert_eq!(response.status(), 200, "{method}");
        // The end may be abrupt.
        let _ = response.into_body().collect().await;
        let age = start.elapsed().as_secs();
        assert!((57..=61).contains(&age), "{method} {age}");
    });
    futures_util::future::join_all(streams).await;
}
