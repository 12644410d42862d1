//! The tools of a server, by name and in the order in which they were given.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::{Listing, Reply, ResultBody};
use mcp_types::{CacheHint, ListToolsResult, Page};

use super::ToolRoute;
use crate::listing::{index, listed};

#[derive(Debug)]
pub(crate) struct ToolSet {
    by_name: HashMap<Box<str>, ToolRoute>,
    listing: Arc<Listing<ListToolsResult>>,
    cache: Option<CacheHint>,
}

impl ToolSet {
    pub(crate) fn new(routes: &[ToolRoute], cache: Option<CacheHint>) -> Self {
        let (by_name, tools) = index(routes, ToolRoute::tool, |tool| &tool.name);
        Self {
            by_name,
            listing: Arc::new(Listing::new(ListToolsResult::new(tools))),
            cache,
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ToolRoute> {
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
