//! The client over Streamable HTTP, against a server that the test writes byte by byte.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_client::{Client, Error};
use mcp_transport_http::HttpChannel;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Longer than every operation here, so that a hang fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Seen {
    /// The method and the connection number of every request.
    requests: Mutex<Vec<(String, usize)>>,
    closed: Notify,
}

async fn start() -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!(
        "http://me:hidden@{}/mcp?key=hidden",
        listener.local_addr().unwrap()
    );
    let seen = Arc::new(Seen::default());
    let shared = seen.clone();
    tokio::spawn(async move {
        for number in 0.. {
            let Ok((stream, _)) = listener.accept().await else {
                return;
            };
            stream.set_nodelay(true).unwrap();
            let seen = shared.clone();
            tokio::spawn(async move {
                let _ = serve(stream, number, &seen).await;
                seen.closed.notify_one();
            });
        }
    });
    (url, seen)
}

async fn serve(mut stream: TcpStream, number: usize, seen: &Seen) -> std::io::Result<()> {
    while let Some(request) = read_request(&mut stream).await {
        let method = request["method"].as_str().unwrap().to_owned();
        seen.requests.lock().unwrap().push((method.clone(), number));
        let answer =
            |result: Value| json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        match (method.as_str(), request["params"]["name"].as_str()) {
            ("server/discover", _) => {
                let result = json!({"supportedVersions": ["2026-07-28"], "capabilities": {}});
                write_json(&mut stream, "200 OK", &answer(result)).await?;
            }
            (_, Some("forbidden")) => {
                let head = "HTTP/1.1 403 Forbidden\r\nwww-authenticate: Basic realm=\"x\"\r\n\
                            www-authenticate: Bearer scope=\"write\"\r\n";
                stream.write_all(head.as_bytes()).await?;
                let body = match request["params"]["arguments"]["json"].as_bool() {
                    Some(true) => {
                        let error = json!({"code": -32600, "message": "no"});
                        json!({"jsonrpc": "2.0", "id": request["id"], "error": error}).to_string()
                    }
                    _ => "no".to_owned(),
                };
                let rest = format!(
                    "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                stream.write_all(rest.as_bytes()).await?;
            }
            (_, Some("refused")) => {
                let error = json!({"code": -32602, "message": "unknown tool"});
                let text = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
                write_json(&mut stream, "400 Bad Request", &text).await?;
            }
            (_, name) => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                stream.write_all(head.as_bytes()).await?;
                let token = &request["params"]["_meta"]["progressToken"];
                let params = json!({"progressToken": token, "progress": 1});
                let note =
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
                write_event(&mut stream, &note).await?;
                if name == Some("stuck") {
                    continue;
                }
                let result = json!({"content": [{"type": "text", "text": "done"}]});
                write_event(&mut stream, &answer(result)).await?;
                // The end of the stream is sent in its own packet.
                sleep(Duration::from_millis(2)).await;
                stream.write_all(b"0\r\n\r\n").await?;
            }
        }
    }
    Ok(())
}

async fn write_json(stream: &mut TcpStream, status: &str, text: &Value) -> std::io::Result<()> {
    let text = text.to_string();
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all((head + &text).as_bytes()).await
}

async fn write_event(stream: &mut TcpStream, message: &Value) -> std::io::Result<()> {
    let event = format!("data: {message}\n\n");
    let chunk = format!("{:x}\r\n{event}\r\n", event.len());
    stream.write_all(chunk.as_bytes()).await
}

pub(crate) async fn read_request(stream: &mut TcpStream) -> Option<Value> {
    let mut text = Vec::new();
    loop {
        if stream.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
        let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        if let Ok(body) = serde_json::from_slice(&text[end + 4..]) {
            return Some(body);
        }
    }
}

async fn connect(url: &str) -> Result<Client, Error> {
    Client::connect(HttpChannel::new(url)?).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequential_calls_reuse_connection() {
    let (url, seen) = start().await;
    let client = connect(&url).await.unwrap();
    for _ in 0..5 {
        let mut reports = 0;
        let result = client
            .call("add", ())
            .on_progress(|_| reports += 1)
            .await
            .unwrap();
        assert_eq!((result.text().as_str(), reports), ("done", 1));
        assert!(
            client
                .call("refused", ())
                .await
                .unwrap_err()
                .fault()
                .is_some()
        );
    }
    // Another one is opened when the first is not back in its pool soon enough; each stream that
    // is not read to its end costs one.
    let requests = seen.requests.lock().unwrap();
    let connections: HashSet<_> = requests.iter().map(|(_, number)| number).collect();
    assert!(connections.len() <= 4, "{connections:?}");
}

#[tokio::test]
async fn concurrent_calls_return_their_results() {
    let (url, seen) = start().await;
    let client = connect(&url).await.unwrap();
    let calls = (0..20).map(|_| client.call("add", ()).into_future());
    let results = futures::future::try_join_all(calls).await.unwrap();
    assert!(results.iter().all(|result| result.text() == "done"));
    assert_eq!(seen.requests.lock().unwrap().len(), 21);
}

#[tokio::test]
async fn forbidden_call_keeps_challenge() {
    let (url, _) = start().await;
    let client = connect(&url).await.unwrap();
    for is_json in [false, true] {
        let call = client.call("forbidden", json!({"json": is_json}));
        let error = call.await.unwrap_err();
        assert!(error.is_auth(), "{error}");
        assert_eq!(error.fault().is_some(), is_json, "{error}");
        let expected = r#"Basic realm="x", Bearer scope="write""#;
        assert_eq!(error.challenge(), Some(expected), "{error}");
    }
    let error = client.call("refused", ()).await.unwrap_err();
    assert_eq!(error.challenge(), None);
}

#[tokio::test]
async fn timed_out_call_closes_post() {
    let (url, seen) = start().await;
    let client = connect(&url).await.unwrap();
    let mut reports = 0;
    let call = client.call("stuck", ()).timeout(Duration::from_millis(50));
    let error = call.on_progress(|_| reports += 1).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(reports, 1);
    timeout(PATIENCE, seen.closed.notified()).await.unwrap();
}

#[tokio::test]
async fn dropped_call_closes_post() {
    let (url, seen) = start().await;
    let client = connect(&url).await.unwrap();
    let call = client.call("stuck", ()).into_future();
    assert!(timeout(Duration::from_millis(50), call).await.is_err());
    timeout(PATIENCE, seen.closed.notified()).await.unwrap();
}

#[tokio::test]
async fn errors_show_server_without_secrets() {
    let (url, _) = start().await;
    let client = connect(&url).await.unwrap();
    let port = url
        .split(':')
        .next_back()
        .unwrap()
        .split('/')
        .next()
        .unwrap();
    let error = client
        .call("refused", json!({"password": "hidden"}))
        .header("x-key", "hidden")
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("tools/call \"refused\" at http://127.0.0.1:{port}/mcp: unknown tool (-32602)")
    );
    for text in [format!("{error:?}"), format!("{client:?}")] {
        assert!(!text.contains("hidden"), "{text}");
    }

    let error = connect("http://me:hidden@127.0.0.1:1/?key=hidden")
        .await
        .unwrap_err();
    let start = "server/discover: cannot connect to http://127.0.0.1:1/: Connection refused";
    assert!(error.to_string().starts_with(start), "{error}");
    assert!(!format!("{error:?}").contains("hidden"), "{error:?}");
}
