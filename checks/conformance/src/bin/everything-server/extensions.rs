//! Events; the apps are in `apps.rs`.

use std::io::Error;

use mcp::core::Principal;
use mcp::events::{
    EventLog, EventType, Events, HttpWebhooks, MemoryEventLog, MemoryWebhookStore, WebhookStore,
    Webhooks, Zone,
};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Counted {
    count: u64,
}

/// Returns true with the argument `--webhooks`: events are posted to receivers on this machine, and all
/// callers are one principal.
fn has_webhooks() -> bool {
    std::env::args().any(|argument| argument == "--webhooks")
}

/// The events of one process.
pub(crate) fn events_in_memory() -> mcp::Result<Events> {
    events(MemoryEventLog::new(), MemoryWebhookStore::new())
}

/// The events of a server, in a log and a store that nodes may share.
pub(crate) fn events(log: impl EventLog, store: impl WebhookStore) -> mcp::Result<Events> {
    let counted = EventType::<Counted>::new("test.counted").poll().push();
    let events = Events::with_log(log);
    if !has_webhooks() {
        return Ok(events.event(counted));
    }
    let transport = HttpWebhooks::in_zone(Zone::Loopback);
    let transport = transport.map_err(Error::other)?;
    let webhooks = Webhooks::new(transport).store(store);
    Ok(events.event(counted.webhook()).webhooks(webhooks))
}

/// Adds the extensions and their tools.
pub(crate) fn add(server: Server, events: Events) -> Server {
    let publisher = events.clone();
    let trigger = Tool::new("test_publish_event").description("Publishes an event");
    let server = server
        .tool(trigger.handler(move || {
            let publisher = publisher.clone();
            async move {
                publisher.publish(&Counted { count: 3 }).await?;
                Ok::<_, ToolError>("published")
            }
        }))
        .extension(events);
    if !has_webhooks() {
        return server;
    }
    server.layer(from_fn(|mut exchange: Exchange, next: Next| async move {
        exchange
            .extensions
            .insert(Principal::new("test", "everyone"));
        next.run(exchange).await
    }))
}
