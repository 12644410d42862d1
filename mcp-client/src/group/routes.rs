//! The names of a group, and the server behind each.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

/// The target of a name: the server, and the name on that server.
pub(super) type Route = (Arc<str>, String);

/// The routes of all tools, or of all prompts.
#[derive(Debug, Default)]
pub(super) struct Routes(RwLock<HashMap<String, Route>>);

impl Routes {
    pub(super) fn find(&self, name: &str) -> Option<Route> {
        self.0.read().get(name).cloned()
    }

    /// Returns the routes of servers for which `is_kept` returns true.
    pub(super) fn kept(&self, is_kept: impl Fn(&Arc<str>) -> bool) -> Vec<(String, Route)> {
        let current = self.0.read();
        let kept = current.iter().filter(|(_, (server, _))| is_kept(server));
        kept.map(|(name, route)| (name.clone(), route.clone()))
            .collect()
    }

    /// Replaces the routes. Routes of servers for which `is_kept` returns true stay: their list could
    /// not be requested.
    pub(super) fn replace(
        &self,
        is_kept: impl Fn(&Arc<str>) -> bool,
        routes: impl IntoIterator<Item = (String, Route)>,
    ) {
        let mut current = self.0.write();
        current.retain(|_, (server, _)| is_kept(server));
        current.extend(routes);
    }
}
