//! The client against a server that answers with an older revision and records the requests.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than every operation here, so that a hang fails the test.
const LIMIT: Duration = Duration::from_secs(60);

/// A request: the method of HTTP, and that of the message.
type Recorded = (String, String);

/// Reads one request and answers it.
async fn serve(stream: TcpStream) -> Recorded {
    let mut stream = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    stream.read_line(&mut line).await.unwrap();
    let verb = line.split(' ').next().unwrap().to_owned();
    loop {
        line.clear();
        stream.read_line(&mut line).await.unwrap();
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let method = message["method"].as_str().unwrap_or_default().to_owned();
    let (status, body) = answer(&verb, &method, &message["id"]);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nmcp-session-id: s1\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    (verb, method)
}

fn answer(verb: &str, method: &str, id: &Value) -> (&'static str, String) {
    let result = match (verb, method) {
        ("POST", "initialize") => json!({
            "protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }),
        ("POST", "tools/list") => json!({"tools": []}),
        ("POST", _) => return ("202 Accepted", String::new()),
        ("DELETE", _) => return ("200 OK", String::new()),
        _ => return ("405 Method Not Allowed", String::new()),
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result});
    ("200 OK", body.to_string())
}

/// Runs a scenario and returns the recorded requests.
async fn run(scenario: &str, revision: &str) -> Vec<Recorded> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut client = Command::new(env!("CARGO_BIN_EXE_everything-client"))
        .arg(url)
        .env("MCP_CONFORMANCE_SCENARIO", scenario)
        .env("MCP_CONFORMANCE_PROTOCOL_VERSION", revision)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut recorded = Vec::new();
    let status = loop {
        tokio::select! {
            accepted = listener.accept() => recorded.push(serve(accepted.unwrap().0).await),
            status = client.wait() => break status.unwrap(),
        }
    };
    assert!(status.success(), "{recorded:?}");
    recorded
}

#[tokio::test]
async fn client_accepts_older_revision_and_deletes_its_session() {
    let recorded = timeout(LIMIT, run("initialize", "2025-11-25"))
        .await
        .unwrap();
    let first = ("POST".to_owned(), "initialize".to_owned());
    assert_eq!(recorded.first(), Some(&first), "{recorded:?}");
    let deleted = recorded.iter().filter(|(verb, _)| verb == "DELETE");
    assert_eq!(deleted.count(), 1, "{recorded:?}");
}
