//! URI templates: families of resources.

use std::fmt;
use std::sync::Arc;

use mcp_core::{BoxFuture, Reply};
use mcp_types::{CacheHint, JsonObject, RawObject, ResourceTemplate};

use super::choices::Choices;
use super::resource::{ResourceExt, ResourceHandler};
use super::scope::{RouteScope, route_setters};
use super::uri_template::{UriTemplate, Variables};
use crate::call::{CallContext, RouteSpec};
use crate::handler::ReadHandler;

/// A URI template with its handler. Created by [`ResourceExt::read`] or by the macros.
///
/// The URI of a request determines the values of the template's variables; the handler receives them
/// as [`Args`](crate::Args). Values cannot escape from a directory that the handler appends them to:
/// `..` segments, absolute paths, NUL and `\` match no template in any encoding, and `{name}` matches
/// no `/`. If several templates match, the one that was registered first is used.
///
/// | expression | matches |
/// |---|---|
/// | `{id}` | a part of one path segment |
/// | `{+path}` | several path segments; once per template |
/// | `{/a}{/b}` | whole path segments at the end of the path; each is optional with all after it |
/// | `{?a,b}` | the query, in any order; each is optional |
#[derive(Clone)]
pub struct TemplateRoute {
    template: Arc<ResourceTemplate>,
    /// `None` for a malformed template, which `Server::check` reports.
    pattern: Option<Arc<UriTemplate>>,
    choices: Arc<Choices>,
    handler: Arc<ResourceHandler>,
    cache: Option<CacheHint>,
    pub(crate) scope: RouteScope,
}

impl ResourceExt for ResourceTemplate {
    type Route = TemplateRoute;

    fn read<M, H: ReadHandler<M>>(mut self, handler: H) -> TemplateRoute {
        let handler = ResourceHandler::from_function(handler, &mut self.mime_type);
        TemplateRoute::new(self, handler)
    }
}

impl TemplateRoute {
    route_setters! { "template": layer, visible_to, cache }

    pub(crate) fn new(template: ResourceTemplate, mut handler: ResourceHandler) -> Self {
        let pattern = UriTemplate::parse(&template.uri_template);
        let spec = &mut handler.spec;
        let choices = Choices::from_schema(spec.input_schema.as_deref());
        match &pattern {
            Ok(pattern) => check_arguments(spec, pattern),
            Err(problem) => spec.problem(problem.as_str()),
        }
        Self {
            template: Arc::new(template),
            pattern: pattern.ok().map(Arc::new),
            choices: Arc::new(choices),
            handler: Arc::new(handler),
            cache: None,
            scope: RouteScope::default(),
        }
    }

    /// The template as it is listed.
    pub fn template(&self) -> &ResourceTemplate {
        &self.template
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.handler.spec
    }

    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let mut variables = self.pattern.iter().flat_map(|pattern| pattern.variables());
        variables.any(|variable| variable == name)
    }

    /// Returns the values of the variables, if the template matches.
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        self.pattern.as_ref()?.matches(uri)
    }

    pub(crate) fn call(
        &self,
        mut call: CallContext,
        variables: Variables,
    ) -> BoxFuture<'static, Reply> {
        let variables: JsonObject = variables
            .into_iter()
            .map(|(name, value)| (name.into_string(), value.into()))
            .collect();
        // The serialization of an object of strings cannot fail.
        let variables = RawObject::from_value(&variables).unwrap_or_else(|_| RawObject::empty());
        call.set_variables(variables);
        self.scope.run(call, self, |route, call| {
            route.handler.call(call, route.cache)
        })
    }
}

/// Reports required arguments that are no variables: they would never have a value.
fn check_arguments(spec: &mut RouteSpec, pattern: &UriTemplate) {
    let required = spec
        .input_schema
        .as_ref()
        .and_then(|schema| schema.get("required")?.as_array());
    let unknown: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str())
        .filter(|name| !pattern.variables().any(|variable| variable == *name))
        .map(|name| format!("the argument `{name}` is no variable of the template"))
        .collect();
    spec.problems.extend(unknown);
}

impl fmt::Debug for TemplateRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateRoute")
            .field("template", &self.template.uri_template)
            .finish_non_exhaustive()
    }
}
