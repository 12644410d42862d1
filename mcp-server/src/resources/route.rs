//! A resource or a template as data: what is listed, and what is called.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, ItemKind, Reply, ResultBody};
use mcp_types::{
    CacheHint, JsonObject, RawObject, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};

use super::IntoContents;
use super::template::{self, Template, Variables};
use crate::completion::Choices;
use crate::context::CallContext;
use crate::failure::{Failed, ResourceError};
use crate::guard::{self, Handled};
use crate::handler::ReadHandler;
use crate::live::Others;
use crate::spec::RouteSpec;
use crate::standing::{Standing, route_setters};

type Erased =
    Arc<dyn Fn(CallContext, Option<CacheHint>) -> BoxFuture<'static, Reply> + Send + Sync>;

/// A resource and its handler. Made by [`ResourceExt::read`] or by the macros.
#[derive(Clone)]
pub struct ResourceRoute {
    resource: Arc<Resource>,
    reader: Arc<Reader>,
    cache: Option<CacheHint>,
    pub(crate) standing: Standing,
}

/// A URI template and its handler. Made by [`ResourceExt::read`] or by the macros.
///
/// The URI that is read decides on the values of the template's variables; the handler takes them
/// as [`Args`](crate::Args). A value can never lead out of where the handler looks: `..` segments,
/// absolute paths, NUL and `\` match no template, however they are encoded, and `{name}` matches no
/// `/`. Of several templates that match, the one that was given first is read.
///
/// | expression | takes |
/// |---|---|
/// | `{id}` | a part of one path segment |
/// | `{+path}` | several path segments; once per template |
/// | `{/a}{/b}` | whole path segments at the end of the path, each may be left out with all after it |
/// | `{?a,b}` | the query, in any order, each may be left out |
#[derive(Clone)]
pub struct TemplateRoute {
    template: Arc<ResourceTemplate>,
    matcher: Option<Arc<Template>>,
    choices: Arc<Choices>,
    reader: Arc<Reader>,
    cache: Option<CacheHint>,
    pub(crate) standing: Standing,
}

/// Turns the description of a resource or of a template into a route.
///
/// # Examples
///
/// ```
/// use mcp_server::{Args, NotFound, ResourceExt, Server};
/// use mcp_types::{Resource, ResourceTemplate};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct User {
///     id: u64,
/// }
///
/// let server = Server::new("users", "1.0.0")
///     .resource(Resource::new("users://help").mime_type("text/plain").read(|| "Ask for a user."))
///     .template(ResourceTemplate::new("users://{id}/name").read(|Args(user): Args<User>| async move {
///         if user.id == 7 { Ok("Ada") } else { Err(NotFound) }
///     }));
/// server.check()?;
/// # Ok::<(), mcp_server::SetupError>(())
/// ```
pub trait ResourceExt: sealed::Sealed {
    /// What it becomes.
    type Route;

    /// Gives it its handler: a function or closure of extractors, `async` or not.
    ///
    /// What the handler returns may fill in the MIME type.
    fn read<M, H: ReadHandler<M>>(self, handler: H) -> Self::Route;
}

mod sealed {
    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Sealed {}
    impl Sealed for mcp_types::Resource {}
    impl Sealed for mcp_types::ResourceTemplate {}
}

impl ResourceExt for Resource {
    type Route = ResourceRoute;

    fn read<M, H: ReadHandler<M>>(mut self, handler: H) -> ResourceRoute {
        let reader = Reader::of(handler, &mut self.mime_type);
        ResourceRoute::new(self, reader)
    }
}

impl ResourceExt for ResourceTemplate {
    type Route = TemplateRoute;

    fn read<M, H: ReadHandler<M>>(mut self, handler: H) -> TemplateRoute {
        let reader = Reader::of(handler, &mut self.mime_type);
        TemplateRoute::new(self, reader)
    }
}

/// A handler whose types are forgotten.
pub(crate) struct Reader {
    read: Erased,
    spec: RouteSpec,
}

impl Reader {
    fn of<M, H: ReadHandler<M>>(handler: H, mime_type: &mut Option<String>) -> Self {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        Self::new::<H::Output, _, _>(spec, mime_type, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await.map_err(ResourceError::rejected)?;
                output.into_contents()
            }
        })
    }

    /// The one place where the types of a handler are forgotten; one boxed future per call.
    pub(crate) fn new<Output, F, Fut>(
        mut spec: RouteSpec,
        mime_type: &mut Option<String>,
        handler: F,
    ) -> Self
    where
        Output: IntoContents,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ReadResourceResult, ResourceError>> + Send + 'static,
    {
        if mime_type.is_none() {
            *mime_type = Output::mime_type().map(str::to_owned);
        }
        let mime_type: Option<Arc<str>> = mime_type.as_deref().map(Into::into);
        let needs = spec.needs;
        let constraints = spec.constraints.take();
        let read: Erased = Arc::new(move |mut call, cache| {
            let uri: Box<str> = match call.call() {
                Call::ReadResource(params) => params.uri.as_str().into(),
                _ => "".into(),
            };
            let mime_type = mime_type.clone();
            if let Some(fault) = constraints
                .as_ref()
                .and_then(|it| it.refuse(call.arguments()))
            {
                return Box::pin(ready(fault.into()));
            }
            let watched = call.watch(needs);
            let reading = Reading {
                uri,
                mime_type,
                cache,
            };
            guard::run(reading, watched, handler(call))
        });
        Self { read, spec }
    }
}

