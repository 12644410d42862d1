//! The cache of results that a server declared cacheable.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use mcp_core::{Call, ClientRequest, ResultBody, ServerIdentity};
use mcp_types::{CacheHint, CacheScope, Method, SubscriptionFilter};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::notifications::Change;
use crate::options::deadline_after;

/// A result cache: lists and resource contents, for the time to live that the server sets. When
/// it is full, the least recently used result is evicted.
///
/// Every client has its own cache, unless it receives one by
/// [`ClientBuilder::cache`](crate::ClientBuilder::cache). Clones share their entries: clients of one
/// server then share public results, and private results if they have the same
/// [principal](crate::ClientBuilder::principal). Two clients have the same server if their channels
/// have the same [identity](mcp_core::Channel::identity): the whole URL with its query, or the
/// program with its arguments, environment and working directory. Other channels share nothing.
///
/// Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching>
// spec: CACHE-05
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
    /// Largest number of entries.
    pub(crate) const MAX_ENTRIES: usize = 1024;

    /// Creates a cache with a capacity in bytes of messages. The default is 8 MiB. A cache of 0
    /// bytes stores nothing.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            entries: Arc::default(),
            max_bytes,
        }
    }

    /// Removes all entries.
    pub fn clear(&self) {
        self.entries.lock().remove_stale(|_| true);
    }

    /// Removes the entries that a change affects.
    // spec: CACHE-09
    pub(crate) fn invalidate(&self, server: ServerIdentity, change: &Change) {
        let stale = |key: &CacheKey| match change {
            Change::Tools => key.method == Method::ListTools,
            Change::Prompts => key.method == Method::ListPrompts,
            Change::Resources => lists_resources(key.method),
            Change::Resource { uri } => key.is_resource(|cached| cached == uri),
            Change::Missed(filter) => key.matches(filter),
            Change::Other { .. } => false,
        };
        self.entries
            .lock()
            .remove_stale(|key| key.server == server && stale(key));
    }

    /// Removes all pages of a list.
    // spec: CACHE-10
    pub(crate) fn forget_list(&self, server: ServerIdentity, method: Method) {
        self.entries
            .lock()
            .remove_stale(|key| key.server == server && key.method == method);
    }
}

fn lists_resources(method: Method) -> bool {
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
    map: HashMap<CacheKey, CacheEntry>,
    bytes: usize,
    /// Counts uses, for the eviction of the least recently used entry.
    uses: u64,
    /// Counts invalidations. A result that was requested before an invalidation is not stored.
    epoch: u64,
}

struct CacheEntry {
    body: ResultBody,
    expires: Instant,
    bytes: usize,
    last_used: u64,
}

impl Entries {
    fn remove_stale(&mut self, is_stale: impl Fn(&CacheKey) -> bool) {
        self.epoch += 1;
        self.map.retain(|key, _| !is_stale(key));
        self.bytes = self.map.values().map(|entry| entry.bytes).sum();
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.map.remove(key) {
            self.bytes -= entry.bytes;
        }
    }

    /// Returns a fresh result and the length of its message.
    fn get(&mut self, key: &CacheKey) -> Option<(ResultBody, usize)> {
        let used = self.next_use();
        let entry = self.map.get_mut(key)?;
        if entry.expires <= Instant::now() {
            self.remove(key);
            return None;
        }
        entry.last_used = used;
        let mut body = entry.body.clone();
        if let ResultBody::Raw(result) = &mut body
            && let Some(cache) = &mut result.cache
        {
            let remaining = entry.expires.saturating_duration_since(Instant::now());
            cache.ttl = cache.ttl.min(remaining);
        }
        Some((body, entry.bytes))
    }

    fn put(&mut self, key: CacheKey, mut entry: CacheEntry, max_bytes: usize) {
        self.remove(&key);
        while self.bytes + entry.bytes > max_bytes || self.map.len() >= Cache::MAX_ENTRIES {
            let oldest = self.map.iter().min_by_key(|(_, entry)| entry.last_used);
            let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            self.remove(&oldest);
        }
        entry.last_used = self.next_use();
        self.bytes += entry.bytes;
        self.map.insert(key, entry);
    }

    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }
}

/// The identity of a result.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CacheKey {
    server: ServerIdentity,
    /// The principal of a private result. `None` for a public one.
    owner: Option<Box<str>>,
    method: Method,
    /// The cursor or the URI.
    param: Option<Box<str>>,
}

impl CacheKey {
    /// Returns whether this is the content of a resource whose URI satisfies `predicate`.
    fn is_resource(&self, predicate: impl Fn(&str) -> bool) -> bool {
        self.method == Method::ReadResource && self.param.as_deref().is_some_and(predicate)
    }

