//! A relay, such as `mcp proxy`, in the middle of a trace.

use std::io;

use bytes::Bytes;
use futures::{StreamExt, sink, stream};
use http_body_util::Full;
use mcp::gateway::Relay;
use mcp::prelude::*;
use mcp::stdio::PipeChannel;
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp::{Client, ConnectMode, HttpChannel, Over, ProtocolVersion, StdioServer};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex, split};
use tower::ServiceExt;
use tracing::Instrument;

use crate::kit::{Recorder, server};

/// Relays between a client on a pipe and the server behind `channel`.
async fn relay(channel: impl mcp::core::Channel, pipe: DuplexStream) {
    let (reader, writer) = split(pipe);
    let input = stream::unfold(BufReader::new(reader).lines(), async |mut lines| {
        let line = lines.next_line().await.transpose()?;
        Some((line.map(Bytes::from), lines))
    });
    let output = sink::unfold(writer, async |mut writer, line: Bytes| {
        writer.write_all(&line).await?;
        writer.write_all(b"\n").await?;
        io::Result::Ok(writer)
    });
    let _ = Relay::new(channel).run(input.boxed(), output).await;
}

/// Calls a tool through a relay, and compares the parents of both spans.
async fn check(recorder: &Recorder, channel: impl mcp::core::Channel, version: ProtocolVersion) {
    let (ours, theirs) = duplex(64 * 1024);
    let relaying = tokio::spawn(relay(channel, theirs));
    let (reader, writer) = split(ours);
    let client = Client::builder()
        .layer(recorder.client_layer())
        .mode(ConnectMode::Pin(version))
        .connect(Over(PipeChannel::new(reader, writer)))
        .await
        .unwrap();
    let root = tracing::info_span!("agent");
    let call = client.call("add", json!({}));
    call.into_future().instrument(root.clone()).await.unwrap();
    drop(root);
    client.close().await.unwrap();
    relaying.await.unwrap();

    let root = recorder.span(&SpanKind::Internal, "agent");
    let sent = recorder.span(&SpanKind::Client, "tools/call add");
    let received = recorder.span(&SpanKind::Server, "tools/call add");
    assert_eq!(sent.parent_span_id, root.span_context.span_id());
    assert_eq!(received.parent_span_id, sent.span_context.span_id());
    let trace = root.span_context.trace_id();
    assert_eq!(sent.span_context.trace_id(), trace);
    assert_eq!(received.span_context.trace_id(), trace);
}

const VERSIONS: [ProtocolVersion; 2] = [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25];

#[tokio::test]
async fn relay_to_http_passes_the_trace_on_in_each_era() {
    for version in VERSIONS {
        let recorder = Recorder::start();
        let endpoint = StreamableHttp::new(server().layer(recorder.server_layer()));
        let service = endpoint.map_request(|request: http::Request<Bytes>| {
            let mut request = request.map(Full::new);
            let host = http::HeaderValue::from_static("localhost");
            request.headers_mut().insert("host", host);
            request
        });
        let channel = HttpChannel::with_service("http://localhost/mcp", service).unwrap();
        check(&recorder, channel, version).await;
    }
}

#[tokio::test]
async fn relay_to_a_pipe_passes_the_trace_on_in_each_era() {
    for version in VERSIONS {
        let recorder = Recorder::start();
        let (ours, theirs) = duplex(64 * 1024);
        let (reader, writer) = split(theirs);
        let server = StdioServer::new(server().layer(recorder.server_layer()));
        let serving = tokio::spawn(server.run_over(reader, writer));
        let (reader, writer) = split(ours);
        check(&recorder, PipeChannel::new(reader, writer), version).await;
        serving.await.unwrap().unwrap();
    }
}
