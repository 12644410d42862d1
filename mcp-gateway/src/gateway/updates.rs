//! Updates of resources, from the servers to the clients of the gateway.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcp_client::group::Group;
use mcp_client::{Change, Client};
use mcp_server::Notify;
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

    /// Returns true if updates of a server pass now.
    pub(super) fn follows(&self, server: &str) -> bool {
        let subscription = self.running.get(server);
        subscription.is_some_and(|it| !it.task.is_finished())
    }

    /// Subscribes to the listed resources of servers that offer it.
    pub(super) fn subscribe(&mut self, listed: Vec<ServerResources>) {
        let servers: HashSet<_> = listed.iter().map(|it| it.server.clone()).collect();
        self.running.retain(|server, _| servers.contains(server));
        for ServerResources {
            server,
            client,
            uris,
        } in listed
        {
            let current = self.running.get(&server);
            if current.is_some_and(|it| it.uris == uris && !it.task.is_finished()) {
                continue;
            }
            let following = follow(client, server.clone(), uris.clone(), self.notify.clone());
            let task = AbortOnDropHandle::new(tokio::spawn(following));
            self.running.insert(server, Subscription { uris, task });
        }
    }
}

/// The resources of a running server that offers updates.
pub(super) struct ServerResources {
    server: Arc<str>,
    client: Client,
    uris: Vec<String>,
}

impl ServerResources {
    /// Returns `None` for a server that does not offer updates, and for one that does not run.
    pub(super) fn new(
        group: Group,
        server: Arc<str>,
        mut uris: Vec<String>,
    ) -> impl Future<Output = Option<Self>> + Send {
        uris.truncate(MAX_RESOURCES);
        async move {
            if uris.is_empty() {
                return None;
            }
            let client = group.client(&server).await.ok()?;
            offers_updates(&client).then_some(Self {
                server,
                client,
                uris,
            })
        }
    }
}

/// Returns true if the server may send updates of resources.
fn offers_updates(client: &Client) -> bool {
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