    fn matches(&self, filter: &SubscriptionFilter) -> bool {
        (filter.tools_list_changed && self.method == Method::ListTools)
            || (filter.prompts_list_changed && self.method == Method::ListPrompts)
            || (filter.resources_list_changed && lists_resources(self.method))
            || self.is_resource(|uri| filter.covering(uri).is_some())
    }
}

/// The place of one call's result in the cache.
pub(crate) struct CacheSlot {
    cache: Cache,
    key: CacheKey,
    owner: Box<str>,
    /// The call has options that may change the result. Even a public result is then not shared.
    has_options: bool,
    epoch: u64,
}

impl Cache {
    /// Returns the place for the result of `request`, or `None` when it cannot be cached. `options`
    /// stands for the options of the call that may change the result.
    pub(crate) fn slot(
        &self,
        server: ServerIdentity,
        principal: &str,
        request: &ClientRequest,
        options: &str,
    ) -> Option<CacheSlot> {
        let ClientRequest::Call(call) = request else {
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
        Some(CacheSlot {
            key: CacheKey {
                server,
                owner: None,
                // spec: CACHE-03
                method: call.method()?,
                param,
            },
            // The length separates the two parts unambiguously.
            owner: format!("{}:{principal}{options}", principal.len()).into(),
            has_options: !options.is_empty(),
            epoch: self.entries.lock().epoch,
            cache: self.clone(),
        })
    }
}

impl CacheSlot {
    fn key(&self, scope: CacheScope) -> CacheKey {
        let mut key = self.key.clone();
        let is_shared = scope == CacheScope::Public && !self.has_options;
        // spec: CACHE-08
        key.owner = (!is_shared).then(|| self.owner.clone());
        key
    }

    /// Returns the result and the length of its message, if a fresh one is cached.
    pub(crate) fn get(&self) -> Option<(ResultBody, usize)> {
        let mut entries = self.cache.entries.lock();
        let own = entries.get(&self.key(CacheScope::Private));
        own.or_else(|| entries.get(&self.key(CacheScope::Public)))
    }

