//! The items of one kind that the gateway serves.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_client::group::{ItemNames, NamedItem};
use mcp_server::EditError;

use super::routes::Named;
use super::upstream::Upstream;

/// The items of one kind, by their servers.
#[derive(Debug)]
pub(super) struct Served<T> {
    names: ItemNames,
    servers: HashMap<Arc<str>, Vec<Named<T>>>,
}

/// The next items of a server.
pub(super) struct NextItems<'a, T> {
    pub(super) upstream: &'a Arc<Upstream>,
    pub(super) items: Vec<Named<T>>,
    /// The change is announced to clients, also if the items are the same again.
    pub(super) is_announced: bool,
}

impl<T> Default for Served<T> {
    fn default() -> Self {
        Self {
            names: ItemNames::default(),
            servers: HashMap::new(),
        }
    }
}

impl<T: Clone + PartialEq> Served<T> {
    /// Forgets all names, and reserves some.
    pub(super) fn reset_names(&mut self, reserved: HashMap<String, NamedItem>) {
        self.names = ItemNames::new(reserved);
    }

    /// Returns the items of a server with their names. An item without a free name is left out, and so are
    /// later items with the same own name.
    pub(super) fn name<W: Iterator<Item = String>>(
        &mut self,
        server: &Arc<str>,
        items: &[T],
        own: impl Fn(&T) -> &str,
        wanted: impl Fn(&str) -> W,
    ) -> Vec<Named<T>> {
        let mut listed = HashSet::new();
        let items: Vec<&T> = items
            .iter()
            .filter(|item| listed.insert(own(item)))
            .collect();
        self.names
            .retain(|owner, own| owner != server || listed.contains(own));
        let named = items.into_iter().filter_map(|item| {
            let own = own(item);
            let Some(name) = self.names.assign((server.clone(), own.to_owned()), wanted(own)) else {
                tracing::warn!(%server, item = own, "another server of the gateway has this item already");
                return None;
            };
            let item = item.clone();
            Some(Named { name, item })
        });
        named.collect()
    }

    /// Returns the served items of a server.
    pub(super) fn items(&self, server: &Arc<str>) -> impl Iterator<Item = &Named<T>> {
        self.servers.get(server).into_iter().flatten()
    }

    /// Returns how many items of a server are served.
    pub(super) fn count(&self, server: &Arc<str>) -> usize {
        self.servers.get(server).map_or(0, Vec::len)
    }

    /// Serves the next items of servers. With `is_complete`, other servers have none any more.
    pub(super) fn serve<R>(
        &mut self,
        next: Vec<NextItems<'_, T>>,
        is_complete: bool,
        route: impl Fn(&Arc<Upstream>, &Named<T>) -> R,
        replace: impl Fn(Vec<String>, Vec<R>) -> Result<(), EditError>,
    ) {
        let next: Vec<_> = next
            .into_iter()
            .filter(|next| {
                let current = self.servers.get(&next.upstream.server);
                let current = current.map_or(&[][..], Vec::as_slice);
                is_complete || next.is_announced || current != next.items
            })
            .collect();
        let removed: Vec<String> = if is_complete {
            let removed = self.servers.drain().flat_map(|(_, items)| items);
            removed.map(|item| item.name).collect()
        } else {
            let removed = next.iter();
            let removed = removed.filter_map(|next| self.servers.remove(&next.upstream.server));
            removed.flatten().map(|item| item.name).collect()
        };
        if next.is_empty() && removed.is_empty() {
            return;
        }
        let items = || {
            let next = next.iter();
            next.flat_map(|next| next.items.iter().map(|item| (next.upstream, item)))
        };
        let added = items().map(|(upstream, item)| route(upstream, item));
        if let Err(error) = replace(removed.clone(), added.collect()) {
            // One item that cannot be served must not hide the others.
            tracing::warn!(error = %mcp_types::escape_line(&error.to_string()), "a list of the gateway is replaced item by item");
            let _ = replace(removed, Vec::new());
            for (upstream, item) in items() {
                if let Err(error) = replace(Vec::new(), vec![route(upstream, item)]) {
                    let (server, item) = (&upstream.server, &item.name);
                    tracing::warn!(%server, item, error = %mcp_types::escape_line(&error.to_string()), "the gateway leaves out an item");
                }
            }
        }
        for next in next {
            self.servers
                .insert(next.upstream.server.clone(), next.items);
        }
    }
}
