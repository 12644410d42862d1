//! Updates of resources, from the servers to the clients of the gateway.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcp_client::group::{Group, Listed};
use mcp_client::{Change, Client};
use mcp_server::Notify;
use mcp_types::Resource;
use tokio_util::task::AbortOnDropHandle;

/// Resources of one server that the gateway subscribes to. Updates of further ones do not pass.
const MAX_RESOURCES: usize = 1000;

/// The subscriptions of the gateway, one for each server that offers them.
pub(super) struct Updates {
    notify: Notify,
    running: HashMap<Arc<str>, Subscription>,
}

/// A subscription. It ends when this is dropped.
struct Subscription {
    uris: Vec<String>,
    task: AbortOnDropHandle<()>,
}

impl Updates {
    pub(super) fn new(notify: Notify) -> Self {
        Self {
            notify,
            running: HashMap::new(),
        }
    }

    /// Subscribes to the listed resources.
    pub(super) async fn subscribe(&mut self, group: &Group, resources: &[Listed<Resource>]) {
        let mut servers: BTreeMap<&Arc<str>, Vec<String>> = BTreeMap::new();
        for listed in resources {
            let uris = servers.entry(&listed.server).or_default();
            if uris.len() < MAX_RESOURCES {
                uris.push(listed.item.uri.clone());
            }
        }
        self.running
            .retain(|server, _| servers.contains_key(server));
        for (server, uris) in servers {
            let current = self.running.get(server);
            if current.is_some_and(|it| it.uris == uris && !it.task.is_finished()) {
                continue;
            }
            let Ok(client) = group.client(server).await else {
                continue;
            };
            if !offers_updates(&client) {
                continue;
            }
            let following = follow(client, server.clone(), uris.clone(), self.notify.clone());
            let task = AbortOnDropHandle::new(tokio::spawn(following));
            self.running
                .insert(server.clone(), Subscription { uris, task });
        }
    }
}

/// Returns true if the server may send updates of resources.
pub(super) fn offers_updates(client: &Client) -> bool {
    // A server of 2026-07-28 whose capabilities are unknown grants what it offers.
    client.server_capabilities().is_none_or(|capabilities| {
        let resources = capabilities.resources;
        resources.is_some_and(|resources| resources.subscribe == Some(true))
    })
}

/// Passes updates on until the connection to the server ends.
async fn follow(client: Client, server: Arc<str>, uris: Vec<String>, notify: Notify) {
    let mut changes = match client.subscribe(uris).await {
        Ok(changes) => changes,
        Err(error) => {
            tracing::warn!(%server, %error, "updates of resources do not pass the gateway");
            return;
        }
    };
    while let Some(Ok(change)) = changes.next().await {
        match change {
            Change::Resource { uri } => notify.resource_updated(uri),
            Change::Missed(filter) => {
                let uris = filter.resource_subscriptions.into_iter();
                uris.for_each(|uri| notify.resource_updated(uri));
            }
            _ => {}
        }
    }
}
