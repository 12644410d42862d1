//! The prompts of a server, by name and in the order in which they were given.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::{Listing, Reply, ResultBody};
use mcp_types::{CacheHint, ListPromptsResult, Page};

use super::PromptRoute;
use crate::listing::{index, listed};

#[derive(Debug)]
pub(crate) struct PromptSet {
    by_name: HashMap<Box<str>, PromptRoute>,
    listing: Arc<Listing<ListPromptsResult>>,
    cache: Option<CacheHint>,
}

impl PromptSet {
    pub(crate) fn new(routes: &[PromptRoute], cache: Option<CacheHint>) -> Self {
        let (by_name, prompts) = index(routes, PromptRoute::prompt, |prompt| &prompt.name);
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
