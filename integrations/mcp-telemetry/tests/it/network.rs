//! Attributes of the network.

use mcp::core::Transport;
use mcp::stdio::PipeChannel;
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp::{Client, HttpChannel, Over, StdioServer};
use serde_json::json;
use tokio::io::{duplex, split};
use tokio::net::TcpListener;

use crate::kit::{Recorder, attribute, server};

#[tokio::test]
async fn server_knows_the_client_address_and_port() {
    let recorder = Recorder::start();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = server().layer(recorder.server_layer());
    let serving = tokio::spawn(async move { drop(mcp::serve_http(server, listener).await) });
    let client = Client::builder().layer(recorder.client_layer());
    let client = client
        .connect(HttpChannel::new(&url).unwrap())
        .await
        .unwrap();
    client.call("add", json!({})).await.unwrap();
    client.close().await.unwrap();
    serving.abort();

    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(attribute(&received, "client.address").unwrap(), "127.0.0.1");
    let port = attribute(&received, "client.port").unwrap();
    assert_ne!(port.parse::<u16>().unwrap(), 0);
    let sent = recorder.span(&SpanKind::Client, "tools/call add");
    assert_eq!(attribute(&sent, "client.port"), None);
    assert_eq!(attribute(&sent, "network.protocol.version").unwrap(), "1.1");
}

#[tokio::test]
async fn unix_socket_is_the_transport_on_both_sides() {
    let recorder = Recorder::start();
    let (ours, theirs) = duplex(64 * 1024);
    let (reader, writer) = split(theirs);
    let server = StdioServer::new(server().layer(recorder.server_layer()));
    let serving = tokio::spawn(server.transport(Transport::Unix).run_over(reader, writer));
    let (reader, writer) = split(ours);
    let channel = PipeChannel::new(reader, writer).transport(Transport::Unix);
    let client = Client::builder().layer(recorder.client_layer());
    let client = client.connect(Over(channel)).await.unwrap();
    client.call("add", json!({})).await.unwrap();
    client.close().await.unwrap();
    serving.await.unwrap().unwrap();
    for kind in [SpanKind::Client, SpanKind::Server] {
        for name in ["tools/call add", "server/discover"] {
            let span = recorder.span(&kind, name);
            assert_eq!(attribute(&span, "network.transport").unwrap(), "unix");
        }
    }
}
