//! URI templates: resource families.

use std::fmt;
use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mcp_core::{BoxFuture, Fault, Reply};
use mcp_types::{CacheHint, JsonObject, RawObject, ResourceTemplate};

use super::choices::Choices;
use super::completion::CompletionRoute;
use super::resource::{ResourceExt, ResourceHandler};
use super::resource_list::{ListTarget, lister};
use super::scope::{RouteHandler, RouteScope, route_setters};
use super::uri_template::{UriTemplate, Variables};
use crate::call::{CallContext, RouteSpec};
use crate::handler::{CompletionHandler, ListHandler, ReadHandler};
use crate::schema::required as required_names;

/// A URI template with its handler. Created by [`ResourceExt::read`] or by the macros.
///
/// The URI of a request determines the values of the template's variables; the handler receives them
/// as [`Args`](crate::Args). Values cannot escape from a directory that the handler appends them to:
/// `..` segments, absolute paths, NUL and `\` match no template in any encoding, and `{name}` matches
/// no `/`; [`encoded_slashes`](Self::encoded_slashes) permits an encoded one. If several templates match, the
/// one that was registered first is used. Encoded and plain forms of a character are the same in the
/// template's text: `caf%C3%A9` matches `café`.
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
    pub(crate) choices: Arc<Choices>,
    pub(crate) completions: Vec<CompletionRoute>,
    handler: Arc<ResourceHandler>,
    /// Computes the resources of the template for `resources/list`.
    lister: Option<RouteHandler<ListTarget>>,
    /// The list's requirements.
    list_spec: Arc<RouteSpec>,
    cache: Option<CacheHint>,
    /// A warning about its list was logged.
    pub(crate) has_warned: Arc<AtomicBool>,
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
    route_setters! { "template": layer, visible_to, scopes, cache }

    /// Adds a variable completion. It comes and goes with the template, also in a running server.
    /// Variables whose type is an enum need none: the server suggests the values of the enum.
    #[must_use]
    pub fn completion<M, H: CompletionHandler<M>>(
        mut self,
        variable: impl Into<String>,
        handler: H,
    ) -> Self {
        let route = CompletionRoute::template(&self.template.uri_template, variable, handler);
        self.completions.push(route);
        self
    }

    /// Lets variables take an encoded slash: with `encoded_slashes(["branch"])`, `git://{branch}/log` matches
    /// `git://fix%2F7/log`, and the value is `fix/7`. By default such a URI matches no template. Values
    /// with `..`, `\`, control characters or a slash at their start stay refused.
    ///
    /// Each one is a variable of a single segment, `{name}` or `{/name}`; [`Server::check`](crate::Server::check)
    /// reports others.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Log {
    ///     branch: String,
    /// }
    ///
    /// let log = ResourceTemplate::new("git://{branch}/log")
    ///     .read(|Args(log): Args<Log>| format!("commits of {}", log.branch))
    ///     .encoded_slashes(["branch"]);
    /// let server = Server::new("git", "1.0.0").template(log);
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn encoded_slashes<I: IntoIterator<Item: Into<String>>>(mut self, variables: I) -> Self {
        if let Some(pattern) = &mut self.pattern {
            let pattern = Arc::make_mut(pattern);
            variables
                .into_iter()
                .for_each(|name| pattern.permit_slashes(name.into()));
        }
        self
    }

    /// Returns why variables cannot take slashes.
    pub(crate) fn slash_problems(&self) -> Vec<String> {
        let names = self
            .pattern
            .iter()
            .flat_map(|pattern| pattern.misplaced_slashes());
        let problem =
            |name| format!("`{name}` in `encoded_slashes` is not a variable of one segment");
        names.map(problem).collect()
    }

    pub(crate) fn new(template: ResourceTemplate, mut handler: ResourceHandler) -> Self {
        let pattern = UriTemplate::parse(&template.uri_template);
        let spec = &mut handler.spec;
        let choices = Choices::from_schema(spec.input_schema.as_ref());
        match &pattern {
            Ok(pattern) => check_arguments(spec, pattern),
            Err(problem) => spec.problem(problem.as_str()),
        }
        Self {
            template: Arc::new(template),
            pattern: pattern.ok().map(Arc::new),
            choices: Arc::new(choices),
            completions: Vec::new(),
            handler: Arc::new(handler),
            lister: None,
            list_spec: Arc::default(),
            cache: None,
            has_warned: Arc::default(),
            scope: RouteScope::default(),
        }
    }

    /// Lists the template's resources: a function of extractors, `async` or not, that returns the
    /// resources which the caller may read. `resources/list` calls it for every request, after the
    /// resources that are routes, inside the template's layers. Resources without a MIME type have that of the
    /// template.
    ///
    /// The lists of several templates follow each other in registration order, each on its own
    /// pages. The server divides a `Vec` into pages of
    /// [`Server::page_size`](crate::Server::page_size); a function with long lists takes
    /// [`PageCursor`](crate::PageCursor) and returns one page as
    /// [`ResourceList`](crate::ResourceList).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::{
    ///     Args, Identity, Resource, ResourceError, ResourceExt, ResourceTemplate, Server,
    /// };
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Note {
    ///     id: u64,
    /// }
    ///
    /// async fn list_notes(Identity(who): Identity) -> Result<Vec<Resource>, ResourceError> {
    ///     Ok(vec![Resource::new("note://7").title(format!("First note of {}", who.subject))])
    /// }
    ///
    /// let notes = ResourceTemplate::new("note://{id}")
    ///     .read(|Args(note): Args<Note>| format!("note {}", note.id))
    ///     .list(list_notes);
    /// let server = Server::new("notes", "1.0.0").template(notes);
    /// server.check()?;
    /// # Ok::<(), mcp::SetupError>(())
    /// ```
    #[must_use]
    pub fn list<M, H: ListHandler<M>>(mut self, handler: H) -> Self {
        let mut spec = RouteSpec::default();
        let mime_type = self.template.mime_type.clone();
        self.lister = Some(lister(handler, mime_type, &mut spec));
        self.list_spec = Arc::new(spec);
        self
    }

    pub(crate) fn has_list(&self) -> bool {
        self.lister.is_some()
    }

    /// Computes a page of the list.
    pub(crate) fn call_list(
        &self,
        call: CallContext,
        target: ListTarget,
    ) -> BoxFuture<'static, Reply> {
        self.scope
            .run(call, self, |route, call| match &route.lister {
                Some(lister) => lister(call, target),
                // Only routes with a list are called.
                None => Box::pin(ready(Fault::internal("the template has no list").into())),
            })
    }

    /// The template as it is listed.
    pub(crate) fn template(&self) -> &ResourceTemplate {
        &self.template
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.handler.spec
    }

    /// The list's requirements.
    pub(crate) fn list_spec(&self) -> &RouteSpec {
        &self.list_spec
    }

    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let mut variables = self.pattern.iter().flat_map(|pattern| pattern.variables());
        variables.any(|variable| variable == name)
    }

    /// Returns the variable values, if the template matches.
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        self.pattern.as_ref()?.matches(uri)
    }

    /// Returns the variable whose value keeps the template from matching, and the reason.
    pub(crate) fn refused(&self, uri: &str) -> Option<(Box<str>, &'static str)> {
        self.pattern.as_ref()?.refused(uri)
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
        // Serializing an object of strings cannot fail.
        let variables = RawObject::from_value(&variables).unwrap_or_default();
        call.set_variables(variables);
        self.scope.run(call, self, |route, call| {
            (route.handler.read)(call, route.cache)
        })
    }
}

/// Reports required arguments that are not variables: they would never have a value.
fn check_arguments(spec: &mut RouteSpec, pattern: &UriTemplate) {
    let required = spec.input_schema.iter();
    let required = required.flat_map(|schema| required_names(schema.json()));
    let unknown = required.filter(|name| !pattern.variables().any(|variable| variable == *name));
    let unknown =
        unknown.map(|name| format!("the argument `{name}` is not a variable of the template"));
    let unknown: Vec<String> = unknown.collect();
    spec.problems.extend(unknown);
}

impl fmt::Debug for TemplateRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateRoute")
            .field("template", &self.template.uri_template)
            .finish_non_exhaustive()
    }
}
