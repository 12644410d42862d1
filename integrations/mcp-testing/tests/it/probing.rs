//! Servers on a pipe that do not know `server/discover`.

use mcp::stdio::PipeChannel;
use mcp::types::ProtocolVersion;
use mcp::{Client, Over};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};

/// Answers `server/discover` with `answer`, in which `$ID` is the id of the request, and opens a session.
async fn play(stream: DuplexStream, answer: &str) {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Some(line) = lines.next_line().await.unwrap() {
        let request: Value = serde_json::from_str(&line).unwrap();
        let id = &request["id"];
        let mut response = match request["method"].as_str().unwrap() {
            "server/discover" => answer.replace("$ID", &id.to_string()),
            "initialize" => {
                let info = json!({"name": "old", "version": "1"});
                let result = json!({
                    "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info,
                });
                json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
            }
            _ => continue,
        };
        response.push('\n');
        writer.write_all(response.as_bytes()).await.unwrap();
    }
}

// spec: COMPAT-08, COMPAT-09
#[tokio::test(start_paused = true)]
async fn unusable_answer_on_a_pipe_leads_to_initialize() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":$ID}"#,
        r#"{"id":$ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"result":{},"error":{"code":-32601,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":$ID,"error":"method not found"}"#,
        // Without an id, the client waits for another answer for five seconds.
        r#"{"jsonrpc":"2.0"}"#,
        "method not found",
    ] {
        let (here, there) = duplex(1 << 16);
        tokio::spawn(play(there, answer));
        let (reader, writer) = split(here);
        let client = Client::connect(Over(PipeChannel::new(reader, writer))).await;
        let client = client.unwrap_or_else(|error| panic!("{answer}: {error}"));
        assert_eq!(
            client.protocol_version(),
            ProtocolVersion::V2025_06_18,
            "{answer}"
        );
    }
}
