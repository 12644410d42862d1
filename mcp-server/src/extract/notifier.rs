//! Extension notifications.

use std::sync::Arc;

use mcp_core::extension::{CustomNotification, Extension, to_object};
use mcp_core::{ClientContext, Exchange, NotificationSender};

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// Sends extension notifications to the client, on the stream of the call. Works in every handler
/// except handlers of notifications, which have no stream.
///
/// # Examples
///
/// ```
/// use mcp::extension::{CustomNotification, Notifier};
/// # use mcp::extension::Extension;
///
/// # struct Clock;
/// # impl Extension for Clock {
/// #     const ID: &'static str = "com.example/clock";
/// #     type ServerSettings = ();
/// #     type ClientSettings = ();
/// # }
/// struct Tick;
///
/// #[derive(serde::Serialize, serde::Deserialize)]
/// struct TickParams {
///     number: u32,
/// }
///
/// impl CustomNotification for Tick {
///     const METHOD: &'static str = "notifications/clock/tick";
///     type Extension = Clock;
///     type Params = TickParams;
/// }
///
/// async fn count(notifier: Notifier) -> &'static str {
///     for number in 1..=3 {
///         notifier.send::<Tick>(&TickParams { number }).await;
///     }
///     "counted"
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Notifier {
    notifications: NotificationSender,
    client: Arc<ClientContext>,
}

impl Notifier {
    /// Sends a notification, if the client declares its extension. Waits while the client reads more
    /// slowly than the handler sends.
    // spec: EXT-05
    pub async fn send<N: CustomNotification>(&self, params: &N::Params) {
        if !self.is_wanted::<N>() {
            return;
        }
        match to_object(params) {
            Ok(params) => self.notifications.notify(N::METHOD, Some(params)).await,
            Err(error) => {
                tracing::error!(method = N::METHOD, error = %mcp_types::escaped(&error), "a notification cannot be sent");
            }
        }
    }

    /// Returns whether the client declares the extension of the notification.
    pub fn is_wanted<N: CustomNotification>(&self) -> bool {
        let declared = &self.client.capabilities;
        declared.has_extension(<N::Extension as Extension>::ID)
    }
}

/// For layers, before they pass on the exchange.
impl From<&Exchange> for Notifier {
    fn from(exchange: &Exchange) -> Self {
        Self {
            notifications: exchange.notifications.clone(),
            client: exchange.facts.clone(),
        }
    }
}

impl FromCall for Notifier {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self {
            notifications: call.notifications().clone(),
            client: call.facts().clone(),
        })
    }
}
