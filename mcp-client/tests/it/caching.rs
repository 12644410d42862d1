//! Cached results.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use mcp_client::{Cache, Client, ClientBuilder, ConnectMode, Over};
use mcp_types::{Cursor, ProtocolVersion, codes};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::script::{Script, Step, error, result, say};

fn tools(scope: &str, ttl: i64) -> Vec<Step> {
    let list = json!({
        "resultType": "complete", "ttlMs": ttl, "cacheScope": scope,
        "tools": [{"name": "add", "inputSchema": {"type": "object"}}],
    });
    vec![result(&list)]
}

async fn client(script: &Arc<Script>, builder: ClientBuilder) -> Client {
    let mode = ConnectMode::Pin(ProtocolVersion::LATEST);
    builder
        .mode(mode)
        .connect(Over(script.channel()))
        .await
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn fresh_result_is_returned_from_cache() {
    let script = Script::new((0..4).map(|_| tools("private", 1000)));
    let client = script.client().await;
    for (wait, sent) in [(0, 1), (999, 1), (1, 2)] {
        advance(Duration::from_millis(wait)).await;
        assert_eq!(client.list_tools().await.unwrap().len(), 1);
        assert_eq!(script.sent().len(), sent);
    }
    client.list_tools().page(None).fresh().await.unwrap();
    client
        .list_tools()
        .page(None)
        .header("x-tenant", "a")
        .await
        .unwrap();
    assert_eq!(script.sent().len(), 4);
}

#[tokio::test]
async fn result_without_ttl_is_not_cached() {
    let script = Script::new([tools("public", 0), tools("public", -5), tools("public", 0)]);
    let client = script.client().await;
    for _ in 0..3 {
        client.list_tools().await.unwrap();
    }
    assert_eq!(script.sent().len(), 3);
}

#[tokio::test]
async fn shared_cache_serves_public_results_and_same_principal() {
    let cache = Cache::default();
    let with = |who: Option<&str>| {
        let builder = Client::builder().cache(cache.clone());
        match who {
            Some(who) => builder.principal(who),
            None => builder,
        }
    };
    let script = Script::new((0..9).map(|_| tools("private", 60_000)));
    for (who, sent) in [
        (Some("ada"), 1),
        (Some("ada"), 1),
        (Some("bob"), 2),
        (None, 3),
        (None, 4),
    ] {
        let client = client(&script, with(who)).await;
        client.list_tools().await.unwrap();
        assert_eq!(script.sent().len(), sent, "{who:?}");
    }
    let script = Script::new([tools("public", 60_000)]);
    cache.clear();
    for who in [Some("ada"), Some("bob"), None] {
        client(&script, with(who)).await.list_tools().await.unwrap();
    }
    assert_eq!(script.sent().len(), 1);
}

// spec: CACHE-04
#[tokio::test]
async fn result_after_input_is_not_cached() {
    let content =
        json!({"resultType": "complete", "contents": [], "ttlMs": 60_000, "cacheScope": "public"});
    let asks = || {
        vec![result(
            &json!({"resultType": "input_required", "requestState": "s"}),
        )]
    };
    let script = Script::new([
        asks(),
        vec![result(&content)],
        asks(),
        vec![result(&content)],
    ]);
    let client = script.client().await;
    for _ in 0..2 {
        let mcp_client::Step::InputRequired(asked) =
            client.read_resource("file:///a").step().await.unwrap()
        else {
            panic!("the answer was kept")
        };
        asked
            .answer([] as [(&str, mcp_types::ElicitResult); 0])
            .await
            .unwrap();
    }
    assert_eq!(script.sent().len(), 4);
}

#[tokio::test]
async fn changes_invalidate_cached_results() {
    let ack = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true}}}"#;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let script = Script::new([
        tools("private", 60_000),
        vec![say(ack), say(changed)],
        tools("private", 60_000),
    ]);
    let client = script.client().await;
    client.list_tools().await.unwrap();
    let mut changes = client.changes().tools_changed().await.unwrap();
    changes.next().await.unwrap().unwrap();
    client.list_tools().await.unwrap();
    assert_eq!(script.sent().len(), 3);
}

#[tokio::test]
async fn refused_cursor_invalidates_all_pages() {
    let refused = vec![say(error(codes::INVALID_PARAMS, &Value::Null))];
    let script = Script::new([tools("private", 60_000), refused, tools("private", 60_000)]);
    let client = script.client().await;
    client.list_tools().await.unwrap();
    let page = client.list_tools().page(Cursor::new("old")).await;
    assert!(page.unwrap_err().fault().is_some());
    client.list_tools().await.unwrap();
    assert_eq!(script.sent().len(), 3);
}

#[tokio::test]
async fn clients_from_one_builder_have_separate_caches() {
    let builder = Client::builder().principal("ada");
    let scripts = [0, 1].map(|_| Script::new([tools("public", 60_000)]));
    for script in &scripts {
        let client = client(script, builder.clone()).await;
        client.list_tools().await.unwrap();
        client.list_tools().await.unwrap();
        assert_eq!(script.sent().len(), 1);
    }
}

#[tokio::test]
async fn shared_cache_separates_servers_with_the_same_name() {
    let builder = Client::builder().principal("ada").cache(Cache::default());
    // Both channels are named `script:` in errors.
    let scripts = [0, 1].map(|_| Script::new([tools("public", 60_000)]));
    for script in &scripts {
        for _ in 0..2 {
            let client = client(script, builder.clone()).await;
            client.list_tools().await.unwrap();
        }
        assert_eq!(script.sent().len(), 1);
    }
}
