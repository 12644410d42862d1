//! Log messages come before the result of their call: without and with a gateway, over each transport and era.

use std::time::Duration;

use mcp::gateway::{Gateway, GatewayServer};
use mcp::prelude::*;
use mcp::stdio::StdioServer;
use mcp::types::ProtocolVersion;
use mcp::{ClientBuilder, Io, Log};
use serde_json::json;
use tokio::io::{duplex, split};
use tokio::time::timeout;

use crate::kit::serve;

const LIMIT: Duration = Duration::from_secs(30);
const MESSAGES: u64 = 40;

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

fn talker() -> Server {
    let talk = Tool::new("talk").handler(|log: Log| async move {
        for number in 0..MESSAGES {
            log.warning(number);
        }
        "said"
    });
    Server::new("talker", "1.0.0").tool(talk)
}

/// The transport between client and server.
#[derive(Debug, Clone, Copy)]
enum Transport {
    Http,
    Pipe,
}

async fn connect(
    transport: Transport,
    client: ClientBuilder,
    url: String,
) -> Result<Client, mcp::client::Error> {
    if let Transport::Http = transport {
        return client.connect(url).await;
    }
    let (near, far) = duplex(64 * 1024);
    let (reader, writer) = split(far);
    let server = StdioServer::new(talker());
    tokio::spawn(async move { drop(server.run_over(reader, writer).await) });
    let (reader, writer) = split(near);
    client.connect(Io(reader, writer)).await
}

/// Checks the log messages of some calls.
async fn check(client: &Client, tool: &str, what: &str) {
    for _ in 0..10 {
        let mut numbers = Vec::new();
        let call = client
            .call(tool, ())
            .log_level(mcp::types::LoggingLevel::Info)
            .on_log(|message| numbers.push(message.data));
        let called = timeout(LIMIT, call.into_future()).await;
        assert_eq!(called.expect(what).expect(what).text(), "said", "{what}");
        let expected: Vec<_> = (0..MESSAGES).map(|number| json!(number)).collect();
        assert_eq!(numbers, expected, "{what}");
    }
}

// spec: LOG-05
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn log_messages_come_before_the_result() {
    let url = serve(talker()).await;
    for transport in [Transport::Http, Transport::Pipe] {
        for back in &ERAS {
            let what = format!("{transport:?}, {back:?}");
            let client = Client::builder().mode(back.clone());
            let client = connect(transport, client, url.clone()).await.unwrap();
            check(&client, "talk", &what).await;

            let (mode, address) = (back.clone(), url.clone());
            let server = GatewayServer::new("talker", move |client| {
                connect(transport, client.mode(mode.clone()), address.clone())
            });
            let gateway = Gateway::new("gateway", "1.0.0").server(server);
            let url = serve(gateway.connect().await.unwrap().server).await;
            for front in &ERAS {
                let what = format!("{what}, gateway, {front:?}");
                // A client that can be asked: a session of its own in the older era.
                let client = Client::builder().mode(front.clone());
                let client = client.roots(["file:///home"]).connect(&url).await.unwrap();
                check(&client, "talker__talk", &what).await;
            }
        }
    }
}
