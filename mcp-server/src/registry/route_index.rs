//! The index by which routes of one kind are looked up and listed.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::{Fault, Listing, Reply, catch_panic_sync};
use mcp_types::{CacheHint, CacheScope, Page};

use super::cursor;
use super::listed::Listed;
use super::route_list::RouteList;
use crate::caller::Caller;

/// A page that is built and serialized at its first request.
type CachedPage<R> = OnceLock<Arc<Listing<<R as Listed>::Page>>>;

/// The enabled routes of one kind. Immutable: a change builds a new index.
pub(crate) struct RouteIndex<R: Listed> {
    /// Routes with their registration numbers, in the order of registration.
    routes: Vec<(u64, R)>,
    /// Keys come from the server's author, so the hash need not resist chosen keys.
    by_key: HashMap<Box<str>, usize, foldhash::fast::RandomState>,
    pub(super) page_size: usize,
    /// Pages of the list, used if all callers see the same routes.
    pages: Box<[CachedPage<R>]>,
    /// True if different callers see different routes.
    pub(super) is_filtered: bool,
    /// True if a route requires scopes.
    pub(super) has_scopes: bool,
    /// True if lists omit routes whose scopes the caller lacks.
    by_scope: bool,
    cache: Option<CacheHint>,
}

impl<R: Listed> RouteIndex<R> {
    /// The index of a list's enabled routes. Of several routes with one key it keeps the first;
    /// `Server::check` reports the others.
    pub(super) fn new(list: &RouteList<R>, page_size: usize) -> Self {
        let mut routes = Vec::with_capacity(list.len());
        let mut by_key = HashMap::with_capacity_and_hasher(list.len(), Default::default());
        for (number, route) in list.enabled() {
            if !by_key.contains_key(route.key()) {
                by_key.insert(route.key().into(), routes.len());
                routes.push((number, route.clone()));
            }
        }
        let pages = routes.len().div_ceil(page_size).max(1);
        let is_filtered = routes.iter().any(|(_, route)| route.scope().is_filtered());
        let mut all = routes.iter().map(|(_, route)| route);
        let has_scopes = all.any(|route| !route.scope().required_scopes.is_empty());
        Self {
            has_scopes,
            by_scope: list.by_scope && has_scopes,
            routes,
            by_key,
            page_size,
            pages: std::iter::repeat_with(OnceLock::new).take(pages).collect(),
            is_filtered,
            cache: list.cache,
        }
    }

    /// Returns whether the list depends on the caller.
    fn is_list_filtered(&self) -> bool {
        self.is_filtered || self.by_scope
    }

    /// Returns a route by its key, regardless of visibility.
    pub(crate) fn get(&self, key: &str) -> Option<&R> {
        let (_, route) = self.routes.get(*self.by_key.get(key)?)?;
        Some(route)
    }

    /// Returns all routes, regardless of visibility.
    pub(super) fn iter(&self) -> impl Iterator<Item = &R> {
        self.routes.iter().map(|(_, route)| route)
    }

    /// Returns a route by its key if the caller may see it.
    pub(crate) fn find(&self, key: &str, caller: &Caller<'_>) -> Option<&R> {
        self.get(key).filter(|route| self.is_visible(route, caller))
    }

    /// Returns whether the caller may see a route. A panic of a filter hides the route.
    pub(super) fn is_visible(&self, route: &R, caller: &Caller<'_>) -> bool {
        if !self.is_filtered {
            return true;
        }
        let filtered = catch_panic_sync(|| route.scope().is_visible_to(caller));
        filtered.unwrap_or_else(|panic| {
            tracing::error!(of = route.key(), panic = %mcp_types::escaped(&panic), "filter panicked");
            false
        })
    }

    /// Returns a page of the list, in the order of registration. Equal lists have equal pages.
    // spec: TOOL-03, TOOL-04, PAG-01, PAG-05, CACHE-01, CACHE-11
    pub(crate) fn list(&self, page: &Page, caller: &Caller<'_>) -> Reply {
        let start = match self.start(page) {
            Ok(start) => start,
            Err(fault) => return fault.into(),
        };
        let listing = if self.is_list_filtered() {
            Arc::new(Listing::new(self.page(start, caller)))
        } else {
            self.cached_page(start, caller)
        };
        Reply::Complete {
            body: R::body(listing),
            cache: self.cache_hint(),
        }
    }

    /// Returns a page of the list that is not cached.
    ///
    /// # Errors
    ///
    /// Returns the fault for an unknown cursor.
    pub(super) fn uncached_page(&self, page: &Page, caller: &Caller<'_>) -> Result<R::Page, Fault> {
        Ok(self.page(self.start(page)?, caller))
    }

    /// Returns the index of a page's first route.
    fn start(&self, page: &Page) -> Result<usize, Fault> {
        let Some(cursor) = &page.cursor else {
            return Ok(0);
        };
        let after = cursor::read(R::KIND, cursor).ok_or_else(unknown_cursor)?;
        Ok(self.routes.partition_point(|(number, _)| *number <= after))
    }

    /// Returns the cache hint of a list that depends on the caller.
    // spec: CACHE-12
    pub(super) fn private_cache_hint(&self) -> Option<CacheHint> {
        self.cache.map(|mut cache| {
            cache.scope = CacheScope::Private;
            cache
        })
    }

    /// Returns the list's cache hint; always private if the list depends on the caller.
    // spec: CACHE-12
    fn cache_hint(&self) -> Option<CacheHint> {
        if self.is_list_filtered() {
            self.private_cache_hint()
        } else {
            self.cache
        }
    }

    /// Returns the page from `start`. Pages at multiples of the page size are built once; a cursor
    /// from before a change may start a page elsewhere.
    fn cached_page(&self, start: usize, caller: &Caller<'_>) -> Arc<Listing<R::Page>> {
        let build = || Arc::new(Listing::new(self.page(start, caller)));
        let slot = match start % self.page_size {
            0 => self.pages.get(start / self.page_size),
            _ => None,
        };
        slot.map_or_else(build, |slot| slot.get_or_init(build).clone())
    }

    fn page(&self, start: usize, caller: &Caller<'_>) -> R::Page {
        let mut items = Vec::new();
        let mut last = 0;
        for (number, route) in self.routes.iter().skip(start) {
            let is_permitted =
                !self.by_scope || route.scope().required_scopes.are_granted_to(caller);
            if !route.is_listed() || !is_permitted || !self.is_visible(route, caller) {
                continue;
            }
            if items.len() == self.page_size {
                return R::page(items, Some(cursor::write(R::KIND, last)));
            }
            items.push(route.item().clone());
            last = *number;
        }
        R::page(items, None)
    }
}

// spec: PAG-05
fn unknown_cursor() -> Fault {
    Fault::bad_params("`params.cursor`: unknown cursor; start again without one")
}

impl<R: Listed> fmt::Debug for RouteIndex<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_key.keys()).finish()
    }
}
