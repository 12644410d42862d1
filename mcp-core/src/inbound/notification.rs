//! A notification of a client that a server extension may handle.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use mcp_types::{Method, Notification, ProtocolVersion, RawObject};

use crate::authorization::{self, Gate, Principal};
use crate::call::{Exchange, Input, Service};
use crate::connection::{ClientContext, Extensions, ServerProfile};
use crate::message::{Call, Fault};
use crate::panic::{catch_panic, catch_panic_sync};
use crate::wire::Envelope;

/// A notification of a client that an extension of the server may handle. Transports pass it to the
/// service as [`Call::Notification`].
pub struct InboundNotification {
    call: Call,
    facts: Arc<ClientContext>,
    meta: Option<RawObject>,
}

impl InboundNotification {
    /// Decodes a notification. Returns `None` for notifications of the protocol itself, and when the
    /// server declares no extension.
    ///
    /// A modern notification carries the client in `_meta`, as a request does. `facts` returns the
    /// client of any other notification. Without both, the client has no capabilities.
    pub fn decode(
        notification: &Notification<'_>,
        profile: &ServerProfile,
        facts: impl FnOnce() -> Option<Arc<ClientContext>>,
    ) -> Option<Self> {
        if profile.capabilities.extensions.is_empty() {
            return None;
        }
        let method = Method::from_name(&notification.method);
        if method.is_some_and(|method| !method.spec().of_extension) {
            return None;
        }
        let params = &notification.params;
        let envelope = match Envelope::from_params(params) {
            Ok(envelope) => envelope,
            Err(error) => {
                tracing::debug!(error = %mcp_types::escaped(&error), "a notification with a malformed `_meta` is ignored");
                return None;
            }
        };
        let facts = envelope.map(|envelope| envelope.facts).or_else(facts);
        let unknown = || Arc::new(ClientContext::new(ProtocolVersion::LATEST));
        Some(Self {
            call: Call::Notification {
                method: (&*notification.method).into(),
                params: Some(params.without_meta()),
            },
            facts: facts.unwrap_or_else(unknown),
            meta: params.object("_meta").ok().flatten(),
        })
    }

    /// Passes the notification to the service, if the gate admits it. The future is ready at its end. A
    /// service panic has no further effect. Dropping the future cancels the handler.
    ///
    /// # Errors
    ///
    /// Returns the fault of the gate.
    pub fn serve(
        mut self,
        service: &dyn Service,
        gate: Option<&dyn Gate>,
        extensions: Extensions,
    ) -> Result<BoxFuture<'static, ()>, Fault> {
        if let Some(replacement) = service.replacement(&self.call) {
            self.call = replacement;
        }
        if let Some(gate) = gate {
            authorization::admit(gate, &self.call, &self.facts, extensions.get::<Principal>())?;
        }
        let mut exchange = Exchange::new(self.call, self.facts);
        // A notification has no reply that could ask the client.
        exchange.input = Input::Absent;
        exchange.meta = self.meta.into();
        exchange.extensions = extensions;
        let started = catch_panic_sync(|| service.call(exchange));
        Ok(Box::pin(async move {
            let served = match started {
                Ok(serving) => catch_panic(serving).await.map(drop),
                Err(panic) => Err(panic),
            };
            if let Err(panic) = served {
                tracing::error!(panic = %mcp_types::escaped(&panic), "a notification was not handled");
            }
        }))
    }
}

impl fmt::Debug for InboundNotification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InboundNotification")
            .field("method", &self.call.method_name())
            .finish_non_exhaustive()
    }
}
