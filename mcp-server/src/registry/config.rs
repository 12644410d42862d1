//! Server settings and routes, as the author edits them.

use std::sync::{Arc, Once};

use mcp_core::extension::Registration;
use mcp_core::{Changes, MemoryBus, ServerProfile};
use mcp_types::{CacheHint, ExtraFields, Implementation, ProtocolVersion, ServerCapabilities};

use super::listed::Listed;
use super::route_list::RouteList;
use crate::call::{RouteSpec, ServerContext};
use crate::change_kinds::ChangeKinds;
use crate::extension::{MethodRoute, RawExtension, SetupParts};
use crate::request_state::Sealer;
use crate::routes::{
    CompletionRoute, PromptRoute, ResourceRoute, Routes, TemplateRoute, ToolRoute,
};

/// The protocol's own capabilities, which extensions cannot publish.
const OWN_CAPABILITIES: [&str; 8] = [
    "tools",
    "resources",
    "prompts",
    "completions",
    "logging",
    "tasks",
    "extensions",
    "experimental",
];

/// Server settings and routes.
#[derive(Debug)]
pub(crate) struct ServerConfig {
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    /// The offered revisions, newest first.
    pub(crate) revisions: Vec<ProtocolVersion>,
    /// Time that clients may cache the result of `server/discover`.
    pub(crate) discover_cache: CacheHint,
    /// The extensions, in the order of registration.
    pub(crate) extensions: Vec<Registration<ServerCapabilities>>,
    /// Extension methods.
    pub(crate) methods: Vec<MethodRoute>,
    /// Members of the capabilities that extensions publish.
    extra_capabilities: Vec<(&'static str, serde_json::Value)>,
    pub(crate) page_size: usize,
    pub(crate) context: ServerContext,
    pub(crate) tools: RouteList<ToolRoute>,
    pub(crate) resources: RouteList<ResourceRoute>,
    pub(crate) templates: RouteList<TemplateRoute>,
    pub(crate) prompts: RouteList<PromptRoute>,
    pub(crate) completions: Vec<CompletionRoute>,
    /// Kinds of changes that handles outside handlers can cause.
    pub(super) handle_kinds: ChangeKinds,
    pub(crate) changes: Changes,
    /// The first successful check logs the lints.
    pub(crate) lints_logged: Once,
}

impl ServerConfig {
    pub(super) fn new(info: Implementation) -> Self {
        let context = ServerContext {
            sealer: Arc::new(Sealer::new(&*info.name, None)),
            ..ServerContext::default()
        };
        Self {
            info,
            instructions: None,
            revisions: ProtocolVersion::ALL.into(),
            discover_cache: CacheHint::default(),
            extensions: Vec::new(),
            methods: Vec::new(),
            extra_capabilities: Vec::new(),
            page_size: usize::MAX,
            context,
            tools: RouteList::default(),
            resources: RouteList::default(),
            templates: RouteList::default(),
            prompts: RouteList::default(),
            completions: Vec::new(),
            handle_kinds: ChangeKinds::default(),
            changes: Changes::from(Arc::new(MemoryBus::default())),
            lints_logged: Once::new(),
        }
    }

    pub(crate) fn add_extension(&mut self, parts: SetupParts) {
        self.extensions.push(parts.registration);
        self.methods.extend(parts.methods);
        self.extra_capabilities.extend(parts.capabilities);
        for routes in parts.routes {
            self.add_routes(routes);
        }
        self.context.states.extend(parts.states);
    }

    /// Removes the extensions with these identifiers, and adds others.
    pub(crate) fn replace_raw_extensions(&mut self, removed: &[String], added: Vec<RawExtension>) {
        let is_removed = |id: &str| removed.iter().any(|other| other == id);
        self.extensions
            .retain(|extension| !is_removed(extension.id()));
        self.methods.retain(|method| !is_removed(&method.extension));
        for extension in added {
            self.extensions.push(extension.registration);
            self.methods.extend(extension.methods);
        }
    }

    /// Returns the capabilities as they are published now.
    pub(crate) fn current_capabilities(&self) -> ServerCapabilities {
        self.capabilities(self.change_kinds())
    }

