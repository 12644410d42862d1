//! Names of keys and channels. The crate documentation lists them.

use std::sync::Arc;

/// Version of the layout. Nodes with different layouts do not share data.
const LAYOUT: &str = "v1";

/// Names below one prefix.
#[derive(Debug, Clone)]
pub(crate) struct Keys(Arc<str>);

impl Keys {
    pub(crate) fn new(prefix: &str) -> Self {
        Self(format!("{prefix}:{LAYOUT}").into())
    }

    pub(crate) fn session(&self, id: &str) -> String {
        format!("{}:{{{id}}}:session", self.0)
    }

    pub(crate) fn events(&self, session: &str) -> String {
        format!("{}:{{{session}}}:events", self.0)
    }

    pub(crate) fn streams(&self, session: &str) -> String {
        format!("{}:{{{session}}}:streams", self.0)
    }

    /// The key with the number of the last change, and the channel of changes.
    pub(crate) fn changes(&self) -> String {
        format!("{}:changes", self.0)
    }

    /// Returns the task key.
    pub(crate) fn task(&self, id: &str) -> String {
        format!("{}:{{tasks}}:task:{id}", self.0)
    }

    /// Returns the task key, and the keys of task expiry, sizes and totals.
    pub(crate) fn task_and_totals(&self, id: &str) -> [String; 4] {
        let key = |name| format!("{}:{{tasks}}:{name}", self.0);
        [self.task(id), key("expiry"), key("sizes"), key("totals")]
    }

    /// The key that marks a node with tasks as alive.
    pub(crate) fn task_node(&self, node: &str) -> String {
        format!("{}:{{tasks}}:node:{node}", self.0)
    }

    /// The key of a request state that was used.
    pub(crate) fn used_state(&self, id: &str) -> String {
        format!("{}:{{{id}}}:used", self.0)
    }

    /// The channel of changed tasks.
    pub(crate) fn task_changes(&self) -> String {
        format!("{}:tasks", self.0)
    }

    /// The keys of the published events of one type.
    pub(crate) fn event_log(&self, name: &str) -> [String; 2] {
        let key = |part| format!("{}:{{event:{name}}}:{part}", self.0);
        [key("log"), key("position")]
    }

    /// The key that marks an event as published.
    pub(crate) fn event_mark(&self, name: &str, event: &str) -> String {
        format!("{}:{{event:{name}}}:mark:{event}", self.0)
    }

    /// The channel of published events.
    pub(crate) fn published_events(&self) -> String {
        format!("{}:events", self.0)
    }

    /// Returns the key of a webhook subscription.
    pub(crate) fn webhook(&self, id: &str) -> String {
        format!("{}:{{webhooks}}:webhook:{id}", self.0)
    }

    /// Returns the keys of webhook expiry, owners and leases.
    pub(crate) fn webhooks(&self) -> [String; 3] {
        ["expiry", "owners", "leases"].map(|name| format!("{}:{{webhooks}}:{name}", self.0))
    }

    /// The key of the URLs that have agreed to receive events.
    pub(crate) fn verified_webhooks(&self) -> String {
        format!("{}:{{webhooks}}:verified", self.0)
    }

    /// The channel for messages to all nodes.
    pub(crate) fn relay(&self) -> String {
        format!("{}:relay", self.0)
    }

    /// The key with the number of the last GET stream.
    pub(crate) fn numbers(&self) -> String {
        format!("{}:stream-number", self.0)
    }

    /// The channel for messages to one node.
    pub(crate) fn node(&self, node: u32) -> String {
        format!("{}:relay:{node}", self.0)
    }

    /// The key that marks a node of the relay as alive.
    pub(crate) fn node_mark(&self, node: u32) -> String {
        format!("{}:relay:{node}:alive", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Keys;

    #[test]
    fn keys_have_the_prefix_and_the_version() {
        let keys = Keys::new("shop");
        assert_eq!(keys.session("a"), "shop:v1:{a}:session");
        assert_eq!(keys.events("a"), "shop:v1:{a}:events");
        assert_eq!(keys.streams("a"), "shop:v1:{a}:streams");
        assert_eq!(keys.task("a"), "shop:v1:{tasks}:task:a");
        assert_eq!(keys.task_and_totals("a")[3], "shop:v1:{tasks}:totals");
        assert_eq!(keys.task_node("n"), "shop:v1:{tasks}:node:n");
        assert_eq!(keys.event_log("a")[0], "shop:v1:{event:a}:log");
        assert_eq!(keys.event_mark("a", "e"), "shop:v1:{event:a}:mark:e");
        assert_eq!(keys.used_state("a"), "shop:v1:{a}:used");
        assert_eq!(keys.webhook("w"), "shop:v1:{webhooks}:webhook:w");
        assert_eq!(keys.webhooks()[2], "shop:v1:{webhooks}:leases");
        assert_eq!(keys.node(7), "shop:v1:relay:7");
        assert_eq!(keys.node_mark(7), "shop:v1:relay:7:alive");
    }
}
