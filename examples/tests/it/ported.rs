//! The examples of rmcp that were ported, on both eras.

use std::collections::HashMap;
use std::process::Stdio;

use axum::Router;
use axum::extract::{Query, Request};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Json, Redirect, Response};
use axum::routing::{get, post};
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::{LIMIT, output, start};

const MODES: [ConnectMode; 2] = [ConnectMode::Auto, ConnectMode::Legacy];

async fn text(client: &Client, tool: &str, arguments: Value) -> String {
    client.call(tool, arguments).await.unwrap().text()
}

async fn counter() -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ported_counter"));
    start(command.arg("127.0.0.1:0").stderr(Stdio::null())).await
}

#[tokio::test]
async fn calculator_calculates() {
    for mode in MODES {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_ported_calculator"));
        let builder = Client::builder().mode(mode);
        let client = builder.connect(command).await.unwrap();
        assert_eq!(text(&client, "sum", json!({"a": 2, "b": 3})).await, "5");
        let least = json!({"a": i32::MIN, "b": 1});
        assert_eq!(text(&client, "sub", least).await, "-2147483649");
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn counter_has_tools_prompts_and_resources() {
    let (_server, url) = counter().await;
    for (mode, value) in MODES.into_iter().zip(1..) {
        let is_legacy = matches!(mode, ConnectMode::Legacy);
        let client = Client::builder().mode(mode).connect(&url).await.unwrap();
        assert_eq!(client.list_tools().await.unwrap().len(), 8);
        // Both clients count with the same counter.
        for (tool, expected) in [("increment", value), ("get_value", value)] {
            assert_eq!(text(&client, tool, json!({})).await, expected.to_string());
        }
        let words = json!({"b": [1], "a": "two"});
        assert_eq!(
            text(&client, "echo", words.clone()).await,
            words.to_string()
        );
        let session = text(&client, "get_session_id", json!({})).await;
        assert_eq!(session != "no session", is_legacy, "{session}");

        let goal = json!({"goal": "10"});
        let plan = client.get_prompt("counter_analysis", goal).await.unwrap();
        assert_eq!(plan.description, Some(format!("From {value} to 10")));
        let last = plan.messages[1].content.as_text().unwrap();
        assert!(last.ends_with("Be careful."), "{last}");
        let memo = client.read_resource("memo://insights").await.unwrap();
        assert_eq!(memo.contents[0].as_text(), Some("Memo: five insights"));
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn client_lists_and_calls() {
    let (_server, url) = counter().await;
    let printed = output(Command::new(env!("CARGO_BIN_EXE_ported_client")).arg(&url)).await;
    for part in ["name: \"examples\"", "name: \"say_hello\"", "result: 1\n"] {
        assert!(printed.contains(part), "{part:?} is missing in:\n{printed}");
    }
}

#[tokio::test]
async fn elicitation_asks_once_for_the_name() {
    for mode in MODES {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_ported_elicitation"));
        let builder = Client::builder()
            .mode(mode)
            .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"name": "Ada"})) })
            .on_elicit_url(|_: UrlRequest| async { ElicitResult::decline() });
        let client = builder.connect(command).await.unwrap();
        let hello = json!({"greeting": "Hello"});
        for _ in 0..2 {
            assert_eq!(
                text(&client, "greet_user", hello.clone()).await,
                "Hello Ada!"
            );
        }
        let page = client.call("secure_tool_call", ()).await.unwrap();
        assert!(page.is_error() && page.text() == "the user declined");
        text(&client, "reset_name", json!({})).await;
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn progress_counts_the_records() {
    let command = std::process::Command::new(env!("CARGO_BIN_EXE_ported_progress"));
    let client = Client::connect(command).await.unwrap();
    let mut seen = Vec::new();
    let call = client.call("stream_processor", ());
    let call = call.on_progress(|update| seen.extend(update.message));
    assert_eq!(call.await.unwrap().text(), "5 records are processed");
    assert_eq!(seen, ["11111", "22222", "33333", "44444", "55555"]);
    client.close().await.unwrap();
}

/// A server that demands a token, and its authorization server, whose login page agrees at once.
async fn protected_server() -> String {
    async fn check(request: Request, next: Next) -> Response {
        let token = request.headers().get(AUTHORIZATION);
        if token.is_some_and(|token| token == "Bearer token-of-ada") {
            return next.run(request).await;
        }
        StatusCode::UNAUTHORIZED.into_response()
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let resource = json!({"resource": format!("{base}/mcp"), "authorization_servers": [base]});
    let issuer = json!({
        "issuer": base,
        "authorization_endpoint": format!("{base}/authorize"),
        "token_endpoint": format!("{base}/token"),
        "registration_endpoint": format!("{base}/register"),
        "response_types_supported": ["code"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    });
    let register = |Json(mut client): Json<Value>| async move {
        client["client_id"] = json!("client");
        (StatusCode::CREATED, Json(client))
    };
    let authorize = |Query(query): Query<HashMap<String, String>>| async move {
        let (uri, state) = (&query["redirect_uri"], &query["state"]);
        Redirect::to(&format!("{uri}?code=secret-code&state={state}"))
    };
    let token = json!({"access_token": "token-of-ada", "token_type": "Bearer"});
    let server = Server::new("protected", "1.0.0").tool(
        Tool::new("whoami")
            .description("Returns the caller.")
            .handler(|| "ada"),
    );
    let app = Router::new()
        .route_service("/mcp", StreamableHttp::new(server))
        .layer(from_fn(check))
        .route("/register", post(register))
        .route("/authorize", get(authorize))
        .route("/token", post(async move || Json(token)))
        .route(
            "/.well-known/oauth-protected-resource/mcp",
            get(async move || Json(resource)),
        )
        .route(
            "/.well-known/oauth-authorization-server",
            get(async move || Json(issuer)),
        );
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("{base}/mcp")
}

/// Gets a page of this machine, as a browser does.
async fn visit(url: &str) -> String {
    let (host, path) = url
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

#[tokio::test]
async fn oauth_client_logs_in() {
    let url = protected_server().await;
    let mut child = Command::new(env!("CARGO_BIN_EXE_ported_oauth_client"))
        .arg(url)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = async || timeout(LIMIT, lines.next_line()).await.unwrap().unwrap();
    let first = next().await.unwrap();
    let page = first.strip_prefix("open this page in your browser: ");
    let redirect = visit(page.unwrap()).await;
    let location = redirect
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    let answer = visit(location.unwrap()).await;
    assert!(answer.contains(" 200 "), "{answer}");
    assert_eq!(next().await.unwrap(), "tool whoami: Returns the caller.");
    let prompts = next().await.unwrap();
    assert!(prompts.contains("prompts/list"), "{prompts}");
    assert_eq!(next().await, None);
    assert!(child.wait().await.unwrap().success());
}