    /// Stores a result whose message has `bytes` bytes.
    pub(crate) fn put(&self, body: &ResultBody, hint: CacheHint, bytes: usize) {
        if hint.ttl.is_zero() || bytes > self.cache.max_bytes {
            return;
        }
        let entry = CacheEntry {
            body: body.clone(),
            expires: deadline_after(hint.ttl),
            bytes,
            last_used: 0,
        };
        let mut entries = self.cache.entries.lock();
        if entries.epoch == self.epoch {
            entries.put(self.key(hint.scope), entry, self.cache.max_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcp_core::{Call, ClientRequest, ResultBody, ServerIdentity};
    use mcp_types::{
        CacheHint, CallToolParams, Cursor, Method, Page, ReadResourceParams, SubscriptionFilter,
    };

    use super::{Cache, CacheSlot};
    use crate::notifications::Change;

    const HOUR: Duration = Duration::from_secs(3600);

    fn tools() -> ClientRequest {
        Call::ListTools(Page::default()).into()
    }

    fn read(uri: &str) -> ClientRequest {
        Call::ReadResource(ReadResourceParams::from(uri)).into()
    }

    fn server(name: &str) -> ServerIdentity {
        ServerIdentity::from_parts("test", [name])
    }

    fn slot(cache: &Cache, request: &ClientRequest) -> CacheSlot {
        cache.slot(server("server"), "ada", request, "").unwrap()
    }

    fn put(cache: &Cache, request: &ClientRequest, bytes: usize) {
        let hint = CacheHint::private(HOUR);
        slot(cache, request).put(&ResultBody::Empty, hint, bytes);
    }

    fn has(cache: &Cache, request: &ClientRequest) -> bool {
        slot(cache, request).get().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn entry_after_ttl_is_removed() {
        let cache = Cache::default();
        put(&cache, &tools(), 1);
        tokio::time::advance(HOUR - Duration::from_millis(1)).await;
        assert!(has(&cache, &tools()));
        tokio::time::advance(Duration::from_millis(1)).await;
        assert!(!has(&cache, &tools()));
        assert_eq!(format!("{cache:?}"), "Cache { entries: 0, bytes: 0, .. }");
        slot(&cache, &tools()).put(&ResultBody::Empty, CacheHint::default(), 1);
        assert!(!has(&cache, &tools()));
        let forever = CacheHint::private(Duration::MAX);
        slot(&cache, &tools()).put(&ResultBody::Empty, forever, 1);
        assert!(has(&cache, &tools()));
    }

    // spec: CACHE-03
    #[tokio::test]
    async fn entries_differ_by_page_and_resource() {
        let cache = Cache::default();
        put(&cache, &tools(), 1);
        put(&cache, &read("file:///a"), 1);
        for other in [
            Call::ListTools(Page::from(Cursor::new("2"))).into(),
            Call::ListPrompts(Page::default()).into(),
            read("file:///b"),
        ] {
            assert!(!has(&cache, &other), "{other:?}");
        }
        let call = ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
        for request in [call, ClientRequest::Discover] {
            assert!(cache.slot(server("server"), "ada", &request, "").is_none());
        }
    }

    // spec: CACHE-08
    #[tokio::test]
    async fn private_entries_differ_by_principal_and_options() {
        let cache = Cache::default();
        let at = |name: &str, principal: &str, options: &str| {
            let found = cache.slot(server(name), principal, &tools(), options);
            found.unwrap()
        };
        let others = [
            ("server", "bob", ""),
            ("other", "ada", ""),
            ("server", "ada", "x-tenant: 1"),
            ("server", "ad", "a"),
        ];
        at("server", "ada", "").put(&ResultBody::Empty, CacheHint::private(HOUR), 1);
        for (server, principal, options) in others {
            assert!(
                at(server, principal, options).get().is_none(),
                "{server} {principal} {options}"
            );
        }
        at("server", "ada", "").put(&ResultBody::Empty, CacheHint::public(HOUR), 1);
        let shared = others.map(|(server, who, options)| at(server, who, options).get().is_some());
        assert_eq!(shared, [true, false, false, false]);
        // A public result of a call with options is not shared.
        cache.clear();
        at("server", "ada", "x-tenant: 1").put(&ResultBody::Empty, CacheHint::public(HOUR), 1);
        assert!(at("server", "ada", "x-tenant: 1").get().is_some());
        assert!(at("server", "ada", "").get().is_none());
    }

    #[tokio::test]
    async fn full_cache_evicts_least_recently_used() {
        let cache = Cache::new(100);
        for uri in ["a", "b", "c"] {
            put(&cache, &read(uri), 30);
        }
        assert!(has(&cache, &read("a")));
        put(&cache, &read("d"), 40);
        let kept = ["a", "b", "c", "d"].map(|uri| has(&cache, &read(uri)));
        assert_eq!(kept, [true, false, true, true]);
        put(&cache, &read("huge"), 101);
        put(&cache, &read("a"), 20);
        assert_eq!(format!("{cache:?}"), "Cache { entries: 3, bytes: 90, .. }");
        let small = Cache::default();
        for number in 0..=Cache::MAX_ENTRIES {
            put(&small, &read(&number.to_string()), 1);
        }
        assert!(!has(&small, &read("0")) && has(&small, &read("1")));
        let none = Cache::new(0);
        put(&none, &tools(), 1);
        assert!(!has(&none, &tools()));
    }

    #[tokio::test]
    async fn changes_invalidate_matching_entries() {
        let prompts: ClientRequest = Call::ListPrompts(Page::default()).into();
        let resources: ClientRequest = Call::ListResources(Page::default()).into();
        let templates: ClientRequest = Call::ListResourceTemplates(Page::default()).into();
        let all = [
            tools(),
            prompts,
            resources,
            templates,
            read("file:///a"),
            read("file:///b"),
        ];
        let resource = |uri: &str| Change::Resource {
            uri: uri.to_owned(),
        };
        let missed = SubscriptionFilter::new()
            .prompts_changed()
            .resource("file:///a");
        for (change, left) in [
            (Change::Tools, [false, true, true, true, true, true]),
            (Change::Prompts, [true, false, true, true, true, true]),
            (Change::Resources, [true, true, false, false, true, true]),
            (resource("file:///a"), [true, true, true, true, false, true]),
            (
                Change::Missed(missed),
                [true, false, true, true, false, true],
            ),
        ] {
            let cache = Cache::default();
            all.iter().for_each(|request| put(&cache, request, 1));
            cache.invalidate(server("other"), &change);
            assert!(all.iter().all(|request| has(&cache, request)));
            cache.invalidate(server("server"), &change);
            let kept: Vec<_> = all.iter().map(|request| has(&cache, request)).collect();
            assert_eq!(kept, left, "{change:?}");
        }
        let cache = Cache::default();
        put(&cache, &tools(), 1);
        cache.forget_list(server("server"), Method::ListTools);
        assert!(!has(&cache, &tools()));
    }

    #[tokio::test]
    async fn put_after_invalidation_stores_nothing() {
        let cache = Cache::default();
        let before = slot(&cache, &tools());
        cache.invalidate(server("server"), &Change::Tools);
        before.put(&ResultBody::Empty, CacheHint::private(HOUR), 1);
        assert!(!has(&cache, &tools()));
    }
}
