//! Extensions of the protocol that a client registers.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::FutureExt;
use mcp_core::extension::{
    CustomNotification, CustomRequest, Extension, Registration, from_params, to_object,
};
use mcp_core::tower::{Layers, Middleware};
use mcp_core::{BoxFuture, Fault};
use mcp_types::{ClientCapabilities, JsonObject, RawObject};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::inputs::{Asker, BoxError, Convert, CustomInput, IntoInput};

/// The client side of an [`Extension`]. Add it to a client with
/// [`ClientBuilder::extension`](crate::ClientBuilder::extension).
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use mcp::Client;
/// use mcp::extension::{Asker, ClientExtension, ClientSetup, CustomRequest, Extension};
///
/// struct Clock;
///
/// impl Extension for Clock {
///     const ID: &'static str = "com.example/clock";
///     type ServerSettings = ();
///     type ClientSettings = ();
/// }
///
/// /// Servers ask for the time of the user.
/// struct LocalTime;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct Time {
///     seconds: u64,
/// }
///
/// impl CustomRequest for LocalTime {
///     const METHOD: &'static str = "clock/local";
///     type Extension = Clock;
///     type Params = ();
///     type Result = Time;
/// }
///
/// impl ClientExtension for Clock {
///     fn settings(&self) {}
///
///     fn register(self, setup: &mut ClientSetup<Self>) {
///         setup.request::<LocalTime, _, _>(|(), _: Arc<Asker>| async { Time { seconds: 0 } });
///     }
/// }
///
/// let builder = Client::builder().extension(Clock);
/// ```
// spec: EXT-06
pub trait ClientExtension: Extension + Sized {
    /// Returns the settings that the client publishes.
    fn settings(&self) -> Self::ClientSettings;

    /// Registers handlers, layers and requirements.
    fn register(self, setup: &mut ClientSetup<Self>);
}

/// Argument of [`ClientBuilder::extension`](crate::ClientBuilder::extension): a [`ClientExtension`], or
/// the identifier and the settings of an extension whose messages the program passes on: `(id, settings)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extension of a client",
    note = "implement `ClientExtension` for it, or pass its identifier and its settings"
)]
pub trait IntoClientExtension: sealed::AddTo {}

impl<E: ClientExtension> IntoClientExtension for E {}

impl<S: Serialize> IntoClientExtension for (&str, S) {}

mod sealed {
    use super::{ClientCapabilities, ClientSetup, Registration};

    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait AddTo: Sized {
        /// Returns the identity and the settings.
        fn registration(&self) -> Registration<ClientCapabilities>;

        /// Adds the handlers and layers.
        fn add_to(self, setup: &mut ClientSetup<Self>);
    }
}

impl<E: ClientExtension> sealed::AddTo for E {
    fn registration(&self) -> Registration<ClientCapabilities> {
        Registration::of::<E>(&self.settings())
    }

    fn add_to(self, setup: &mut ClientSetup<Self>) {
        self.register(setup);
    }
}

impl<S: Serialize> sealed::AddTo for (&str, S) {
    fn registration(&self) -> Registration<ClientCapabilities> {
        Registration::new(self.0, "a raw extension", &self.1)
    }

    fn add_to(self, _: &mut ClientSetup<Self>) {}
}