/// A resource that is being read.
struct Reading {
    uri: Box<str>,
    mime_type: Option<Arc<str>>,
    cache: Option<CacheHint>,
}

impl Handled for Reading {
    type Given = Result<ReadResourceResult, ResourceError>;

    #[inline]
    fn name(&self) -> &str {
        &self.uri
    }

    #[inline]
    fn reply(&self, given: Self::Given) -> Reply {
        match given {
            Ok(mut result) => {
                complete(&mut result, &self.uri, self.mime_type.as_deref());
                let body = ResultBody::ReadResource(result);
                let cache = self.cache;
                Reply::Complete { body, cache }
            }
            Err(error) => {
                let (kind, id) = (ItemKind::Resource, &*self.uri);
                error.into_fault(Failed { kind, id }).into()
            }
        }
    }
}

/// Fills in what the handler left open.
// spec: RSRC-04
#[inline]
fn complete(result: &mut ReadResourceResult, uri: &str, mime_type: Option<&str>) {
    for contents in &mut result.contents {
        let (own_uri, own_type) = match contents {
            ResourceContents::Text(text) => (&mut text.uri, &mut text.mime_type),
            ResourceContents::Blob(blob) => (&mut blob.uri, &mut blob.mime_type),
            _ => continue,
        };
        if own_uri.is_empty() {
            uri.clone_into(own_uri);
        }
        if own_type.is_none() {
            *own_type = mime_type.map(str::to_owned);
        }
    }
}

impl ResourceRoute {
    route_setters! { "resource": layer, visible_to, cache }

    #[inline]
    pub(crate) fn new(resource: Resource, mut reader: Reader) -> Self {
        reader.spec.others = Some(Others::of);
        if let Err(problem) = template::check_uri(&resource.uri) {
            reader.spec.problem(problem);
        }
        Self {
            resource: Arc::new(resource),
            reader: Arc::new(reader),
            cache: None,
            standing: Standing::default(),
        }
    }

    /// The resource as it is listed.
    #[inline]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    #[inline]
    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.reader.spec
    }

    #[inline]
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.standing.answer(call, self, |route, call| {
            (route.reader.read)(call, route.cache)
        })
    }
}

impl TemplateRoute {
    route_setters! { "template": layer, visible_to, cache }

    #[inline]
    pub(crate) fn new(template: ResourceTemplate, mut reader: Reader) -> Self {
        let matcher = Template::parse(&template.uri_template);
        let spec = &mut reader.spec;
        spec.others = Some(Others::of);
        let choices = Choices::of(spec.input_schema.as_ref());
        match &matcher {
            Ok(matcher) => check_arguments(spec, matcher),
            Err(problem) => spec.problem(problem.as_str()),
        }
        Self {
            template: Arc::new(template),
            matcher: matcher.ok().map(Arc::new),
            choices: Arc::new(choices),
            reader: Arc::new(reader),
            cache: None,
            standing: Standing::default(),
        }
    }

    /// The template as it is listed.
    #[inline]
    pub fn template(&self) -> &ResourceTemplate {
        &self.template
    }

    #[inline]
    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.reader.spec
    }

    #[inline]
    pub(crate) fn choices(&self) -> &Choices {
        &self.choices
    }

    #[inline]
    pub(crate) fn has_variable(&self, name: &str) -> bool {
        let mut variables = self.matcher.iter().flat_map(|matcher| matcher.variables());
        variables.any(|variable| variable == name)
    }

    /// The values of the variables, when the URI is one of this family.
    #[inline]
    pub(crate) fn matches(&self, uri: &str) -> Option<Variables> {
        self.matcher.as_ref()?.matches(uri)
    }

    #[inline]
    pub(crate) fn call(
        &self,
        call: CallContext,
        variables: Variables,
    ) -> BoxFuture<'static, Reply> {
        let variables: JsonObject = variables
            .into_iter()
            .map(|(name, value)| (name.into_string(), value.into()))
            .collect();
        // An object of strings is always written.
        let variables = RawObject::from_value(&variables).unwrap_or_else(|_| RawObject::empty());
        let call = call.with_variables(variables);
        self.standing.answer(call, self, |route, call| {
            (route.reader.read)(call, route.cache)
        })
    }
}

/// An argument that has to be given and is no variable never has a value.
#[inline]
fn check_arguments(spec: &mut RouteSpec, template: &Template) {
    let required = spec
        .input_schema
        .as_ref()
        .and_then(|schema| schema.get("required"));
    let required = required.and_then(|required| required.as_array());
    let unknown: Vec<String> = required
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str())
        .filter(|name| !template.variables().any(|variable| variable == *name))
        .map(|name| format!("the argument `{name}` is no variable of the template"))
        .collect();
    spec.problems.extend(unknown);
}

impl fmt::Debug for ResourceRoute {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceRoute")
            .field("uri", &self.resource.uri)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TemplateRoute {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemplateRoute")
            .field("template", &self.template.uri_template)
            .finish_non_exhaustive()
    }
}
