//! Routes of one kind, as the author edits them.

use std::collections::{HashMap, HashSet};
use std::fmt;

use mcp_types::CacheHint;

use super::listed::Listed;

/// Routes of one kind in the order of registration.
pub(crate) struct RouteList<R: Listed> {
    entries: Vec<Entry<R>>,
    next_number: u64,
    /// Time that clients may cache the list.
    pub(crate) cache: Option<CacheHint>,
    /// Lists omit routes whose scopes the caller lacks.
    pub(crate) by_scope: bool,
}

struct Entry<R> {
    /// Registration number, for cursors.
    number: u64,
    is_enabled: bool,
    route: R,
}

/// The outcome of [`RouteList::replace`].
pub(crate) struct Replacement<R> {
    pub(crate) removed: Vec<R>,
    /// Clients may see another list.
    pub(crate) differs: bool,
}

impl<R: Listed> Default for RouteList<R> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            next_number: 0,
            cache: None,
            by_scope: false,
        }
    }
}

impl<R: Listed> RouteList<R> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        self.entries.iter().map(|entry| &entry.route)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut R> {
        self.entries.iter_mut().map(|entry| &mut entry.route)
    }

    /// Returns the enabled routes with their registration numbers.
    pub(crate) fn enabled(&self) -> impl Iterator<Item = (u64, &R)> {
        let entries = self.entries.iter().filter(|entry| entry.is_enabled);
        entries.map(|entry| (entry.number, &entry.route))
    }

    pub(crate) fn has_enabled(&self) -> bool {
        self.enabled().next().is_some()
    }

    /// Adds a route, even if its key exists.
    pub(crate) fn push(&mut self, route: R) {
        let number = self.next_number;
        self.next_number += 1;
        self.entries.push(Entry {
            number,
            is_enabled: true,
            route,
        });
    }

    pub(crate) fn extend(&mut self, routes: Vec<R>) {
        routes.into_iter().for_each(|route| self.push(route));
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<R> {
        let mut entries = self.entries.iter();
        let index = entries.position(|entry| entry.route.key() == key)?;
        Some(self.entries.remove(index).route)
    }

    /// Replaces the routes whose keys are `replaced`. A route with such a key takes the place of its predecessor, so
    /// that a client in the middle of the pages sees it once; other routes follow at the end.
    pub(crate) fn replace(
        &mut self,
        is_replaced: impl Fn(&str) -> bool,
        routes: Vec<R>,
    ) -> Replacement<R> {
        let mut successors: HashMap<String, R> = HashMap::new();
        let mut added = Vec::new();
        {
            let keys = self.iter().map(R::key);
            let replaced: HashSet<&str> = keys.filter(|key| is_replaced(key)).collect();
            for route in routes {
                if replaced.contains(route.key()) {
                    successors.insert(route.key().to_owned(), route);
                } else {
                    added.push(route);
                }
            }
        }
        let mut differs = !added.is_empty();
        let mut removed = Vec::new();
        let entries = std::mem::take(&mut self.entries).into_iter();
        self.entries = entries
            .filter_map(|mut entry| {
                if !is_replaced(entry.route.key()) {
                    return Some(entry);
                }
                let Some(route) = successors.remove(entry.route.key()) else {
                    differs |= entry.is_enabled;
                    removed.push(entry.route);
                    return None;
                };
                differs |= !entry.is_enabled || !entry.route.is_listed_as(&route);
                entry.is_enabled = true;
                removed.push(std::mem::replace(&mut entry.route, route));
                Some(entry)
            })
            .collect();
        added.into_iter().for_each(|route| self.push(route));
        Replacement { removed, differs }
    }

    /// Enables or disables a route. Returns whether that changed anything, and `None` for an unknown
    /// route.
    pub(crate) fn set_enabled(&mut self, key: &str, is_enabled: bool) -> Option<bool> {
        let entry = self.find(key)?;
        Some(std::mem::replace(&mut entry.is_enabled, is_enabled) != is_enabled)
    }

    /// Returns the first of `routes` whose key is one of the list that is not replaced, or occurs
    /// earlier in `routes`.
    pub(crate) fn find_duplicate<'a>(
        &'a self,
        routes: &'a [R],
        is_replaced: impl Fn(&str) -> bool,
    ) -> Option<&'a R> {
        let keys = self.iter().map(R::key);
        let mut keys = keys.filter(|key| !is_replaced(key));
        // Adding one route stays linear; several routes are worth an index.
        if let [route] = routes {
            return keys.any(|key| key == route.key()).then_some(route);
        }
        let mut keys: HashSet<&str> = keys.collect();
        routes.iter().find(|route| !keys.insert(route.key()))
    }

    fn find(&mut self, key: &str) -> Option<&mut Entry<R>> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.route.key() == key)
    }
}

impl<R: Listed> fmt::Debug for RouteList<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(R::key)).finish()
    }
}
