//! Memory of abandoned tasks: bounded while they live, and free after their time to live.

use std::sync::Arc;
use std::time::Duration;

use allocation_counter::measure;
use mcp::core::{Call, ClientContext, Exchange, Reply, Service};
use mcp::prelude::*;
use mcp::tasks::{TaskMode, Tasks};
use mcp::types::meta::keys;
use mcp::types::{CallToolParams, ClientCapabilities};
use serde_json::json;
use tokio::time::sleep;

const TASKS: usize = 10_000;
const TTL: Duration = Duration::from_secs(60);

fn server() -> Server {
    // Half of the handlers have ended when their tasks expire.
    let fast = Tool::new("fast").handler(async || "done");
    let slow = Tool::new("slow").handler(std::future::pending::<String>);
    Server::new("studio", "1.0.0")
        .tool(fast.task(TaskMode::Always))
        .tool(slow.task(TaskMode::Always))
        .tasks(Tasks::in_memory().ttl(TTL).max_tasks(TASKS))
}

/// Creates tasks, and waits until they have expired.
async fn abandon_tasks(server: &Server, facts: &Arc<ClientContext>) {
    for number in 0..TASKS {
        let tool = if number % 2 == 0 { "fast" } else { "slow" };
        let call = Call::CallTool(CallToolParams::new(tool, None));
        let reply = server.call(Exchange::new(call, facts.clone())).await;
        assert!(matches!(reply, Reply::Extended { .. }), "{reply:?}");
    }
    sleep(3 * TTL).await;
}

#[test]
fn abandoned_tasks_are_freed_after_their_ttl() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let server = server();
    let declared = ClientCapabilities::default().with_extension(keys::TASKS_EXTENSION, &json!({}));
    let mut facts = ClientContext::new(ProtocolVersion::LATEST);
    facts.capabilities = declared;
    let facts = Arc::new(facts);
    let run = || runtime.block_on(abandon_tasks(&server, &facts));
    let first = measure(run);
    let second = measure(run);
    println!(
        "{TASKS} tasks: at most {} bytes each, {} bytes stay after the first run, {} after the second",
        first.bytes_max / TASKS as u64,
        first.bytes_current,
        second.bytes_current,
    );
    assert!(first.bytes_max / TASKS as u64 <= 4_000, "{first:?}");
    // The tables in the runtime and in the store keep their capacity.
    assert!(first.bytes_current <= 200_000, "{first:?}");
    assert_eq!(second.bytes_current, 0, "{second:?}");
}
