//! Lookup: the route of a URI, the source of a completion.

use std::sync::Arc;

use mcp_core::{Call, Fault, ItemKind, ParamHeaders, ScopedItem};
use mcp_types::{CompleteParams, Completion, CompletionReference, ReadResourceParams};

use super::listed::Listed;
use super::route_index::RouteIndex;
use super::snapshot::Registry;
use crate::caller::Caller;
use crate::routes::{
    Choices, CompletionRoute, ResourceRoute, RouteScope, TemplateRoute, Variables,
};

/// The route that reads a URI.
pub(crate) enum ResourceMatch<'a> {
    Resource(&'a ResourceRoute),
    Template(&'a TemplateRoute, Variables),
}

/// The source of suggestions for an argument.
pub(crate) enum CompletionSource<'a> {
    Route(&'a CompletionRoute),
    /// The values of an enum, or none.
    Values(Completion),
}

impl<'a> ResourceMatch<'a> {
    fn scope(&self) -> &'a RouteScope {
        match self {
            Self::Resource(route) => &route.scope,
            Self::Template(route, _) => &route.scope,
        }
    }
}

/// Returns the first route whose calls need scopes.
fn first_scoped<R: Listed>(kind: ItemKind, routes: &RouteIndex<R>) -> Option<ScopedItem> {
    if !routes.has_scopes {
        return None;
    }
    let mut routes = routes.iter();
    let route = routes.find(|route| !route.scope().required_scopes.is_empty())?;
    let scopes = route.scope().required_scopes.fixed().to_vec();
    Some(ScopedItem {
        kind,
        id: route.key().to_owned(),
        scopes,
    })
}

/// Returns the scope of the route that `caller` finds, if a route of its kind requires scopes.
fn scope_of<'a, R: Listed>(
    routes: &'a RouteIndex<R>,
    key: &str,
    caller: &Caller<'_>,
) -> Option<&'a RouteScope> {
    let routes = Some(routes).filter(|routes| routes.has_scopes)?;
    routes.find(key, caller).map(R::scope)
}

