//! Notifications outside calls: those of extensions, and finished elicitations.

use std::fmt;
use std::sync::{Arc, Weak};

use mcp_core::extension::{CustomNotification, Extension, to_object};
use mcp_core::{CallerKey, ChangeEvent, ExtensionNotification, Fault};
use mcp_types::RawObject;

use crate::call::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;

/// The server behind a [`Broadcaster`] or a [`Notify`](crate::Notify).
pub(crate) trait Publisher: fmt::Debug + Send + Sync {
    /// Publishes an event. Returns false if the server does not offer it.
    fn publish(&self, event: ChangeEvent) -> bool;
}

/// Sends notifications at any time: those of extensions to all clients that declare the extension, and the end of an
/// elicitation to its client. Use a [`Notifier`](crate::Notifier) for a call's client.
///
/// Get it from [`Server::broadcaster`](crate::Server::broadcaster), from
/// [`ServerSetup::broadcaster`](crate::extension::ServerSetup::broadcaster), or as a handler
/// parameter. Clones are cheap and may be used on any task or thread.
///
/// A client receives a notification in its session, on the GET stream or the pipe. Since 2026-07-28
/// there are no sessions: a client receives it on each `subscriptions/listen` request that it has open
/// and that declares the extension. A client without such a stream misses it.
///
/// Do not send data of one user: all clients receive it, except with [`send_raw`](Self::send_raw) to one caller. A change bus that connects several nodes
/// carries notifications, too.
///
/// # Examples
///
/// ```
/// use mcp::Server;
/// use mcp::extension::{Broadcaster, CustomNotification, Extension, ServerExtension, ServerSetup};
///
/// struct Clock;
///
/// impl Extension for Clock {
///     const ID: &'static str = "com.example/clock";
///     type ServerSettings = ();
///     type ClientSettings = ();
/// }
///
/// impl ServerExtension for Clock {
///     fn settings(&self) {}
///     fn register(self, _: &mut ServerSetup<Self>) {}
/// }
///
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
/// let server = Server::new("clock", "1.0.0").extension(Clock);
/// let clients: Broadcaster = server.broadcaster();
/// std::thread::spawn(move || clients.send::<Tick>(&TickParams { number: 1 }));
/// ```
#[derive(Debug, Clone)]
pub struct Broadcaster(Weak<dyn Publisher>);

impl Broadcaster {
    pub(crate) fn new(server: Weak<dyn Publisher>) -> Self {
        Self(server)
    }

    /// Sends a notification. Never waits: 64 notifications and 256 KiB wait for a client that reads too
    /// slowly, and further ones are dropped for this client.
    ///
    /// A notification of an extension that the server does not have is not sent; the log contains a
    /// warning.
    pub fn send<N: CustomNotification>(&self, params: &N::Params) {
        match to_object(params) {
            Ok(params) => {
                self.send_raw(
                    None,
                    <N::Extension as Extension>::ID,
                    N::METHOD,
                    Some(&params),
                );
            }
            Err(error) => {
                tracing::error!(method = N::METHOD, error = %mcp_types::escaped(&error), "a notification cannot be sent");
            }
        }
    }

    /// Sends a notification of the extension `id` as JSON, to the clients of one caller or to all; see
    /// [`send`](Self::send). For programs that pass messages on, such as gateways.
    pub fn send_raw(
        &self,
        caller: Option<&CallerKey>,
        id: &str,
        method: &str,
        params: Option<&RawObject>,
    ) {
        let empty = RawObject::default();
        let mut notification = ExtensionNotification::new(id, method, params.unwrap_or(&empty));
        notification.caller = caller.cloned();
        self.publish(notification);
    }

    /// Sends `notifications/elicitation/complete` to the client that was asked with this id of
    /// [`Ask::elicitation_id`](crate::Ask::elicitation_id), also after its call has ended: the user has finished at the
    /// URL. Clients ignore a repeated one. Nothing is sent for the id of a session that has ended, or of a client whose
    /// revision is not 2025-11-25.
    ///
    /// The client receives it on the GET stream of its session or on its pipe. With a change bus that connects several
    /// nodes, any node can send it.
    // spec: ELIC-10
    pub fn elicitation_complete(&self, id: &str) {
        self.publish(ExtensionNotification::elicitation_complete(id));
    }

    fn publish(&self, notification: ExtensionNotification) {
        let Some(server) = self.0.upgrade() else {
            return;
        };
        let (method, id) = (notification.method.clone(), notification.extension.clone());
        let event = ChangeEvent::Notification(Arc::new(notification));
        if !server.publish(event) {
            tracing::warn!(
                method = &*method,
                extension = &*id,
                "notification not sent: the server does not have the extension; add it"
            );
        }
    }
}

impl FromCall for Broadcaster {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let broadcaster = call.state::<Self>().cloned();
        broadcaster.ok_or_else(|| Rejection::Fault(Fault::internal("the call has no server")))
    }
}
