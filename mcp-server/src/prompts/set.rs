//! The prompts of a server, by name and in the order in which they were given.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use mcp_core::{Listing, Reply, ResultBody};
use mcp_types::{CacheHint, ListPromptsResult, Page, Prompt};

use super::PromptRoute;
use crate::listing::listed;

#[derive(Debug)]
pub(crate) struct PromptSet {
    by_name: HashMap<Box<str>, PromptRoute>,
    listing: Arc<Listing<ListPromptsResult>>,
    cache: Option<CacheHint>,
}

impl PromptSet {
    /// Indexes the routes. Of two prompts with one name the first one is kept; `check` of the
    /// server has told the author.
    pub(crate) fn new(routes: &[PromptRoute], cache: Option<CacheHint>) -> Self {
        let mut by_name = HashMap::with_capacity(routes.len());
        let mut prompts: Vec<Prompt> = Vec::with_capacity(routes.len());
        for route in routes {
            if let Entry::Vacant(slot) = by_name.entry(route.prompt().name.as_str().into()) {
                prompts.push(route.prompt().clone());
                slot.insert(route.clone());
            }
        }
        Self {
            by_name,
            listing: Arc::new(Listing::new(ListPromptsResult::new(prompts))),
            cache,
        }
    }

    /// There are no prompts.
    pub(crate) fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&PromptRoute> {
        self.by_name.get(name)
    }

    /// The whole list.
    // spec: PROMPT-02
    pub(crate) fn list(&self, page: &Page) -> Reply {
        listed(
            page,
            ResultBody::ListPrompts(self.listing.clone()),
            self.cache,
        )
    }
}