    pub(crate) fn add_routes(&mut self, routes: Routes) {
        let routes = routes.bind_state();
        self.tools.extend(routes.tools);
        self.resources.extend(routes.resources);
        self.templates.extend(routes.templates);
        self.prompts.extend(routes.prompts);
        self.completions.extend(routes.completions);
    }

    fn specs(&self) -> impl Iterator<Item = &RouteSpec> {
        let tools = self.tools.iter().map(ToolRoute::spec);
        let resources = self.resources.iter().map(ResourceRoute::spec);
        let templates = self.templates.iter();
        let templates = templates.flat_map(|route| [route.spec(), route.list_spec()]);
        let prompts = self.prompts.iter().map(PromptRoute::spec);
        let completions = self.completions().map(CompletionRoute::spec);
        tools
            .chain(resources)
            .chain(templates)
            .chain(prompts)
            .chain(completions)
            .chain(self.methods.iter().map(MethodRoute::spec))
    }

    /// Returns the kinds of changes that handles in and outside handlers can cause.
    pub(super) fn change_kinds(&self) -> ChangeKinds {
        let mut kinds = self.handle_kinds;
        self.specs()
            .for_each(|spec| kinds.insert(spec.change_kinds));
        kinds
    }

    pub(super) fn profile(&self, capabilities: ServerCapabilities) -> ServerProfile {
        let mut profile = ServerProfile::new(self.info.clone());
        profile.capabilities = capabilities;
        profile.instructions.clone_from(&self.instructions);
        profile.versions.clone_from(&self.revisions);
        profile.cache = self.discover_cache;
        profile
    }

    /// Returns the capabilities that follow from the routes. A kind without routes is declared as
    /// well if a handle can add some.
    // spec: TOOL-01, RSRC-01, PROMPT-01, COMP-01, LOG-01, SUB-12
    pub(super) fn capabilities(&self, kinds: ChangeKinds) -> ServerCapabilities {
        let mut capabilities = ServerCapabilities::default();
        for registration in &self.extensions {
            let (id, settings) = registration.published();
            capabilities.extensions.insert(id, settings);
        }
        for (name, value) in &self.extra_capabilities {
            if !OWN_CAPABILITIES.contains(name) {
                capabilities.extra.insert(*name, value.clone());
            }
        }
        if kinds.tools || self.tools.has_enabled() {
            capabilities = capabilities.with_tools(kinds.tools || kinds.any);
        }
        if kinds.resources || self.resources.has_enabled() || self.templates.has_enabled() {
            capabilities = capabilities.with_resources(kinds.resources || kinds.any, kinds.any);
        }
        if kinds.prompts || self.prompts.has_enabled() {
            capabilities = capabilities.with_prompts(kinds.prompts || kinds.any);
        }
        let sends_logs = self.specs().any(|spec| spec.sends_logs);
        capabilities.completions = self.has_completions().then(ExtraFields::default);
        capabilities.logging = sends_logs.then(ExtraFields::default);
        capabilities
    }

    /// Returns the server's completions, and those of its templates and prompts.
    pub(crate) fn completions(&self) -> impl Iterator<Item = &CompletionRoute> {
        let templates = self.templates.iter();
        let templates = templates.flat_map(|route| &route.completions);
        let prompts = self.prompts.iter().flat_map(|route| &route.completions);
        self.completions.iter().chain(templates).chain(prompts)
    }

    /// Returns whether any argument has a completion: by a handler or by the values of an enum.
    fn has_completions(&self) -> bool {
        self.completions().next().is_some()
            || self.prompts.iter().any(|route| !route.choices.is_empty())
            || self.templates.iter().any(|route| !route.choices.is_empty())
    }
}

/// A kind of route that a [`ServerConfig`] has a list of.
pub(crate) trait ConfigList: Listed {
    fn list(config: &ServerConfig) -> &RouteList<Self>;

    fn list_mut(config: &mut ServerConfig) -> &mut RouteList<Self>;
}

macro_rules! config_lists {
    ($($route:ident in $field:ident;)*) => {
        $(impl ConfigList for $route {
            fn list(config: &ServerConfig) -> &RouteList<Self> {
                &config.$field
            }

            fn list_mut(config: &mut ServerConfig) -> &mut RouteList<Self> {
                &mut config.$field
            }
        })*
    };
}

config_lists! {
    ToolRoute in tools;
    ResourceRoute in resources;
    TemplateRoute in templates;
    PromptRoute in prompts;
}
