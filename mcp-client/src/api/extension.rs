//! Extensions of the server.

use std::fmt;
use std::sync::Arc;

use mcp_core::extension::{
    CustomNotification, CustomRequest, Extension, RegisteredExtension, from_params, read_settings,
    to_object,
};
use mcp_core::{BoxFuture, Call, ClientRequest, Exchange, Fault, OneWayMessage, Reply, ResultBody};
use mcp_types::RawObject;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::time::timeout;

use crate::call::Reader;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::prepared::PreparedCall;
use crate::session::NOTIFY_TIMEOUT;

impl Client {
    /// Returns the extension `E` of the server, to read its settings and to send its messages.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server does not declare the extension, when its settings do not
    /// have the type that the extension defines, or when the server was not queried yet (see
    /// [`ConnectMode::Pin`](crate::ConnectMode::Pin)).
    // spec: EXT-05
    pub fn extension<E: Extension>(&self) -> Result<ExtensionClient<E>, Error> {
        let Some(server) = self.inner.server() else {
            return Err(ErrorKind::UnknownExtensions.into());
        };
        match read_settings::<E::ServerSettings>(&server.capabilities, E::ID) {
            Ok(Some(settings)) => Ok(ExtensionClient {
                client: self.clone(),
                settings: Arc::new(settings),
            }),
            Ok(None) => Err(ErrorKind::NoExtension(E::ID).into()),
            Err(error) => Err(ErrorKind::ExtensionSettings(error).into()),
        }
    }

    /// Sends a notification of an extension. `params` must serialize to a JSON object, or be `()`. For programs that
    /// pass messages on; others use [`ExtensionClient::notify`].
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the notification cannot be sent, or is not accepted within 30 seconds.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use serde_json::json;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// client.notify("notifications/clock/tick", json!({"number": 1})).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        let params = Some(to_object(&params).map_err(ErrorKind::Arguments)?);
        let call = Call::Notification {
            method: method.into(),
            params,
        };
        let layers = &self.inner.layers;
        let sent = match layers.is_empty() {
            true => send(self.clone(), call, None).await,
            false => send_layered(self, call).await,
        };
        let peer = self.inner.channel.peer();
        let request = || {
            ClientRequest::Call(Call::Notification {
                method: method.into(),
                params: None,
            })
        };
        sent.map_err(|kind| Error::in_call(&peer, &request(), kind))
    }

    /// Returns the extensions that this client has registered, in the order of their registration.
    pub fn extensions(&self) -> Vec<RegisteredExtension> {
        let extensions = self.inner.extensions.iter();
        extensions.map(|it| it.extension().clone()).collect()
    }
}

/// An extension of the server that a client is connected to. Created by [`Client::extension`].
///
/// # Examples
///
/// ```no_run
/// use mcp::Client;
/// use mcp::extension::{CustomRequest, Extension};
///
/// # struct Clock;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct ClockSettings { zone: String }
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ClockSettings;
/// #     type ClientSettings = ();
/// # }
/// # struct Now;
/// # #[derive(serde::Serialize, serde::Deserialize)]
/// # struct Time { seconds: u64 }
/// # impl CustomRequest for Now {
/// #     const METHOD: &'static str = "clock/now";
/// #     type Extension = Clock;
/// #     type Params = ();
/// #     type Result = Time;
/// # }
/// # async fn example(client: Client) -> mcp::Result<()> {
/// let clock = client.extension::<Clock>()?;
/// let time = clock.request::<Now>(&()).await?;
/// println!("{} seconds in {}", time.seconds, clock.settings().zone);
/// # Ok(())
/// # }
/// ```
pub struct ExtensionClient<E: Extension> {
    client: Client,
    settings: Arc<E::ServerSettings>,
}

impl<E: Extension> ExtensionClient<E> {
    /// Returns the settings that the server publishes.
    pub fn settings(&self) -> &E::ServerSettings {
        &self.settings
    }

    /// Returns the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a request. The options of a call, such as its timeout, can be set before it is awaited.
    pub fn request<'a, R>(&self, params: &R::Params) -> PreparedCall<'a, R::Result>
    where
        R: CustomRequest<Extension = E>,
    {
        let call = |params| Call::Other {
            method: R::METHOD.into(),
            params,
        };
        let read = Reader::Checked(read_result::<R>);
        match to_object(params) {
            Ok(params) => PreparedCall::with_reader(&self.client, call(Some(params)), read),
            Err(error) => PreparedCall::with_reader(&self.client, call(None), read)
                .fail(ErrorKind::Arguments(error)),
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the notification cannot be sent, or is not accepted within 30 seconds.
    pub async fn notify<N>(&self, params: &N::Params) -> Result<(), Error>
    where
        N: CustomNotification<Extension = E>,
    {
        self.client.notify(N::METHOD, params).await
    }
}

fn read_result<R: CustomRequest>(body: ResultBody) -> Result<R::Result, String> {
    match body {
        ResultBody::Other(result) => {
            from_params(Some(result.as_str())).map_err(|error| error.to_string())
        }
        _ => Err("it is the result of another method".to_owned()),
    }
}

/// Passes a notification through the layers and sends it, unless a layer suppresses it.
async fn send_layered(client: &Client, call: Call) -> Result<(), ErrorKind> {
    let failure = Arc::new(Mutex::new(None));
    let (layers, sender, failed) = (&client.inner.layers, client.clone(), failure.clone());
    let endpoint = move |exchange: Exchange| -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            let Err(kind) = send(sender, exchange.call, exchange.meta).await else {
                return ResultBody::Empty.into();
            };
            let fault = Fault::internal(kind.to_string());
            *failed.lock() = Some(kind);
            fault.into()
        })
    };
    let mut exchange = Exchange::new(call, client.inner.facts());
    client.inner.describe_connection(&mut exchange);
    let layered = timeout(NOTIFY_TIMEOUT, layers.run(exchange, endpoint)).await;
    let reply = layered.map_err(|_| ErrorKind::TimedOut(NOTIFY_TIMEOUT))?;
    match (reply, failure.lock().take()) {
        (Reply::Fault(_), Some(kind)) => Err(kind),
        (Reply::Fault(fault), None) => Err(ErrorKind::Fault {
            fault,
            status: None,
            challenge: None,
        }),
        _ => Ok(()),
    }
}

async fn send(client: Client, call: Call, meta: Option<RawObject>) -> Result<(), ErrorKind> {
    let Call::Notification { method, params } = call else {
        return Err(ErrorKind::WrongResult);
    };
    let inner = &client.inner;
    if let Some(reason) = inner.closing.reason() {
        return Err(ErrorKind::closed(reason));
    }
    let params = params.unwrap_or_else(RawObject::empty);
    let meta = meta.and_then(|meta| meta.parse().ok());
    let (version, profile) = (inner.version(), &inner.profile);
    let message = OneWayMessage::custom(&method, &params, meta.as_ref(), version, profile);
    match timeout(NOTIFY_TIMEOUT, inner.channel.notify(message)).await {
        Ok(sent) => sent.map_err(ErrorKind::Channel),
        Err(_) => Err(ErrorKind::TimedOut(NOTIFY_TIMEOUT)),
    }
}

impl<E: Extension> Clone for ExtensionClient<E> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            settings: self.settings.clone(),
        }
    }
}

impl<E: Extension> fmt::Debug for ExtensionClient<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionClient")
            .field("id", &E::ID)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
