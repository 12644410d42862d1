//! What is served.

use std::sync::Arc;

use mcp_core::{Changes, ServerProfile};

use super::Book;
use crate::checking::Checking;
use crate::completion::CompletionSet;
use crate::edits::Edits;
use crate::listing::Set;
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::state::States;
use crate::tools::ToolRoute;

/// All that serving needs, at one moment.
#[derive(Clone)]
pub(crate) struct Catalogue {
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) states: Arc<States>,
    pub(crate) checking: Arc<Checking>,
    pub(crate) tools: Arc<Set<ToolRoute>>,
    pub(crate) resources: Arc<Set<ResourceRoute>>,
    pub(crate) templates: Arc<Set<TemplateRoute>>,
    pub(crate) prompts: Arc<Set<PromptRoute>>,
    pub(crate) completions: Arc<CompletionSet>,
    pub(crate) edits: Edits,
    pub(crate) changes: Changes,
}

impl Catalogue {
    pub(crate) fn of(book: &Book) -> Self {
        let edits = book.all_edits();
        Self {
            profile: Arc::new(book.profile(book.offers(edits))),
            states: book.states.clone(),
            checking: book.checking.clone(),
            tools: Arc::new(Set::of(&book.tools, book.page_size)),
            resources: Arc::new(Set::of(&book.resources, book.page_size)),
            templates: Arc::new(Set::of(&book.templates, book.page_size)),
            prompts: Arc::new(Set::of(&book.prompts, book.page_size)),
            completions: Arc::new(CompletionSet::new(&book.completions)),
            edits,
            changes: book.changes.clone(),
        }
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue")
            .field("tools", &self.tools)
            .field("resources", &self.resources)
            .field("templates", &self.templates)
            .field("prompts", &self.prompts)
            .finish_non_exhaustive()
    }
}
