//! The parts of a server extension.

use std::fmt;
use std::marker::PhantomData;

use mcp_core::extension::{CustomNotification, CustomRequest, Extension, Registration};
use mcp_types::{MethodKind, ServerCapabilities};

use super::handler::MethodHandler;
use super::route::{MethodRoute, RouteMethods};
use crate::broadcaster::Broadcaster;
use crate::middleware::{Layers, Middleware};
use crate::notify::Notify;
use crate::routes::Routes;
use crate::state::StateMap;

/// The server side of an [`Extension`]. Add it to a server with
/// [`Server::extension`](crate::Server::extension).
///
/// # Examples
///
/// ```
/// use mcp::Server;
/// use mcp::extension::{CustomRequest, Extension, ServerExtension, ServerSetup};
///
/// struct Clock {
///     zone: String,
/// }
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct ClockSettings {
///     zone: String,
/// }
///
/// impl Extension for Clock {
///     const ID: &'static str = "com.example/clock";
///     type ServerSettings = ClockSettings;
///     type ClientSettings = ();
/// }
///
/// struct Now;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Time {
///     seconds: u64,
/// }
///
/// impl CustomRequest for Now {
///     const METHOD: &'static str = "clock/now";
///     type Extension = Clock;
///     type Params = ();
///     type Result = Time;
/// }
///
/// impl ServerExtension for Clock {
///     fn settings(&self) -> ClockSettings {
///         ClockSettings { zone: self.zone.clone() }
///     }
///
///     fn register(self, setup: &mut ServerSetup<Self>) {
///         setup.request::<Now, _>(|()| async { Time { seconds: 0 } });
///     }
/// }
///
/// let server = Server::new("clock", "1.0.0").extension(Clock { zone: "UTC".to_owned() });
/// server.check()?;
/// # Ok::<(), mcp::SetupError>(())
/// ```
// spec: EXT-06
pub trait ServerExtension: Extension + Sized {
    /// Returns the settings that the server publishes.
    fn settings(&self) -> Self::ServerSettings;

    /// Registers handlers, layers, routes and requirements.
    fn register(self, setup: &mut ServerSetup<Self>);
}

/// Argument of [`Server::extension`](crate::Server::extension): a [`ServerExtension`], or a
/// [`RawExtension`](super::RawExtension).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extension of a server",
    note = "implement `ServerExtension` for it, or use a `RawExtension`"
)]
pub trait IntoServerExtension: sealed::AddTo {}

impl<E: ServerExtension> IntoServerExtension for E {}

/// The methods of [`IntoServerExtension`].
pub(super) mod sealed {
    use super::{Registration, ServerCapabilities, ServerSetup};

    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait AddTo: Sized {
        /// Returns the identity and the settings.
        fn registration(&self) -> Registration<ServerCapabilities>;

        /// Adds the handlers, layers and routes.
        fn add_to(self, setup: &mut ServerSetup<Self>);
    }
}

impl<E: ServerExtension> sealed::AddTo for E {
    fn registration(&self) -> Registration<ServerCapabilities> {
        Registration::of::<E>(&self.settings())
    }

    fn add_to(self, setup: &mut ServerSetup<Self>) {
        self.register(setup);
    }
}

/// Collects the parts of a [`ServerExtension`].
pub struct ServerSetup<E> {
    pub(super) parts: SetupParts,
    broadcaster: Broadcaster,
    notify: Notify,
    extension: PhantomData<fn() -> E>,
}

/// The parts of an extension without its type.
pub(crate) struct SetupParts {
    pub(crate) registration: Registration<ServerCapabilities>,
    pub(crate) methods: Vec<MethodRoute>,
    pub(crate) layers: Layers,
    pub(crate) routes: Vec<Routes>,
    pub(crate) states: StateMap,
    pub(crate) capabilities: Vec<(&'static str, serde_json::Value)>,
    /// The extension announces changes outside handlers.
    pub(crate) notifies: bool,
    allows_undeclared: bool,
}

impl<E: IntoServerExtension> ServerSetup<E> {
    pub(crate) fn collect(extension: E, broadcaster: Broadcaster, notify: Notify) -> SetupParts {
        let mut setup = Self {
            parts: SetupParts {
                registration: extension.registration(),
                methods: Vec::new(),
                layers: Layers::default(),
                routes: Vec::new(),
                states: StateMap::default(),
                capabilities: Vec::new(),
                notifies: false,
                allows_undeclared: false,
            },
            broadcaster,
            notify,
            extension: PhantomData,
        };
        extension.add_to(&mut setup);
        let mut parts = setup.parts;
        for route in &mut parts.methods {
            route.allows_undeclared |= parts.allows_undeclared;
        }
        parts
    }
}

impl<E: ServerExtension> ServerSetup<E> {
    /// Answers a client request. The handler's first parameter is the request's
    /// parameters, all others are extractors.
    ///
    /// A client that does not declare the extension receives the error -32021 "missing required client
    /// capability", and malformed parameters are answered with -32602.
    pub fn request<R, M>(&mut self, handler: impl MethodHandler<R::Params, R::Result, M>)
    where
        R: CustomRequest<Extension = E>,
    {
        self.add(R::METHOD, MethodKind::Request, handler);
    }

