//! The routes of a kind as their author keeps them.

use std::collections::HashSet;
use std::fmt;

use mcp_types::CacheHint;

use super::{Listed, Sight};

pub(crate) struct Shelf<R: Listed> {
    entries: Vec<Entry<R>>,
    /// How many there have been.
    given: u64,
    /// How long clients may keep the list.
    pub(crate) cache: Option<CacheHint>,
    /// Who sees what.
    pub(crate) sight: Option<Sight<R>>,
}

struct Entry<R> {
    number: u64,
    in_use: bool,
    route: R,
}

impl<R: Listed> Default for Shelf<R> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            given: 0,
            cache: None,
            sight: None,
        }
    }
}

impl<R: Listed> Shelf<R> {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        self.entries.iter().map(|entry| &entry.route)
    }

    /// Those that are in use, with their numbers.
    pub(crate) fn in_use(&self) -> impl Iterator<Item = (u64, &R)> {
        let entries = self.entries.iter().filter(|entry| entry.in_use);
        entries.map(|entry| (entry.number, &entry.route))
    }

    /// Puts a route at the end, whatever else there is.
    pub(crate) fn push(&mut self, route: R) {
        let number = self.given;
        self.given += 1;
        self.entries.push(Entry {
            number,
            in_use: true,
            route,
        });
    }

    /// Puts routes at the end, in their order.
    pub(crate) fn extend(&mut self, routes: Vec<R>) {
        for route in routes {
            self.push(route);
        }
    }

    /// Puts a route into the place of the one with its name, or at the end.
    pub(crate) fn put(&mut self, route: R) -> Option<R> {
        if let Some(entry) = self.find(route.key()) {
            entry.in_use = true;
            return Some(std::mem::replace(&mut entry.route, route));
        }
        self.push(route);
        None
    }

    pub(crate) fn remove(&mut self, key: &str) -> Option<R> {
        let mut entries = self.entries.iter();
        let at = entries.position(|entry| entry.route.key() == key)?;
        Some(self.entries.remove(at).route)
    }

    /// Takes a route into use or out of it; tells whether that changes anything, and `None` when
    /// there is no such route.
    pub(crate) fn set_in_use(&mut self, key: &str, in_use: bool) -> Option<bool> {
        let entry = self.find(key)?;
        Some(std::mem::replace(&mut entry.in_use, in_use) != in_use)
    }

    /// The first of some routes whose name is taken: here, or by one before it.
    pub(crate) fn taken<'a>(&'a self, routes: &'a [R]) -> Option<&'a R> {
        // One route is looked for, several are indexed.
        if let [route] = routes {
            return self
                .iter()
                .any(|other| other.key() == route.key())
                .then_some(route);
        }
        let mut keys: HashSet<&str> = self.iter().map(R::key).collect();
        routes.iter().find(|route| !keys.insert(route.key()))
    }

    fn find(&mut self, key: &str) -> Option<&mut Entry<R>> {
        let mut entries = self.entries.iter_mut();
        entries.find(|entry| entry.route.key() == key)
    }
}

impl<R: Listed> fmt::Debug for Shelf<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(R::key)).finish()
    }
}