impl Registry {
    /// Finds the route that reads a URI: the resource with this URI, or the first template that
    /// matches. Returns `None` if the caller may not see that route; later templates are not tried.
    pub(crate) fn find_resource(
        &self,
        uri: &str,
        caller: &Caller<'_>,
    ) -> Option<ResourceMatch<'_>> {
        let found = self.match_uri(uri)?;
        let is_visible = match &found {
            ResourceMatch::Resource(route) => self.resources.is_visible(route, caller),
            ResourceMatch::Template(route, _) => self.templates.is_visible(route, caller),
        };
        is_visible.then_some(found)
    }

    /// Logs why no route reads a URI for the caller, if a route might be expected to.
    pub(crate) fn log_not_found(&self, uri: &str) {
        let refused = || {
            let mut templates = self.templates.iter();
            templates.find_map(|route| Some((route.key(), route.refused(uri)?)))
        };
        if self.match_uri(uri).is_some() {
            tracing::debug!("a resource was not found: the caller may not see it");
        } else if let Some((template, (variable, reason))) = refused() {
            tracing::debug!(
                template,
                variable = %mcp_types::escaped(&variable),
                reason,
                "a resource was not found: its template refuses a value"
            );
        }
    }

    /// Returns false if no route reads a URI, and no client without the server either: clients fetch `https:`
    /// themselves.
    pub(super) fn is_readable(&self, uri: &str) -> bool {
        uri.starts_with("https:") || self.match_uri(uri).is_some()
    }

    /// Returns whether the caller may learn that a URI has changed. URIs without a route are visible.
    // spec: GAP-10
    pub(super) fn is_uri_visible(&self, uri: &str, caller: &Caller<'_>) -> bool {
        let is_filtered = self.resources.is_filtered
            || self.templates.is_filtered
            || self.resources.has_scopes
            || self.templates.has_scopes;
        if !is_filtered {
            return true;
        }
        match self.find_resource(uri, caller) {
            // A change tells something about the contents.
            Some(found) => {
                let read = Call::ReadResource(ReadResourceParams::from(uri));
                found.scope().required_scopes.check(&read, caller).is_ok()
            }
            None => self.match_uri(uri).is_none(),
        }
    }

    /// Checks that a caller has the scopes for a call. Routes that it may not see have no scopes: the call
    /// is answered like that of an unknown route.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::InsufficientScope`] when it has not.
    pub(crate) fn check_scopes(&self, call: &Call, caller: &Caller<'_>) -> Result<(), Fault> {
        let scope = match call {
            Call::CallTool(params) => scope_of(&self.tools, &params.name, caller),
            Call::GetPrompt(params) => scope_of(&self.prompts, &params.name, caller),
            Call::ReadResource(params)
                if self.resources.has_scopes || self.templates.has_scopes =>
            {
                let found = self.find_resource(&params.uri, caller);
                found.map(|found| found.scope())
            }
            // Suggestions tell something about what they complete.
            Call::Complete(params) => match &params.reference {
                CompletionReference::Prompt { name } => scope_of(&self.prompts, name, caller),
                CompletionReference::Resource { uri } => scope_of(&self.templates, uri, caller),
                _ => None,
            },
            _ => None,
        };
        scope.map_or(Ok(()), |scope| scope.required_scopes.check(call, caller))
    }

    /// Returns the arguments of a call that its client repeats in headers. The route of the tool reports a
    /// mismatch, after its visibility was checked.
    pub(crate) fn header_plan(&self, call: &Call) -> Option<Arc<ParamHeaders>> {
        match call {
            Call::CallTool(params) => self.header_plans.get(&*params.name).cloned(),
            _ => None,
        }
    }

    /// Returns the first item whose calls need scopes.
    pub(crate) fn scoped_item(&self) -> Option<ScopedItem> {
        first_scoped(ItemKind::Tool, &self.tools)
            .or_else(|| first_scoped(ItemKind::Prompt, &self.prompts))
            .or_else(|| first_scoped(ItemKind::Resource, &self.resources))
            .or_else(|| first_scoped(ItemKind::Resource, &self.templates))
    }

    /// Returns the URI template that a URI is read by, regardless of visibility.
    pub(crate) fn template_of(&self, uri: &str) -> Option<&str> {
        match self.match_uri(uri)? {
            ResourceMatch::Resource(_) => None,
            ResourceMatch::Template(route, _) => Some(route.key()),
        }
    }

    fn match_uri(&self, uri: &str) -> Option<ResourceMatch<'_>> {
        if let Some(route) = self.resources.get(uri) {
            return Some(ResourceMatch::Resource(route));
        }
        self.templates.iter().find_map(|route| {
            let variables = route.matches(uri)?;
            Some(ResourceMatch::Template(route, variables))
        })
    }

    /// Finds the source of suggestions: the completion for the argument, or else its enum type's
    /// values.
    ///
    /// # Errors
    ///
    /// Returns a fault for an unknown prompt or template.
    // spec: COMP-04
    pub(crate) fn find_completion(
        &self,
        params: &CompleteParams,
        caller: &Caller<'_>,
    ) -> Result<CompletionSource<'_>, Fault> {
        let (argument, reference) = (&params.argument, &params.reference);
        let own = self.find_suggestions(reference, caller)?;
        let mut routes = self.completions.iter();
        let route = routes
            .find(|route| route.reference() == reference && route.argument() == argument.name);
        let Some((choices, completions)) = own else {
            return Ok(CompletionSource::Values(Completion::default()));
        };
        let mut completions = completions.iter();
        let route =
            route.or_else(|| completions.find(|completion| completion.argument() == argument.name));
        Ok(match route {
            Some(route) => CompletionSource::Route(route),
            None => CompletionSource::Values(choices.complete(&argument.name, &argument.value)),
        })
    }

    /// Returns the suggestions of a prompt or template. `None` for a resource.
    fn find_suggestions(
        &self,
        reference: &CompletionReference,
        caller: &Caller<'_>,
    ) -> Result<Option<(&Choices, &[CompletionRoute])>, Fault> {
        match reference {
            CompletionReference::Prompt { name } => match self.prompts.find(name, caller) {
                Some(route) => Ok(Some((&route.choices, &route.completions))),
                None => Err(Fault::bad_params(format!(
                    "`params.ref`: unknown prompt: {name}"
                ))),
            },
            CompletionReference::Resource { uri } => match self.templates.find(uri, caller) {
                Some(route) => Ok(Some((&route.choices, &route.completions))),
                // A resource has no variables, so there is nothing to complete.
                None if self.resources.find(uri, caller).is_some() => Ok(None),
                None => Err(Fault::bad_params(format!(
                    "`params.ref`: unknown resource template: {uri}"
                ))),
            },
            _ => Err(Fault::bad_params(
                "`params.ref`: expected a prompt or a resource template",
            )),
        }
    }
}
