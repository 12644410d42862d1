//! A custom method with its handler.

use std::fmt;
use std::sync::Arc;

use mcp_core::extension::{from_params, to_object};
use mcp_core::{BoxFuture, Fault, Reply, ResultBody};
use mcp_types::{ClientCapabilities, JsonObject, MethodKind, RawObject};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handler::MethodHandler;
use crate::call::{CallContext, CallTarget, HandlerNeeds, RouteSpec};
use crate::request_state::INPUT_MEMBERS;
use crate::result::RequestError;

type Handler = dyn Fn(CallContext) -> BoxFuture<'static, Reply> + Send + Sync;

/// Route methods.
#[derive(Clone)]
pub(crate) enum RouteMethods {
    Exact(&'static str),
    /// All methods that the function accepts.
    Matching(Arc<dyn Fn(&str) -> bool + Send + Sync>),
}

/// A custom method with its handler and its extension.
#[derive(Clone)]
pub(crate) struct MethodRoute {
    pub(crate) methods: RouteMethods,
    kind: MethodKind,
    pub(crate) extension: Arc<str>,
    /// Also answers clients that do not declare the extension.
    pub(crate) allows_undeclared: bool,
    spec: Arc<RouteSpec>,
    handler: Arc<Handler>,
}

impl MethodRoute {
    /// Erases the types of the parameters, the result and the handler. Each call boxes one future.
    pub(super) fn new<P, T, M, H>(
        extension: impl Into<Arc<str>>,
        (methods, kind): (RouteMethods, MethodKind),
        handler: H,
    ) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
        H: MethodHandler<P, T, M>,
    {
        let mut spec = RouteSpec::default();
        H::describe(&mut spec);
        if spec.input_schema.take().is_some() {
            spec.problem(
                "a custom method has no `Args`; take its parameters as the first parameter",
            );
        }
        let needs = spec.needs;
        if needs.input_round && kind == MethodKind::Notification && !methods.is_matching() {
            spec.problem("a notification has no reply, so its handler cannot `Ask`");
        }
        let run = move |mut call: CallContext| {
            let handler = handler.clone();
            async move {
                let params = read_params(&mut call, needs)?;
                let result: T = handler.call(params, call).await?;
                to_object(&result).map_err(|error| {
                    RequestError::from(format!("the result cannot be sent: {error}"))
                })
            }
        };
        let run = spec.runner(run, RequestError::from_rejection);
        let extension = extension.into();
        let name: Arc<str> = match &methods {
            RouteMethods::Exact(name) => (*name).into(),
            RouteMethods::Matching(_) => extension.clone(),
        };
        Self {
            methods,
            kind,
            extension,
            allows_undeclared: false,
            spec: Arc::new(spec),
            handler: Arc::new(move |call| run(call, MethodTarget(name.clone()))),
        }
    }

    pub(crate) fn spec(&self) -> &RouteSpec {
        &self.spec
    }

    /// Runs the handler, if the client declares the extension.
    // spec: EXT-05
    pub(crate) fn call(&self, call: CallContext) -> BoxFuture<'static, Reply> {
        let declared = &call.facts().capabilities;
        // spec: VER-18
        if !self.allows_undeclared && !declared.has_extension(&self.extension) {
            let required =
                Arc::new(ClientCapabilities::default().with_extension(&*self.extension, &()));
            let fault = Fault::MissingCapability { required };
            return Box::pin(std::future::ready(fault.into()));
        }
        (self.handler)(call)
    }

    pub(crate) fn is_request(&self) -> bool {
        self.kind == MethodKind::Request
    }
}

impl RouteMethods {
    fn is_matching(&self) -> bool {
        matches!(self, Self::Matching(_))
    }
}

fn read_params<P: DeserializeOwned>(
    call: &mut CallContext,
    needs: HandlerNeeds,
) -> Result<P, RequestError> {
    let mut params = call.take_custom_params();
    if needs.input_round {
        params = params.map(without_input);
    }
    let read = from_params(params.as_ref().map(RawObject::as_str));
    read.map_err(|error| RequestError::invalid_params(format!("`params`: {error}")))
}

/// Removes the input of a repeated request, which the protocol adds to the parameters.
fn without_input(params: RawObject) -> RawObject {
    let Ok(mut members) = params.parse::<JsonObject>() else {
        return params;
    };
    let removed = INPUT_MEMBERS.map(|name| members.shift_remove(name));
    if removed.iter().all(Option::is_none) {
        params
    } else {
        RawObject::from_value(&members).unwrap_or(params)
    }
}

impl fmt::Debug for MethodRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodRoute")
            .field("kind", &self.kind)
            .field("extension", &self.extension)
            .finish_non_exhaustive()
    }
}

struct MethodTarget(Arc<str>);

impl CallTarget<Result<RawObject, RequestError>> for MethodTarget {
    fn name(&self) -> &str {
        &self.0
    }

    fn reply(&self, output: Result<RawObject, RequestError>, masks_errors: bool) -> Reply {
        match output {
            Ok(result) => ResultBody::Other(result).into(),
            Err(error) => error.into_request_fault(&self.0, masks_errors).into(),
        }
    }
}
