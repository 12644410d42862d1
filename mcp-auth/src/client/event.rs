//! [`AuthEvent`]: what happens during authorization, without secrets.

use futures_util::{Stream, StreamExt, stream};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::client::document::AuthDocument;

/// A step of authorization. Events contain no tokens, codes or secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthEvent {
    /// The server demands authorization.
    Challenged {
        /// The HTTP status: 401, or 403 for further scopes.
        status: u16,
    },
    /// A document was fetched: metadata, or the response to a registration.
    Fetched {
        /// The document without secrets.
        document: AuthDocument,
    },
    /// The authorization server's metadata was found.
    Discovered {
        /// The issuer.
        issuer: String,
    },
    /// The authorization server registered this client.
    Registered {
        /// The issuer.
        issuer: String,
    },
    /// The user is asked to log in. The login page opens after this event.
    LoginStarted {
        /// The MCP server.
        server: String,
        /// The issuer.
        issuer: String,
        /// The login page without its query.
        page: String,
        /// The requested scopes.
        scopes: String,
    },
    /// A token was issued.
    Authorized {
        /// The granted scopes.
        scopes: String,
        /// Seconds until the token expires.
        expires_in: Option<u64>,
    },
    /// The token was refreshed.
    Refreshed {
        /// Seconds until the token expires.
        expires_in: Option<u64>,
    },
    /// A token was taken from the store.
    Restored,
    /// The credentials were removed.
    LoggedOut,
    /// Authorization failed.
    Failed {
        /// The error message.
        message: String,
    },
}

/// Number of events that a slow receiver can catch up with.
const CAPACITY: usize = 64;

/// The event sender.
#[derive(Debug, Clone)]
pub(crate) struct EventSender(broadcast::Sender<AuthEvent>);

impl Default for EventSender {
    fn default() -> Self {
        Self(broadcast::Sender::new(CAPACITY))
    }
}

impl EventSender {
    pub(crate) fn send(&self, event: AuthEvent) {
        tracing::debug!(?event, "authorization");
        // Without a receiver the event is only logged.
        let _ = self.0.send(event);
    }

    /// Subscribes to the events from now on.
    pub(crate) fn subscribe(&self) -> impl Stream<Item = AuthEvent> + Send + Unpin + use<> {
        let events = self.0.subscribe();
        let events = stream::unfold(events, |mut events| async move {
            loop {
                match events.recv().await {
                    Ok(event) => return Some((event, events)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        });
        Box::pin(events.fuse())
    }
}