    /// Handles a client notification. A notification of a client that does not declare the
    /// extension is ignored. An error of the handler goes to the log.
    pub fn notification<N, M>(&mut self, handler: impl MethodHandler<N::Params, (), M>)
    where
        N: CustomNotification<Extension = E>,
    {
        self.add(N::METHOD, MethodKind::Notification, handler);
    }

    pub(super) fn add<P, T, M>(
        &mut self,
        name: &'static str,
        kind: MethodKind,
        handler: impl MethodHandler<P, T, M>,
    ) where
        P: serde::de::DeserializeOwned + Send + 'static,
        T: serde::Serialize + Send + 'static,
    {
        self.parts.registration.add_method(name);
        let methods = (RouteMethods::Exact(name), kind);
        let route = MethodRoute::new(E::ID, methods, handler);
        self.parts.methods.push(route);
    }

    /// Adds a layer around all calls of the server; see [`Server::layer`](crate::Server::layer).
    ///
    /// The layers of one extension are together, the one that is added last is the outermost of them.
    /// The application decides where: at its call of
    /// [`Server::extension`](crate::Server::extension) among its calls of `layer` and `extension`.
    pub fn layer(&mut self, layer: impl Middleware) {
        self.parts.layers.add(layer);
    }

    /// Returns a handle that sends notifications of the extension to all clients that declare it, at any
    /// time. An extension may give it to a task of its own.
    pub fn broadcaster(&self) -> Broadcaster {
        self.broadcaster.clone()
    }

    /// Returns a handle that announces changes of lists and resources, at any time; see
    /// [`Server::notify`](crate::Server::notify).
    pub fn notify(&mut self) -> Notify {
        self.parts.notifies = true;
        self.notify.clone()
    }

    /// Adds tools, resources, prompts and completions.
    pub fn routes(&mut self, routes: Routes) {
        self.parts.routes.push(routes);
    }

    /// Adds a value that all handlers of the server receive as [`State`](crate::State). Use a type of
    /// the extension itself: a second value of the same type replaces the first.
    pub fn state<T: Clone + Send + Sync + 'static>(&mut self, value: T) {
        self.parts.states.insert(value);
    }

    /// Requires something of the server's final capabilities: a capability such as `tools`, or a
    /// part of one. `name` says what is missing.
    ///
    /// [`Server::check`](crate::Server::check) reports an unmet requirement. A request that arrives
    /// nevertheless is answered with -32603 "internal error".
    pub fn requires(
        &mut self,
        name: impl Into<String>,
        is_met: impl Fn(&ServerCapabilities) -> bool + Send + Sync + 'static,
    ) {
        self.parts.registration.require(name, is_met);
    }

    /// Requires another extension, which may be registered before or after this one; see
    /// [`requires`](Self::requires).
    pub fn requires_extension(&mut self, id: impl Into<String>) {
        let id = id.into();
        let name = format!("the extension `{id}`");
        self.requires(name, move |capabilities| capabilities.has_extension(&id));
    }

    /// Publishes a member of the server's capabilities beside `extensions`, for clients that look for it
    /// there. The names of the protocol's own capabilities are ignored.
    pub fn capability(&mut self, name: &'static str, value: impl Into<serde_json::Value>) {
        self.parts.capabilities.push((name, value.into()));
    }

    /// Also answers requests and notifications of clients that do not declare the extension.
    pub fn allow_undeclared_clients(&mut self) {
        self.parts.allows_undeclared = true;
    }
}

impl<E> fmt::Debug for ServerSetup<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSetup")
            .field("registration", &self.parts.registration)
            .finish_non_exhaustive()
    }
}
