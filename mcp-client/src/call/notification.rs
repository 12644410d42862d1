//! [`PreparedNotification`]: a notification with its options, sent when it is awaited.

use std::fmt;
use std::future::IntoFuture;
use std::sync::Arc;

use http::HeaderMap;
use mcp_core::{
    BoxFuture, Call, ClientProfile, ClientRequest, Exchange, Fault, Frame, OneWayMessage, Reply,
    ResultBody,
};
use mcp_types::{ClientCapabilities, Meta, RawObject};
use parking_lot::Mutex;
use tokio::time::timeout;

use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::options::setter;
use crate::session::{self, NOTIFY_TIMEOUT};

/// A notification of an extension that is sent when it is awaited. Created by [`Client::notify`] and
/// [`ExtensionClient::notify`](crate::ExtensionClient::notify).
///
/// # Errors
///
/// Awaiting it returns an [`Error`] when the notification cannot be sent, or is not accepted within 30 seconds.
///
/// # Examples
///
/// ```no_run
/// use serde_json::json;
///
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
/// client
///     .notify("notifications/clock/tick", json!({"number": 1}))
///     .header("x-tenant", "a")
///     .meta("com.example/region", "eu")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a notification is not sent unless it is awaited"]
pub struct PreparedNotification {
    client: Client,
    method: Box<str>,
    params: Option<RawObject>,
    /// An error of the builder methods. The notification then fails when it is awaited.
    error: Option<ErrorKind>,
    options: NotifyOptions,
}

#[derive(Clone, Default)]
struct NotifyOptions {
    headers: HeaderMap,
    meta: Option<Meta>,
    /// Capabilities instead of the client's, in revisions without sessions.
    capabilities: Option<ClientCapabilities>,
}

impl PreparedNotification {
    pub(crate) fn new(client: &Client, method: &str, params: Result<RawObject, ErrorKind>) -> Self {
        let (params, error) = match params {
            Ok(params) => (Some(params), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            client: client.clone(),
            method: method.into(),
            params,
            error,
            options: NotifyOptions::default(),
        }
    }

    setter!(header);
    setter!(meta);
    setter!(trace);

    /// Declares these capabilities with the notification, instead of the client's. For gateways, which
    /// send for many clients. A session of the revisions before 2026-07-28 keeps the capabilities that it was
    /// opened with.
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.options.capabilities = Some(capabilities);
        self
    }

    async fn send(self) -> Result<(), Error> {
        let peer = self.client.inner.channel.peer();
        let notification = |params| Call::Notification {
            method: self.method.clone(),
            params,
        };
        let call = notification(self.params);
        let sent = match self.error {
            Some(error) => Err(error),
            None if self.client.inner.layers.is_empty() => {
                send(&self.client, call, self.options).await
            }
            None => send_layered(&self.client, call, self.options).await,
        };
        let request = ClientRequest::Call(notification(None));
        sent.map_err(|kind| Error::in_call(&peer, &request, kind))
    }
}

impl IntoFuture for PreparedNotification {
    type Output = Result<(), Error>;
    type IntoFuture = BoxFuture<'static, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// Omits headers and parameters, which may be secrets.
impl fmt::Debug for PreparedNotification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedNotification")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// Passes a notification through the layers and sends it, unless a layer suppresses it.
async fn send_layered(
    client: &Client,
    call: Call,
    mut options: NotifyOptions,
) -> Result<(), ErrorKind> {
    let mut exchange = Exchange::new(call, client.inner.facts());
    client.inner.describe_connection(&mut exchange);
    let meta = options.meta.take();
    let meta = meta.and_then(|meta| RawObject::from_value(&meta).ok());
    exchange.meta = meta.into();
    let failure = Arc::new(Mutex::new(None));
    let (layers, sender, failed) = (&client.inner.layers, client.clone(), failure.clone());
    let endpoint = move |exchange: Exchange| -> BoxFuture<'static, Reply> {
        Box::pin(async move {
            options.meta = exchange.meta.object().and_then(|meta| meta.parse().ok());
            let Err(kind) = send(&sender, exchange.call, options).await else {
                return ResultBody::Empty.into();
            };
            let fault = Fault::internal(kind.to_string());
            *failed.lock() = Some(kind);
            fault.into()
        })
    };
    let layered = timeout(NOTIFY_TIMEOUT, layers.run(exchange, endpoint)).await;
    let reply = layered.map_err(|_| ErrorKind::TimedOut(NOTIFY_TIMEOUT))?;
    match (reply, failure.lock().take()) {
        (Reply::Fault(_), Some(kind)) => Err(kind),
        (Reply::Fault(fault), None) => Err(ErrorKind::of_fault(fault, Frame::default())),
        _ => Ok(()),
    }
}

async fn send(client: &Client, call: Call, options: NotifyOptions) -> Result<(), ErrorKind> {
    let Call::Notification { method, params } = call else {
        return Err(ErrorKind::WrongResult);
    };
    let inner = &client.inner;
    if let Some(reason) = inner.closing.reason() {
        return Err(ErrorKind::closed(reason));
    }
    let params = params.unwrap_or_default();
    let mut profile = ClientProfile::clone(&inner.profile);
    if let Some(capabilities) = options.capabilities {
        profile.capabilities = capabilities;
    }
    let meta = options.meta.as_ref();
    let mut message = OneWayMessage::custom(&method, &params, meta, inner.version(), &profile);
    message.headers = options.headers;
    session::send(inner, message).await
}
