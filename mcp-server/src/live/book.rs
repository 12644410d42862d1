//! What an author has given to a server.

use std::sync::{Arc, Weak};

use mcp_core::{Changes, MemoryBus, ServerProfile};
use mcp_types::{CacheHint, ExtraFields, Implementation, ProtocolVersion, ServerCapabilities};

use super::{Live, MakeOthers};
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
    /// How what is served beside tools is made, where a handle was taken for it.
    pub(crate) others: Option<MakeOthers>,
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
            Changes::from(Arc::new(MemoryBus::new())).visibility(move |uri, facts, extensions| {
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
            others: None,
            edits: Edits::default(),
            changes,
        }
    }

    pub(crate) fn add(&mut self, routes: Routes) {
        let routes = routes.bound();
        self.tools.extend(routes.tools);
        self.resources.extend(routes.resources);
        self.templates.extend(routes.templates);
        self.prompts.extend(routes.prompts);
        self.completions.extend(routes.completions);
    }

    /// Looks at what the extractors of all handlers need.
    fn each_spec(&self, look: &mut dyn FnMut(&RouteSpec)) {
        self.tools.iter().for_each(|route| look(route.spec()));
        self.resources.iter().for_each(|route| look(route.spec()));
        self.templates.iter().for_each(|route| look(route.spec()));
        self.prompts.iter().for_each(|route| look(route.spec()));
        self.completions.iter().for_each(|route| look(route.spec()));
    }

    /// What is going to change: what handles were taken for, by the program or by its handlers.
    pub(super) fn all_edits(&self) -> Edits {
        let mut edits = self.edits;
        self.each_spec(&mut |spec| edits.add(spec.edits));
        edits
    }

    /// How what is served beside tools is made, where anything is or may be.
    pub(super) fn all_others(&self) -> Option<MakeOthers> {
        let mut others = self.others;
        self.each_spec(&mut |spec| others = others.or(spec.others));
        others
    }

    fn logs(&self) -> bool {
        let mut logs = false;
        self.each_spec(&mut |spec| logs |= spec.logs);
        logs
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
        offers.completions = self.completes().then(ExtraFields::default);
        offers.logging = self.logs().then(ExtraFields::default);
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
