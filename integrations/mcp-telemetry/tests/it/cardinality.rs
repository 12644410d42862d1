//! Peers cannot create time series.

use mcp::core::{Call, Exchange, Service};
use mcp::telemetry::opentelemetry::trace::SpanKind;
use mcp::types::RawObject;
use mcp_testing::Pair;
use serde_json::json;

use crate::kit::{Recorder, server};

#[tokio::test]
async fn unknown_names_are_in_spans_and_not_in_metrics() {
    let recorder = Recorder::start();
    let pair = Pair::http(server().layer(recorder.server_layer()));
    let pair = pair.connect().await.unwrap();
    for n in 0..3 {
        let client = &pair.client;
        client
            .call(format!("tool{n}"), json!({}))
            .await
            .unwrap_err();
        client
            .get_prompt(format!("prompt{n}"), json!({}))
            .await
            .unwrap_err();
        client
            .read_resource(format!("shop://{n}"))
            .await
            .unwrap_err();
    }
    pair.close().await.unwrap();
    recorder.span(&SpanKind::Server, "tools/call tool2");
    let metrics = recorder.metric_table();
    for name in ["tool0", "prompt0", "shop://"] {
        assert!(!metrics.contains(name), "{name} in {metrics}");
    }
}

#[tokio::test]
async fn unknown_method_is_other() {
    let recorder = Recorder::start();
    let server = server().layer(recorder.server_layer());
    let call = Call::Other {
        method: "com.example/invented".into(),
        params: Some(RawObject::default()),
    };
    let facts = mcp::core::ClientContext::new(mcp::ProtocolVersion::LATEST);
    let _ = server.call(Exchange::new(call, facts.into())).await;
    let metrics = recorder.metric_table();
    assert!(metrics.contains("mcp.method.name=_OTHER"), "{metrics}");
    assert!(!metrics.contains("invented"), "{metrics}");
}

#[tokio::test]
async fn uri_is_in_metrics_on_request_only() {
    for wanted in [false, true] {
        let recorder = Recorder::start();
        let layer = if wanted {
            recorder.server_layer().resource_uris_in_metrics()
        } else {
            recorder.server_layer()
        };
        let pair = Pair::http(server().layer(layer)).connect().await.unwrap();
        pair.client.read_resource("shop://list").await.unwrap();
        pair.close().await.unwrap();
        let metrics = recorder.metric_table();
        let has_uri = metrics.contains("mcp.resource.uri=shop://list");
        assert_eq!(has_uri, wanted, "{metrics}");
    }
}
