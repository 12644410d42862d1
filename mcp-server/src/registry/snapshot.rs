//! An immutable version of a server's routes.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::{Changes, ParamHeaders, ServerProfile};

use super::config::ServerConfig;
use super::listed::ListKind;
use super::methods::MethodIndex;
use super::route_index::RouteIndex;
use crate::call::ServerContext;
use crate::change_kinds::ChangeKinds;
use crate::routes::{CompletionRoute, PromptRoute, ResourceRoute, TemplateRoute, ToolRoute};

/// The routes of a server at one moment. A change replaces the registry; calls finish with the one
/// that they started with.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) context: Arc<ServerContext>,
    pub(crate) tools: Arc<RouteIndex<ToolRoute>>,
    pub(super) header_plans: HeaderPlans,
    pub(crate) resources: Arc<RouteIndex<ResourceRoute>>,
    pub(crate) templates: Arc<RouteIndex<TemplateRoute>>,
    pub(crate) prompts: Arc<RouteIndex<PromptRoute>>,
    pub(super) completions: Arc<[CompletionRoute]>,
    pub(crate) methods: Arc<MethodIndex>,
    /// Kinds of changes that handles outside handlers can cause.
    pub(super) handle_kinds: ChangeKinds,
    pub(crate) changes: Changes,
}

/// Arguments that are mirrored in HTTP headers, by tool. Few servers have such tools, and a lookup
/// in an empty map costs nothing.
type HeaderPlans = Arc<HashMap<Box<str>, Arc<ParamHeaders>>>;

fn header_plans(tools: &RouteIndex<ToolRoute>) -> HeaderPlans {
    let plans = tools.iter().filter_map(|route| {
        let plan = route.param_headers()?;
        Some((route.tool().name.as_str().into(), Arc::clone(plan)))
    });
    Arc::new(plans.collect())
}

impl Registry {
    pub(super) fn new(config: &ServerConfig) -> Self {
        let page_size = config.page_size;
        let tools = RouteIndex::new(&config.tools, page_size);
        let capabilities = config.current_capabilities();
        Self {
            methods: Arc::new(MethodIndex::new(config, &capabilities)),
            profile: Arc::new(config.profile(capabilities)),
            context: Arc::new(config.context.clone()),
            header_plans: header_plans(&tools),
            tools: Arc::new(tools),
            resources: Arc::new(RouteIndex::new(&config.resources, page_size)),
            templates: Arc::new(RouteIndex::new(&config.templates, page_size)),
            prompts: Arc::new(RouteIndex::new(&config.prompts, page_size)),
            completions: config.completions.iter().cloned().collect(),
            handle_kinds: config.handle_kinds,
            changes: config.changes.clone(),
        }
    }

    /// Returns the registry after a change of one list. Everything else is shared with this one.
    pub(super) fn with_list(&self, kind: ListKind, config: &ServerConfig) -> Self {
        let mut next = self.clone();
        let page_size = config.page_size;
        match kind {
            ListKind::Tool => {
                next.tools = Arc::new(RouteIndex::new(&config.tools, page_size));
                next.header_plans = header_plans(&next.tools);
            }
            ListKind::Resource => {
                next.resources = Arc::new(RouteIndex::new(&config.resources, page_size));
            }
            ListKind::Template => {
                next.templates = Arc::new(RouteIndex::new(&config.templates, page_size));
            }
            ListKind::Prompt => {
                next.prompts = Arc::new(RouteIndex::new(&config.prompts, page_size));
            }
        }
        let capabilities = config.current_capabilities();
        if capabilities != next.profile.capabilities {
            next.methods = Arc::new(MethodIndex::new(config, &capabilities));
            next.profile = Arc::new(config.profile(capabilities));
        }
        next
    }
}
