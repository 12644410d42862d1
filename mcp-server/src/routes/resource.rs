//! Resources, and the resource handlers and URI templates.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/server/resources>

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use mcp_core::{BoxFuture, Call, ItemKind, Reply, ResultBody};
use mcp_types::{CacheHint, ReadResourceResult, Resource, ResourceContents};

use super::scope::sealed::Sealed;
use super::scope::{RouteHandler, RouteScope, route_setters};
use super::uri_template::check_uri;
use crate::call::{CallContext, CallTarget, RouteSpec};
use crate::handler::ReadHandler;
use crate::result::{IntoContents, ItemRef, ResourceError};

/// A resource with its handler. Created by [`ResourceExt::read`] or by the macros.
#[derive(Clone)]
pub struct ResourceRoute {
    resource: Arc<Resource>,
    handler: Arc<ResourceHandler>,
    cache: Option<CacheHint>,
    is_listed: bool,
    pub(crate) scope: RouteScope,
}

/// Extension of [`Resource`] and [`ResourceTemplate`](mcp_types::ResourceTemplate) that creates a
/// route.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
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
/// # Ok::<(), mcp::SetupError>(())
/// ```
pub trait ResourceExt: Sealed {
    /// [`ResourceRoute`] or [`TemplateRoute`](crate::TemplateRoute).
    type Route;

    /// Creates a route with a handler: a function or closure of extractors, `async` or not.
    ///
    /// The result type of the handler may determine the MIME type.
    fn read<M, H: ReadHandler<M>>(self, handler: H) -> Self::Route;
}

impl ResourceExt for Resource {
    type Route = ResourceRoute;

    fn read<M, H: ReadHandler<M>>(mut self, handler: H) -> ResourceRoute {
        let handler = ResourceHandler::from_function(handler, &mut self.mime_type);
        ResourceRoute::new(self, handler)
    }
}

/// A handler of a resource or a URI template, without its type.
pub(crate) struct ResourceHandler {
    pub(super) read: RouteHandler<Option<CacheHint>>,
    pub(super) spec: RouteSpec,
}

impl ResourceHandler {
    /// The handler from a function. Sets the MIME type if it is not set and the function's result
    /// type has one.
    pub(super) fn from_function<M, H: ReadHandler<M>>(
        handler: H,
        mime_type: &mut Option<String>,
    ) -> Self {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        Self::new::<H::Output, _, _, _>(spec, mime_type, move |call| {
            let handler = handler.clone();
            async move {
                let output = handler.call(call).await;
                output.map_err(ResourceError::from_rejection)?.into_body()
            }
        })
    }

    /// Erases the type of the handler. Each call boxes one future.
    pub(crate) fn new<Output, R, F, Fut>(
        mut spec: RouteSpec,
        mime_type: &mut Option<String>,
        handler: F,
    ) -> Self
    where
        Output: IntoContents,
        R: Into<ResultBody> + 'static,
        F: Fn(CallContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ResourceError>> + Send + 'static,
    {
        if mime_type.is_none() {
            *mime_type = Output::mime_type().map(str::to_owned);
        }
        let mime_type: Option<Arc<str>> = mime_type.as_deref().map(Into::into);
        let constraints = spec.constraints.take();
        let run = spec.runner(handler, ResourceError::from_rejection);
        let read: RouteHandler<Option<CacheHint>> = Arc::new(move |call, cache| {
            if let Some(constraints) = &constraints
                && let Err(fault) = constraints.check_strings(call.arguments())
            {
                return Box::pin(ready(fault.into()));
            }
            let uri = match call.call() {
                Call::ReadResource(params) => params.uri.as_str().into(),
                _ => "".into(),
            };
            let target = ReadTarget {
                uri,
                mime_type: mime_type.clone(),
                cache,
            };
            run(call, target)
        });
        Self { read, spec }
    }
}

/// The resource that a call reads.
struct ReadTarget {
    uri: Box<str>,
    mime_type: Option<Arc<str>>,
    cache: Option<CacheHint>,
}

impl<R: Into<ResultBody>> CallTarget<Result<R, ResourceError>> for ReadTarget {
    fn name(&self) -> &str {
        &self.uri
    }

    fn reply(&self, output: Result<R, ResourceError>, masks_errors: bool) -> Reply {
        match output {
            Ok(result) => {
                let mut body = result.into();
                if let ResultBody::ReadResource(result) = &mut body {
                    set_defaults(result, &self.uri, self.mime_type.as_deref());
                }
                let cache = self.cache;
                Reply::Complete { body, cache }
            }
            Err(error) => {
                let (kind, id) = (ItemKind::Resource, &*self.uri);
                error.into_fault(ItemRef { kind, id }, masks_errors).into()
            }
        }
    }
}

/// Sets the URI and the MIME type of contents that have none.
// spec: RSRC-04
fn set_defaults(result: &mut ReadResourceResult, uri: &str, mime_type: Option<&str>) {
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
    route_setters! { "resource": layer, visible_to, scopes, cache }

    pub(crate) fn new(resource: Resource, mut handler: ResourceHandler) -> Self {
        if let Err(problem) = check_uri(&resource.uri) {
            handler.spec.problem(problem);
        }
        Self {
            resource: Arc::new(resource),
            handler: Arc::new(handler),
            cache: None,
            is_listed: true,
            scope: RouteScope::default(),
        }
    }

    /// Leaves the resource out of `resources/list`. Clients that know its URI still read it.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    ///
    /// let draft = Resource::new("notes://draft").read(|| "not finished").unlisted();
    /// let server = Server::new("notes", "1.0.0").resource(draft);
    /// ```
    #[must_use]
    pub fn unlisted(mut self) -> Self {
        self.is_listed = false;
        self
    }

    /// Returns false for a resource that is left out of lists.
    pub(crate) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// The resource as it is listed.
    pub(crate) fn resource(&self) -> &Resource {
        &self.resource
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.handler.spec
    }

    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        self.scope.run(call, self, |route, call| {
            (route.handler.read)(call, route.cache)
        })
    }
}

impl fmt::Debug for ResourceRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceRoute")
            .field("uri", &self.resource.uri)
            .finish_non_exhaustive()
    }
}
