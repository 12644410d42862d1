//! The tools of a server, by name and in the order in which they were given.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::{Listing, Reply, ResultBody};
use mcp_types::{CacheHint, ListToolsResult, Page, Tool};

use super::ToolRoute;
use crate::listing::listed;

#[derive(Debug)]
pub(crate) struct ToolSet {
    by_name: HashMap<Box<str>, ToolRoute>,
    listing: Arc<Listing<ListToolsResult>>,
    cache: Option<CacheHint>,
}

impl ToolSet {
    /// Indexes the routes. Of two tools with one name the first one is kept; `check` of the server
    /// has told the author.
    pub(crate) fn new(routes: &[ToolRoute], cache: Option<CacheHint>) -> Self {
        let mut by_name = HashMap::with_capacity(routes.len());
        let mut tools: Vec<Tool> = Vec::with_capacity(routes.len());
        for route in routes {
            if let Entry::Vacant(slot) = by_name.entry(route.tool().name.as_str().into()) {
                tools.push(route.tool().clone());
                slot.insert(route.clone());
            }
        }
        Self {
            by_name,
            listing: Arc::new(Listing::new(ListToolsResult::new(tools))),
            cache,
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ToolRoute> {
        self.by_name.get(name)
    }

    /// There are no tools.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// The whole list.
    pub(crate) fn list(&self, page: &Page) -> Reply {
        listed(
            page,
            ResultBody::ListTools(self.listing.clone()),
            self.cache,
        )
    }
}
