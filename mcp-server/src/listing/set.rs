//! The routes of a kind as they are served: never changed, only replaced.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mcp_core::{Fault, Listing, Reply};
use mcp_types::{CacheHint, CacheScope, Page};

use super::{Listed, Shelf, Sight, cursor};
use crate::caller::Caller;
use crate::guard::catch;
use crate::names::Names;

/// A page whose text is written once.
type Prepared<R> = OnceLock<Arc<Listing<<R as Listed>::Page>>>;

pub(crate) struct Set<R: Listed> {
    /// In the order of registration, with the numbers that this gave them.
    routes: Vec<(u64, R)>,
    by_key: Names,
    page_size: usize,
    /// The pages from the beginning, for lists that are the same for everybody.
    pages: Box<[Prepared<R>]>,
    sight: Option<Sight<R>>,
    /// The list depends on who asks.
    by_caller: bool,
    cache: Option<CacheHint>,
}

impl<R: Listed> Set<R> {
    /// What the shelf has in use. Of two routes with one name the first one is kept; `check` of the
    /// server has told the author.
    pub(crate) fn of(shelf: &Shelf<R>, page_size: usize) -> Self {
        let mut routes = Vec::with_capacity(shelf.len());
        let mut by_key = Names::with_capacity_and_hasher(shelf.len(), Default::default());
        for (number, route) in shelf.in_use() {
            if !by_key.contains_key(route.key()) {
                by_key.insert(route.key().into(), routes.len());
                routes.push((number, route.clone()));
            }
        }
        let pages = routes.len().div_ceil(page_size).max(1);
        let sight = shelf.sight.clone();
        let by_caller = sight.is_some() || routes.iter().any(|(_, route)| route.standing().hides());
        Self {
            routes,
            by_key,
            page_size,
            pages: std::iter::repeat_with(OnceLock::new).take(pages).collect(),
            sight,
            by_caller,
            cache: shelf.cache,
        }
    }

    /// The list depends on who asks.
    pub(crate) fn is_by_caller(&self) -> bool {
        self.by_caller
    }

    /// A route by its name or URI, whoever may see it.
    pub(crate) fn get(&self, key: &str) -> Option<&R> {
        let (_, route) = self.routes.get(*self.by_key.get(key)?)?;
        Some(route)
    }

    /// All routes, whoever may see them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        self.routes.iter().map(|(_, route)| route)
    }

    /// A route by its name or URI. What the caller may not see does not exist.
    pub(crate) fn find(&self, key: &str, caller: &Caller<'_>) -> Option<&R> {
        self.get(key).filter(|route| self.shows(route, caller))
    }

    /// The caller may see the route.
    pub(crate) fn shows(&self, route: &R, caller: &Caller<'_>) -> bool {
        if !self.by_caller {
            return true;
        }
        let sees = || {
            route.standing().shows_to(caller)
                && self
                    .sight
                    .as_ref()
                    .is_none_or(|sight| sight(caller, route.item()))
        };
        catch(route.key(), sees).unwrap_or(false)
    }

    /// A page of the list: always the same text for the same list, in the order of registration.
    // spec: TOOL-03, TOOL-04, RSRC-02, PROMPT-02, PAG-01, PAG-05, CACHE-01, CACHE-11
    #[inline(never)]
    pub(crate) fn list(&self, page: &Page, caller: &Caller<'_>) -> Reply {
        let start = match &page.cursor {
            None => 0,
            Some(cursor) => match cursor::read(R::KIND, cursor) {
                Some(after) => self.routes.partition_point(|(number, _)| *number <= after),
                None => return unknown_cursor().into(),
            },
        };
        let listing = match self.by_caller {
            true => Arc::new(Listing::new(self.page(start, caller))),
            false => self.prepared(start, caller),
        };
        Reply::Complete {
            body: R::body(listing),
            cache: self.cache(),
        }
    }

    /// What depends on who asks is nobody else's.
    // spec: CACHE-12
    fn cache(&self) -> Option<CacheHint> {
        self.cache.map(|mut cache| {
            if self.by_caller {
                cache.scope = CacheScope::Private;
            }
            cache
        })
    }

    /// The page from a place on; made once when it is one of those from the beginning.
    fn prepared(&self, start: usize, caller: &Caller<'_>) -> Arc<Listing<R::Page>> {
        let make = || Arc::new(Listing::new(self.page(start, caller)));
        let slot = match start % self.page_size {
            0 => self.pages.get(start / self.page_size),
            _ => None,
        };
        slot.map_or_else(make, |slot| slot.get_or_init(make).clone())
    }

    fn page(&self, start: usize, caller: &Caller<'_>) -> R::Page {
        let mut items = Vec::new();
        let mut last = 0;
        for (number, route) in self.routes.iter().skip(start) {
            if !self.shows(route, caller) {
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

impl<R: Listed> fmt::Debug for Set<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.by_key.keys()).finish()
    }
}
