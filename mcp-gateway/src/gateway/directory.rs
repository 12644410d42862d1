//! The servers of a gateway by their names, with their current settings.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::upstream::Upstream;

/// The servers of a gateway. Requests that name a server in sealed data find it here.
#[derive(Clone, Default)]
pub(super) struct Directory(Arc<RwLock<HashMap<Arc<str>, Arc<Upstream>>>>);

impl Directory {
    /// Returns a server.
    pub(super) fn find(&self, server: &str) -> Option<Arc<Upstream>> {
        self.0.read().get(server).cloned()
    }

    /// Replaces all servers.
    pub(super) fn replace(&self, servers: impl Iterator<Item = Arc<Upstream>>) {
        let servers = servers
            .map(|upstream| (upstream.server.clone(), upstream))
            .collect();
        let old = std::mem::replace(&mut *self.0.write(), servers);
        // Dropped without the lock, because it may be the end of a server.
        drop(old);
    }
}
