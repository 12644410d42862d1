//! The tools of a server, by name and in the order in which they were given.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::{Fault, Listing, Reply, ResultBody};
use mcp_types::{ListToolsResult, Page, Tool};

use super::ToolRoute;

#[derive(Debug)]
pub(crate) struct ToolSet {
    by_name: HashMap<Box<str>, ToolRoute>,
    listing: Arc<Listing<ListToolsResult>>,
}

impl ToolSet {
    /// Indexes the routes. Of two tools with one name the first one is kept; `check` of the server
    /// has told the author.
    pub(crate) fn new(routes: &[ToolRoute]) -> Self {
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
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ToolRoute> {
        self.by_name.get(name)
    }

    /// The whole list: always the same text, in the order of registration.
    // spec: TOOL-03, TOOL-04, PAG-05
    pub(crate) fn list(&self, page: &Page) -> Reply {
        if page.cursor.is_some() {
            return Fault::bad_params("`params.cursor`: unknown cursor; start again without one")
                .into();
        }
        ResultBody::ListTools(self.listing.clone()).into()
    }
}
