//! The items of one kind that the gateway serves.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_client::group::{ItemNames, MAX_TOOL_NAME, is_portable_name};
use mcp_server::EditError;

use super::listed_server::ListedServer;
use super::pinned::NextItems;
use crate::calls::upstream::Upstream;
use crate::routes::Named;

/// Target of the events about items that the gateway cannot serve. Programs select them by this name.
const LEFT_OUT: &str = "mcp_gateway::left_out";

/// The items of one kind, by their servers.
#[derive(Debug)]
pub(crate) struct Served<T> {
    pub(super) names: ItemNames,
    servers: HashMap<Arc<str>, Vec<Named<T>>>,
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
    /// Returns the items of some servers with their names. `lists` are the lists of all servers. `wanted` returns the
    /// names that an item may have: its last arguments are true if several servers have an item with this own name, and
    /// what the names of all servers may begin with.
    pub(crate) fn next<'a, W: Iterator<Item = String>>(
        &mut self,
        (servers, indices): (&'a [ListedServer], &[usize]),
        lists: &[Option<&[T]>],
        own: impl Fn(&T) -> &str,
        wanted: impl Fn(&ListedServer, &str, bool, &[&str]) -> W,
    ) -> Vec<NextItems<'a, T>> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for item in lists.iter().copied().flatten().flatten() {
            *counts.entry(own(item)).or_default() += 1;
        }
        let prefixes: Vec<_> = servers.iter().flat_map(ListedServer::prefixes).collect();
        let next = indices.iter().filter_map(|&index| {
            let (server, list) = (&servers[index], lists[index]?);
            let items = self.name(&server.upstream.server, list, &own, |own| {
                wanted(server, own, counts.get(own) > Some(&1), &prefixes)
            });
            Some((&server.upstream, items))
        });
        next.collect()
    }

    /// Returns the items of a server with their names. An item without a free name is left out, and so are
    /// later items with the same own name.
    pub(crate) fn name<W: Iterator<Item = String>>(
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
        // A name that is cleaned does not take one that fits.
        let fits = |own: &&str| is_portable_name(own, MAX_TOOL_NAME);
        for own in items.iter().map(|item| own(item)).filter(fits) {
            self.names
                .assign((server.clone(), own.to_owned()), wanted(own));
        }
        let named = items.into_iter().filter_map(|item| {
            let own = own(item);
            let Some(name) = self.names.assign((server.clone(), own.to_owned()), wanted(own)) else {
                tracing::warn!(target: LEFT_OUT, server = %mcp_types::escaped(&server), item = own, "another server of the gateway has this item already");
                return None;
            };
            let item = item.clone();
            Some(Named { name, item })
        });
        named.collect()
    }

    /// Returns the served items of a server.
    pub(crate) fn items(&self, server: &Arc<str>) -> &[Named<T>] {
        self.servers.get(server).map_or(&[], Vec::as_slice)
    }

    /// Serves the next items of servers. With `is_complete`, other servers have none any more, and the settings of all
    /// servers may differ. Returns whether clients see a difference: only if `is_listed` returns true for the name of an
    /// item that differs.
    pub(super) fn serve<R>(
        &mut self,
        mut next: Vec<NextItems<'_, T>>,
        is_complete: bool,
        is_listed: impl Fn(&str) -> bool,
        route: impl Fn(&Arc<Upstream>, &Named<T>) -> R,
        replace: impl Fn(Vec<String>, Vec<R>) -> Result<(), EditError>,
    ) -> bool {
        let listed = |item: &&Named<T>| is_listed(&item.name);
        let mut differs = false;
        let mut removed = Vec::new();
        if is_complete {
            let old = self.servers.values().flatten();
            let new = next.iter().flat_map(|(_, items)| items);
            differs = old.chain(new).any(|item| listed(&item));
            removed.extend(self.servers.drain().flat_map(|(_, items)| items));
        } else {
            next.retain(|(upstream, items)| {
                let current = self.items(&upstream.server);
                let (old, new) = (current.iter().filter(listed), items.iter().filter(listed));
                differs |= !old.eq(new);
                current != items
            });
            let former = next.iter();
            let former = former.filter_map(|(upstream, _)| self.servers.remove(&upstream.server));
            removed.extend(former.flatten());
        }
        if next.is_empty() && removed.is_empty() {
            return false;
        }
        let removed: Vec<_> = removed.into_iter().map(|item| item.name).collect();
        let items = || {
            let next = next.iter();
            next.flat_map(|(upstream, items)| items.iter().map(|item| (*upstream, item)))
        };
        let added = items().map(|(upstream, item)| route(upstream, item));
        if let Err(error) = replace(removed.clone(), added.collect()) {
            // One item that cannot be served must not hide the others.
            tracing::warn!(target: LEFT_OUT, error = %mcp_types::escaped(&error), "a list of the gateway is replaced item by item");
            let _ = replace(removed, Vec::new());
            for (upstream, item) in items() {
                if let Err(error) = replace(Vec::new(), vec![route(upstream, item)]) {
                    let (server, item) = (&upstream.server, &item.name);
                    tracing::warn!(target: LEFT_OUT, server = %mcp_types::escaped(&server), item, error = %mcp_types::escaped(&error), "the gateway leaves out an item");
                }
            }
        }
        for (upstream, items) in next {
            self.servers.insert(upstream.server.clone(), items);
        }
        differs
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use mcp_server::EditError;
    use tracing::subscriber::with_default;
    use tracing_subscriber::fmt;

    use super::{Named, Served};

    // `mcp dev` shows these events of the gateway only.
    #[test]
    fn item_that_is_not_served_is_in_the_log_under_a_fixed_target() {
        let path = std::env::temp_dir().join(format!("mcp-left-out-{}", std::process::id()));
        let file = Arc::new(File::create(&path).unwrap());
        let item = Named {
            name: "a".to_owned(),
            item: (),
        };
        let mut served = Served::default();
        served.servers.insert("odd".into(), vec![item]);
        with_default(fmt().with_writer(file).finish(), || {
            let refuse = |_, _: Vec<()>| Err(EditError::ServerDropped);
            served.serve(Vec::new(), true, |_| true, |_, _| (), refuse)
        });
        let log = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        assert!(log.contains("mcp_gateway::left_out"), "{log}");
    }
}
