//! Notifications of extensions that a server sends to all its clients.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcp_client::Change;
use tokio_util::task::AbortOnDropHandle;

use super::questions::Broadcast;
use super::setup::Setup;
use super::upstream::Upstream;

/// The subscriptions of the gateway, one for each server of 2026-07-28 with such extensions. In older revisions
/// the session of the server receives the notifications.
#[derive(Default)]
pub(super) struct Broadcasts(HashMap<Arc<str>, AbortOnDropHandle<()>>);

impl Broadcasts {
    /// Subscribes to a server that runs.
    pub(super) fn start(&mut self, upstream: &Arc<Upstream>, setup: &Setup) {
        let extensions = upstream.settings.extensions.clone();
        let server = &upstream.server;
        let is_running = self.0.get(server).is_some_and(|task| !task.is_finished());
        if extensions.is_empty() || is_running {
            return;
        }
        let broadcast = Broadcast::new(extensions, setup.clients.clone(), None);
        let following = tokio::spawn(follow(upstream.clone(), broadcast));
        let following = AbortOnDropHandle::new(following);
        self.0.insert(server.clone(), following);
    }

    /// Ends the subscriptions of servers that are stopped.
    pub(super) fn stop(&mut self, stopped: &HashSet<Arc<str>>) {
        self.0.retain(|server, _| !stopped.contains(server));
    }

    /// Ends the subscriptions of servers that the gateway does not have.
    pub(super) fn retain<'a>(&mut self, servers: impl Iterator<Item = &'a Arc<Upstream>>) {
        let servers: HashSet<_> = servers.map(|upstream| &upstream.server).collect();
        self.0.retain(|server, _| servers.contains(server));
    }
}

async fn follow(upstream: Arc<Upstream>, broadcast: Broadcast) {
    let server = &upstream.server;
    let Ok(client) = upstream.client().await else {
        return;
    };
    if !client.protocol_version().is_modern() {
        return;
    }
    let subscribe = client.changes().tools_changed().extensions();
    drop(client);
    let mut changes = match subscribe.await {
        Ok(changes) => changes,
        Err(error) => {
            tracing::warn!(%server, error = %mcp_types::escape_line(&error.to_string()), "notifications of extensions do not pass the gateway");
            return;
        }
    };
    while let Some(Ok(change)) = changes.next().await {
        if let Change::Other { method, params } = change {
            broadcast.send(&method, params.as_ref());
        }
    }
}
