//! Answers that the server declared fresh for a while.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_core::{Call, ClientRequest, ResultBody};
use mcp_types::{CacheHint, CacheScope, Method, SubscriptionFilter};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Change;
use crate::clock::after;

/// Answers that servers declared fresh: lists and contents of resources, kept for as long as the
/// server said and no longer. What is used least makes room.
///
/// Every client has one of its own unless it is given one with
/// [`ClientBuilder::cache`](crate::ClientBuilder::cache). Clones share their answers: clients of
/// one server then share what that server calls public, and what it calls private where they name
/// the same [principal](crate::ClientBuilder::principal).
// spec: CACHE-05, CACHE-08
#[derive(Clone)]
pub struct Cache {
    entries: Arc<Mutex<Entries>>,
    max_bytes: usize,
}

impl Default for Cache {
    fn default() -> Self {
        Self::new(8 * 1024 * 1024)
    }
}

impl Cache {
    /// The most answers that a cache keeps, however short they are.
    pub const MAX_ENTRIES: usize = 1024;

    /// A cache of at most so many bytes of answers; with 0 nothing is kept.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            entries: Arc::default(),
            max_bytes,
        }
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.entries.lock().forget(|_| true);
    }

    /// Forgets what a change has made stale.
    // spec: CACHE-09
    pub(crate) fn invalidate(&self, server: &str, change: &Change) {
        let stale = |key: &Key| match change {
            Change::Tools => key.method == Method::ListTools,
            Change::Prompts => key.method == Method::ListPrompts,
            Change::Resources => is_list_of_resources(key.method),
            Change::Resource { uri } => key.reads(|read| read == uri),
            Change::Missed(filter) => key.is_in(filter),
            Change::Other { .. } => false,
        };
        self.entries
            .lock()
            .forget(|key| &*key.server == server && stale(key));
    }

    /// Forgets all pages of a list.
    // spec: CACHE-10
    pub(crate) fn forget_list(&self, server: &str, method: Method) {
        self.entries
            .lock()
            .forget(|key| &*key.server == server && key.method == method);
    }
}

fn is_list_of_resources(method: Method) -> bool {
    matches!(
        method,
        Method::ListResources | Method::ListResourceTemplates
    )
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.lock();
        f.debug_struct("Cache")
            .field("entries", &entries.map.len())
            .field("bytes", &entries.bytes)
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct Entries {
    map: HashMap<Key, Entry>,
    bytes: usize,
    /// Grows with every use.
    clock: u64,
    /// Grows when something is forgotten for being stale: an answer that was asked for before is
    /// not kept.
    epoch: u64,
}

struct Entry {
    body: ResultBody,
    until: Instant,
    bytes: usize,
    used: u64,
}

impl Entries {
    fn forget(&mut self, is_stale: impl Fn(&Key) -> bool) {
        self.epoch += 1;
        self.map.retain(|key, _| !is_stale(key));
        self.bytes = self.map.values().map(|entry| entry.bytes).sum();
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.map.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    fn get(&mut self, key: &Key) -> Option<ResultBody> {
        let used = self.tick();
        let entry = self.map.get_mut(key)?;
        if entry.until <= Instant::now() {
            self.remove(key);
            return None;
        }
        entry.used = used;
        Some(entry.body.clone())
    }

    fn put(&mut self, key: Key, mut entry: Entry, max_bytes: usize) {
        self.remove(&key);
        while self.bytes + entry.bytes > max_bytes || self.map.len() >= Cache::MAX_ENTRIES {
            let least = self.map.iter().min_by_key(|(_, entry)| entry.used);
            let Some(least) = least.map(|(key, _)| key.clone()) else {
                return;
            };
            self.remove(&least);
        }
        entry.used = self.tick();
        self.bytes += entry.bytes;
        self.map.insert(key, entry);
    }

    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }
}

/// Which answer it is.
// spec: CACHE-03
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    server: Box<str>,
    /// Whose it is; `None` for everybody's.
    owner: Option<Box<str>>,
    method: Method,
    /// The cursor or the URI.
    param: Option<Box<str>>,
}

impl Key {
    fn reads(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        self.method == Method::ReadResource && self.param.as_deref().is_some_and(is_wanted)
    }

    fn is_in(&self, filter: &SubscriptionFilter) -> bool {
        (filter.tools_list_changed && self.method == Method::ListTools)
            || (filter.prompts_list_changed && self.method == Method::ListPrompts)
            || (filter.resources_list_changed && is_list_of_resources(self.method))
            || self.reads(|uri| filter.covers(uri))
    }
}

/// The place of one call's answer in the cache.
pub(crate) struct Slot {
    cache: Cache,
    key: Key,
    owner: Box<str>,
    /// The call brings something along that may change its answer, even one for everybody.
    is_special: bool,
    epoch: u64,
}

impl Cache {
    /// The place of the answer to `asked`, when answers to it can be kept. `special` is what the
    /// call brings along beside its parameters.
    pub(crate) fn slot(
        &self,
        server: &str,
        principal: &str,
        asked: &ClientRequest,
        special: &str,
    ) -> Option<Slot> {
        let ClientRequest::Call(call) = asked else {
            return None;
        };
        let param = match call {
            Call::ListTools(page)
            | Call::ListPrompts(page)
            | Call::ListResources(page)
            | Call::ListResourceTemplates(page) => {
                page.cursor.as_ref().map(|cursor| cursor.as_str().into())
            }
            Call::ReadResource(params) => Some(params.uri.as_str().into()),
            _ => return None,
        };
        Some(Slot {
            key: Key {
                server: server.into(),
                owner: None,
                method: call.method()?,
                param,
            },
            // The length keeps the two parts apart.
            owner: format!("{}:{principal}{special}", principal.len()).into(),
            is_special: !special.is_empty(),
            epoch: self.entries.lock().epoch,
            cache: self.clone(),
        })
    }
}

impl Slot {
    fn key(&self, scope: CacheScope) -> Key {
        let mut key = self.key.clone();
        let is_shared = scope == CacheScope::Public && !self.is_special;
        key.owner = (!is_shared).then(|| self.owner.clone());
        key
    }

    /// The answer, if there is a fresh one.
    pub(crate) fn get(&self) -> Option<ResultBody> {
        let mut entries = self.cache.entries.lock();
        let own = entries.get(&self.key(CacheScope::Private));
        own.or_else(|| entries.get(&self.key(CacheScope::Public)))
    }

    /// Keeps an answer of so many bytes.
    pub(crate) fn put(&self, body: &ResultBody, hint: CacheHint, bytes: usize) {
        if hint.ttl.is_zero() || bytes > self.cache.max_bytes {
            return;
        }
        let entry = Entry {
            body: body.clone(),
            until: after(hint.ttl),
            bytes,
            used: 0,
        };
        let mut entries = self.cache.entries.lock();
        if entries.epoch == self.epoch {
            entries.put(self.key(hint.scope), entry, self.cache.max_bytes);
        }
    }
}

#[cfg(test)]
mod tests;
