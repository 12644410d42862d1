//! What an author has given to a server.

use std::sync::{Arc, Weak};

use mcp_core::{Changes, MemoryBus, ServerProfile};
use mcp_types::{CacheHint, Implementation, ProtocolVersion, ServerCapabilities, Settings};

use super::Live;
use crate::caller::Caller;
use crate::checking::Checking;
use crate::completion::CompletionRoute;
use crate::edits::Edits;
use crate::listing::Shelf;
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::routes::Routes;
use crate::spec::RouteSpec;
use crate::state::States;
use crate::tools::ToolRoute;

pub(crate) struct Book {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    /// How long clients may keep the answer to `server/discover`.
    // spec: CACHE-01
    pub(crate) cache: CacheHint,
    /// What the server declares beside what its routes say.
    pub(crate) declared: ServerCapabilities,
    pub(crate) page_size: usize,
    pub(crate) states: Arc<States>,
    pub(crate) checking: Arc<Checking>,
    pub(crate) tools: Shelf<ToolRoute>,
    pub(crate) resources: Shelf<ResourceRoute>,
    pub(crate) templates: Shelf<TemplateRoute>,
    pub(crate) prompts: Shelf<PromptRoute>,
    pub(crate) completions: Vec<CompletionRoute>,
    /// What handles were taken for.
    pub(crate) edits: Edits,
    pub(crate) changes: Changes,
}

impl Book {
    pub(crate) fn new(info: Implementation, live: Weak<Live>) -> Self {
        // Handles that are taken out of a call find their server so.
        let mut states = States::default();
        states.insert(live.clone());
        let changes =
            Changes::from(Arc::new(MemoryBus::new())).sight(move |uri, facts, extensions| {
                let caller = Caller::new(facts, extensions);
                live.upgrade()
                    .is_some_and(|live| live.current().shows(uri, &caller))
            });
        Self {
            info,
            instructions: None,
            cache: CacheHint::default(),
            declared: ServerCapabilities::default(),
            page_size: usize::MAX,
            states: Arc::new(states),
            checking: Arc::default(),
            tools: Shelf::default(),
            resources: Shelf::default(),
            templates: Shelf::default(),
            prompts: Shelf::default(),
            completions: Vec::new(),
            edits: Edits::default(),
            changes,
        }
    }

    pub(crate) fn add(&mut self, routes: Routes) {
        let routes = routes.bound();
        routes
            .tools
            .into_iter()
            .for_each(|route| self.tools.push(route));
        routes
            .resources
            .into_iter()
            .for_each(|route| self.resources.push(route));
        routes
            .templates
            .into_iter()
            .for_each(|route| self.templates.push(route));
        routes
            .prompts
            .into_iter()
            .for_each(|route| self.prompts.push(route));
        self.completions.extend(routes.completions);
    }

    /// What the extractors of all handlers need.
    fn specs(&self) -> impl Iterator<Item = &RouteSpec> {
        let tools = self.tools.iter().map(ToolRoute::spec);
        let resources = self.resources.iter().map(ResourceRoute::spec);
        let templates = self.templates.iter().map(TemplateRoute::spec);
        let prompts = self.prompts.iter().map(PromptRoute::spec);
        let completions = self.completions.iter().map(CompletionRoute::spec);
        tools
            .chain(resources)
            .chain(templates)
            .chain(prompts)
            .chain(completions)
    }

    /// What is going to change: what handles were taken for, by the program or by its handlers.
    pub(super) fn all_edits(&self) -> Edits {
        let mut edits = self.edits;
        self.specs().for_each(|spec| edits.add(spec.edits));
        edits
    }

    /// Something can be completed: by a handler, or by itself.
    fn completes(&self) -> bool {
        let mut prompts = self.prompts.iter().map(PromptRoute::choices);
        let mut templates = self.templates.iter().map(TemplateRoute::choices);
        !self.completions.is_empty()
            || prompts.any(|choices| !choices.is_empty())
            || templates.any(|choices| !choices.is_empty())
    }

    /// Who the server is, and what it offers.
    pub(super) fn profile(&self, offers: ServerCapabilities) -> ServerProfile {
        ServerProfile::new(self.info.clone())
            .capabilities(offers)
            .instructions(self.instructions.clone())
            .versions(ProtocolVersion::ALL)
            .cache(self.cache)
    }

    /// What the server has, and what it is going to have. It promises to tell of changes where
    /// something was taken that makes them.
    // spec: TOOL-01, RSRC-01, PROMPT-01, COMP-01, LOG-01, SUB-12
    pub(super) fn offers(&self, edits: Edits) -> ServerCapabilities {
        let mut offers = self.declared.clone();
        if edits.tools || self.tools.in_use().next().is_some() {
            offers = offers.with_tools(edits.tools || edits.any);
        }
        let reads =
            self.resources.in_use().next().is_some() || self.templates.in_use().next().is_some();
        if edits.resources || reads {
            offers = offers.with_resources(edits.resources || edits.any, edits.any);
        }
        if edits.prompts || self.prompts.in_use().next().is_some() {
            offers = offers.with_prompts(edits.prompts || edits.any);
        }
        offers.completions = self.completes().then(Settings::default);
        offers.logging = self.specs().any(|spec| spec.logs).then(Settings::default);
        offers
    }
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book")
            .field("info", &self.info)
            .field("tools", &self.tools)
            .field("resources", &self.resources)
            .field("templates", &self.templates)
            .field("prompts", &self.prompts)
            .finish_non_exhaustive()
    }
}