/// Collects the parts of a [`ClientExtension`].
pub struct ClientSetup<E> {
    pub(crate) registration: Registration<ClientCapabilities>,
    pub(crate) requests: Vec<(&'static str, CustomInput)>,
    pub(crate) notifications: NotificationHandlers,
    pub(crate) layers: Layers,
    pub(crate) inbound_layers: Layers,
    extension: PhantomData<fn() -> E>,
}

/// The handlers of custom notifications by method.
#[derive(Clone, Default)]
pub(crate) struct NotificationHandlers(pub(crate) HashMap<&'static str, NotificationHandler>);

impl fmt::Debug for NotificationHandlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

pub(crate) type NotificationHandler = Arc<
    dyn Fn(Option<RawObject>, Arc<Asker>) -> BoxFuture<'static, Result<(), BoxError>> + Send + Sync,
>;

impl<E: IntoClientExtension> ClientSetup<E> {
    pub(crate) fn collect(extension: E) -> Self {
        let mut setup = Self {
            registration: extension.registration(),
            requests: Vec::new(),
            notifications: NotificationHandlers::default(),
            layers: Layers::default(),
            inbound_layers: Layers::default(),
            extension: PhantomData,
        };
        extension.add_to(&mut setup);
        setup
    }
}

impl<E: ClientExtension> ClientSetup<E> {
    /// Answers a server request: in a session a request of its own, in 2026-07-28 an input request
    /// in a call's result.
    ///
    /// The handler receives the parameters and the origin of the request. It returns the result, or a
    /// `Result` of it; an error that is a [`Fault`] reaches the server of a session unchanged. The
    /// handler runs like those of [`on_elicit`](crate::ClientBuilder::on_elicit).
    pub fn request<R, F, Fut>(&mut self, handler: F)
    where
        R: CustomRequest<Extension = E>,
        F: Fn(R::Params, Arc<Asker>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<R::Result>> + Send + 'static,
    {
        self.registration.add_method(R::METHOD);
        let handler: CustomInput = Arc::new(move |(params, asker)| {
            let running = read_params(params.as_ref()).map(|params| handler(params, asker));
            Box::pin(async move {
                let result = running?.await.into_input()?;
                let result = to_object(&result)?;
                Ok(result.parse::<JsonObject>()?)
            })
        });
        self.requests.push((R::METHOD, handler));
    }

    /// Handles a server notification. An error of the handler goes to the log.
    ///
    /// Notifications are handled one after the other, in the order in which they arrive, by a task of
    /// the client. A call may return before its notifications are handled. Up to 256 notifications
    /// wait for their handler; further ones are dropped, with a warning in the log.
    pub fn notification<N, F, Fut>(&mut self, handler: F)
    where
        N: CustomNotification<Extension = E>,
        F: Fn(N::Params, Arc<Asker>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoInput<()>> + Send + 'static,
    {
        self.registration.add_method(N::METHOD);
        let handler: NotificationHandler =
            Arc::new(move |params, asker| match read_params(params.as_ref()) {
                Ok(params) => Box::pin(handler(params, asker).map(Convert::into_input)),
                Err(fault) => Box::pin(std::future::ready(Err(fault.into()))),
            });
        self.notifications.0.insert(N::METHOD, handler);
    }

    /// Adds a layer around the client's calls; see
    /// [`ClientBuilder::layer`](crate::ClientBuilder::layer).
    pub fn layer(&mut self, layer: impl Middleware) {
        self.layers.add(layer);
    }

    /// Adds a layer around the server messages; see
    /// [`ClientBuilder::inbound_layer`](crate::ClientBuilder::inbound_layer).
    pub fn inbound_layer(&mut self, layer: impl Middleware) {
        self.inbound_layers.add(layer);
    }

    /// Requires something of the client's final capabilities: a capability such as `sampling`, or
    /// a part of one. `name` says what is missing. Connecting fails when it is not met.
    pub fn requires(
        &mut self,
        name: impl Into<String>,
        is_met: impl Fn(&ClientCapabilities) -> bool + Send + Sync + 'static,
    ) {
        self.registration.require(name, is_met);
    }

    /// Requires another extension, which may be registered before or after this one; see
    /// [`requires`](Self::requires).
    pub fn requires_extension(&mut self, id: impl Into<String>) {
        let id = id.into();
        let name = format!("the extension `{id}`");
        self.requires(name, move |capabilities| capabilities.has_extension(&id));
    }
}

/// Reads the parameters of a server's message.
fn read_params<P: DeserializeOwned>(params: Option<&RawObject>) -> Result<P, Fault> {
    let read = from_params(params.map(RawObject::as_str));
    read.map_err(|error| Fault::bad_params(format!("`params`: {error}")))
}

impl<E> fmt::Debug for ClientSetup<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSetup")
            .field("registration", &self.registration)
            .finish_non_exhaustive()
    }
}
