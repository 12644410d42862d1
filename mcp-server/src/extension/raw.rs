//! [`RawExtension`]: an extension whose messages stay JSON.

use std::fmt;
use std::sync::Arc;

use mcp_core::extension::Registration;
use mcp_types::{MethodKind, RawObject, ServerCapabilities};
use serde::Serialize;

use super::handler::MethodHandler;
use super::route::{MethodRoute, RouteMethods};
use super::setup::sealed::AddTo;
use super::setup::{IntoServerExtension, ServerSetup};
use crate::call::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;

/// An extension whose identifier, settings and methods are known only at run time. It is for programs that
/// forward messages, such as gateways; other programs implement
/// [`ServerExtension`](super::ServerExtension). Add it with [`Server::extension`](crate::Server::extension).
///
/// The handlers also receive messages of clients that do not declare the extension. An extension without
/// handlers is only declared; a [layer](crate::Server::layer) can answer its methods, which arrive as
/// [`Call::Other`](mcp_core::Call::Other).
///
/// # Examples
///
/// ```
/// use mcp::extension::{Method, RawExtension};
/// use mcp::prelude::*;
/// use mcp::types::RawObject;
/// use serde_json::json;
///
/// let echo = RawExtension::new("com.example/echo", &json!({"version": 2})).requests(
///     |method| method.starts_with("echo/"),
///     async |params: RawObject, Method(_): Method| params,
/// );
/// let server = Server::new("echo", "1.0.0").extension(echo);
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
#[must_use = "does nothing until it is added to a server"]
pub struct RawExtension {
    pub(crate) registration: Registration<ServerCapabilities>,
    pub(crate) methods: Vec<MethodRoute>,
}

impl RawExtension {
    /// Creates an extension without handlers. `id` is its identifier, such as `com.example/budget`. The server
    /// publishes `settings`, which must serialize to a JSON object.
    pub fn new(id: impl Into<String>, settings: &impl Serialize) -> Self {
        Self {
            registration: Registration::new(id, "a raw extension", settings),
            methods: Vec::new(),
        }
    }

    /// Answers requests whose method `matches` accepts. The handler's first parameter receives the request's
    /// `params` without `_meta`; its other parameters are extractors, such as [`Method`]. The returned JSON is
    /// the result, unchanged.
    ///
    /// `matches` is not asked about the protocol's methods, nor about methods that another extension names
    /// exactly.
    pub fn requests<M>(
        self,
        matches: impl Fn(&str) -> bool + Send + Sync + 'static,
        handler: impl MethodHandler<RawObject, RawObject, M>,
    ) -> Self {
        self.add(MethodKind::Request, matches, handler)
    }

    /// Handles notifications whose method `matches` accepts; see [`requests`](Self::requests).
    pub fn notifications<M>(
        self,
        matches: impl Fn(&str) -> bool + Send + Sync + 'static,
        handler: impl MethodHandler<RawObject, (), M>,
    ) -> Self {
        self.add(MethodKind::Notification, matches, handler)
    }

    fn add<T: Serialize + Send + 'static, M>(
        mut self,
        kind: MethodKind,
        matches: impl Fn(&str) -> bool + Send + Sync + 'static,
        handler: impl MethodHandler<RawObject, T, M>,
    ) -> Self {
        let methods = RouteMethods::Matching(Arc::new(matches));
        let mut route = MethodRoute::new(self.registration.id(), (methods, kind), handler);
        route.allows_undeclared = true;
        self.methods.push(route);
        self
    }
}

impl IntoServerExtension for RawExtension {}

impl AddTo for RawExtension {
    fn registration(&self) -> Registration<ServerCapabilities> {
        self.registration.clone()
    }

    fn add_to(self, setup: &mut ServerSetup<Self>) {
        setup.parts.methods.extend(self.methods);
    }
}

impl fmt::Debug for RawExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawExtension")
            .field("registration", &self.registration)
            .finish_non_exhaustive()
    }
}

/// Extractor of the message's method.
///
/// # Examples
///
/// ```
/// use mcp::extension::Method;
/// use mcp::types::RawObject;
///
/// async fn log(params: RawObject, Method(method): Method) -> RawObject {
///     println!("{method}: {}", params.as_str());
///     params
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "handlers destructure it")]
pub struct Method(pub Box<str>);

impl FromCall for Method {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self(call.method().into()))
    }
}
