//! A web host of MCP Apps for a test with a real browser.
//!
//! `browser-host PROGRAM…` serves a page with a sandboxed frame, in which an app of a server is shown. It
//! starts the program with the URL of the page as its last argument. The program opens the page in a browser,
//! and carries the messages between the frame and the lines of its standard streams. Prints `ok`, or fails.

#![allow(clippy::print_stdout, reason = "prints the result")]

use std::error::Error;
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use conformance::view_process;
use mcp::apps::{App, AppDocument, Apps, Csp, HostBridge, ToolUi};
use mcp::prelude::*;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

type Failure = Box<dyn Error + Send + Sync>;

/// Time limit of the program.
const LIMIT: Duration = Duration::from_secs(60);
/// The page of the host, with the frame of the view.
const PAGE: &str = include_str!("page.html");
/// The app.
const VIEW: &str = include_str!("view.html");

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let program: Vec<String> = std::env::args().skip(1).collect();
    let client = client().await?;
    let document = document(&client).await?;
    let policy = document.csp_header();
    // Without the policy the browser loads what it must block: the difference is made by the policy.
    for (policy, other) in [(Some(policy), "blocked"), (None, "loaded")] {
        let url = serve(&document, policy.map(str::to_owned)).await?;
        let seen = timeout(LIMIT, show(&program, &url, &client)).await??;
        let mut expected = json!({
            "listedScript": "loaded", "otherScript": other, "nestedFrame": other,
            "listedConnection": "loaded", "otherConnection": other, "eval": other,
            "result": "sunny", "violations": [],
        });
        if policy.is_some() {
            expected["violations"] = json!([
                "connect-src https://other.example/data",
                "frame-src https://listed.example",
                "script-src eval",
                "script-src-elem https://other.example/script.js",
            ]);
        }
        if seen != expected {
            return Err(format!("policy {policy:?}: {seen:#} instead of {expected:#}").into());
        }
    }
    println!("ok");
    Ok(())
}

/// A client of a server with a tool and its app.
async fn client() -> Result<Client, Failure> {
    let csp = Csp::new()
        .load("https://listed.example")
        .connect("https://api.example");
    let server = Server::new("weather", "1.0.0")
        .tool(
            Tool::new("forecast")
                .app("ui://forecast")
                .handler(|| "sunny"),
        )
        .extension(Apps::new().app(App::new("ui://forecast", VIEW).csp(csp)));
    let builder = Client::builder().extension(Apps::new());
    Ok(builder.connect(mcp::InProcess(server)).await?)
}

/// Reads the app of the tool.
async fn document(client: &Client) -> Result<AppDocument, Failure> {
    let tools = client.list_tools().await?;
    let uri = ToolUi::of(&tools[0]).and_then(|ui| ui.resource_uri);
    let uri = uri.ok_or("the tool has no app")?;
    let read = client.read_resource(&*uri).await?;
    Ok(AppDocument::new(&uri, &read, None)?)
}

/// Serves the page and the document, which has the policy. Returns the URL of the page.
async fn serve(document: &AppDocument, policy: Option<String>) -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/", listener.local_addr()?);
    let html = document.html().to_owned();
    let view = move || async move {
        let mut response = Html(html).into_response();
        if let Some(policy) = policy.and_then(|policy| policy.try_into().ok()) {
            response
                .headers_mut()
                .insert(CONTENT_SECURITY_POLICY, policy);
        }
        response
    };
    let app = Router::new()
        .route("/", get(|| async { Html(PAGE) }))
        .route("/view", get(view));
    tokio::spawn(axum::serve(listener, app).into_future());
    Ok(url)
}

/// Shows the view, and returns what it has seen.
async fn show(program: &[String], url: &str, client: &Client) -> Result<Value, Failure> {
    let (name, arguments) = program.split_first().ok_or("the program is missing")?;
    let mut child = Command::new(name)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let (incoming, outgoing) = view_process::connect(&mut child)?;
    let (sender, mut logs) = mpsc::channel(4);
    let bridge = HostBridge::new("browser-host", "1.0.0")
        .serve(client.clone())
        .on_log(move |message| {
            // Fails if the view repeats itself without end.
            let _ = sender.try_send(message.data);
        });
    let (view, connection) = bridge.connect(incoming, outgoing);
    let connection = tokio::spawn(connection);
    view.send_input(&json!({})).await?;
    view.send_result(&client.call("forecast", ()).await?)
        .await?;
    let seen = logs.recv().await.ok_or("the view has ended")?;
    view.teardown("finished").await?;
    // The end of its input ends the program.
    connection.abort();
    let status = child.wait().await?;
    if status.success() {
        Ok(seen)
    } else {
        Err(format!("the browser ended with {status}").into())
    }
}
