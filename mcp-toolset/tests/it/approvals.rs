//! Approval of calls, and servers whose annotations lie.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::InProcess;
use mcp::prelude::*;
use mcp_toolset::{Answer, Approval, ProposedCall, Provider, ToolSet, Verdict};
use serde_json::{Value, json};

/// A server whose tools count their calls.
async fn client(calls: &Arc<AtomicUsize>) -> Client {
    let count = |calls: &Arc<AtomicUsize>| {
        let calls = calls.clone();
        move |RawArgs(_): RawArgs| {
            calls.fetch_add(1, Ordering::SeqCst);
            "done"
        }
    };
    let server = Server::new("files", "1.0.0")
        .tool(
            Tool::new("read")
                .read_only()
                .open_world(false)
                .handler(count(calls))
                .forwarded(),
        )
        .tool(Tool::new("wipe").handler(count(calls)).forwarded());
    Client::connect(InProcess(server)).await.unwrap()
}

async fn run(tools: &ToolSet, name: &str) -> Value {
    let reply = json!([{"type": "tool_use", "id": "c1", "name": name, "input": {}}]);
    tools.run(Provider::Anthropic, &reply).await.remove(0)
}

fn is_done(block: &Value) -> bool {
    block["is_error"] == false && block["content"][0]["text"] == "done"
}

#[tokio::test]
async fn annotations_count_only_from_trusted_servers() {
    let calls = Arc::new(AtomicUsize::new(0));
    let client = client(&calls).await;
    let trusting = ToolSet::from(&client).approve(Approval::by_annotations().trust([""]));
    assert!(is_done(&run(&trusting, "read").await));
    let denied = run(&trusting, "wipe").await;
    assert_eq!(denied["is_error"], true);
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("did not allow"), "{text}");
    let strict = ToolSet::from(&client).approve(Approval::by_annotations());
    assert!(!is_done(&run(&strict, "read").await));
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn answer_counts_once_or_for_the_session() {
    let calls = Arc::new(AtomicUsize::new(0));
    let client = client(&calls).await;
    let asked = Arc::new(AtomicUsize::new(0));
    for (answer, questions, done) in [
        (Answer::Once, 2, 2),
        (Answer::Session, 1, 2),
        (Answer::Deny, 2, 0),
    ] {
        calls.store(0, Ordering::SeqCst);
        asked.store(0, Ordering::SeqCst);
        let count = asked.clone();
        let approval = Approval::by_annotations().ask(move |call: ProposedCall| {
            assert_eq!(call.tool.name, "wipe");
            count.fetch_add(1, Ordering::SeqCst);
            async move { answer }
        });
        let tools = ToolSet::from(&client).approve(approval).deferred();
        let call = json!({"type": "tool_use", "name": "call_tool", "input": {"name": "wipe"}});
        for _ in 0..2 {
            tools.run(Provider::Anthropic, &json!([call])).await;
        }
        assert_eq!(asked.load(Ordering::SeqCst), questions, "{answer:?}");
        assert_eq!(calls.load(Ordering::SeqCst), done, "{answer:?}");
    }
}

#[tokio::test]
async fn rules_see_arguments_and_a_denial_wins() {
    let calls = Arc::new(AtomicUsize::new(0));
    let client = client(&calls).await;
    let approval = Approval::by_annotations()
        .rule(|_: &ProposedCall| Verdict::Allow)
        .rule(|call: &ProposedCall| match call.arguments.get("all") {
            Some(_) => Verdict::Deny,
            None => Verdict::Ask,
        });
    let tools = ToolSet::from(&client).approve(approval);
    assert!(is_done(&run(&tools, "wipe").await));
    let all = json!([{"type": "tool_use", "id": "c1", "name": "wipe", "input": {"all": true}}]);
    let denied = tools.run(Provider::Anthropic, &all).await.remove(0);
    let text = denied["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("a rule"), "{text}");
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}
