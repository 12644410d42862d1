//! Operations of messages that layers do not see, and the duration of sessions.

use std::sync::Arc;
use std::time::Instant;

use mcp_core::{Fault, Observation, ObservedMessage, ObservedSession, Observer};
use mcp_types::{Meta, Method, ProtocolVersion};
use tracing::Span;

use crate::error_type::Failure;
use crate::facts::{Details, Facts, session_attributes};
use crate::network::Network;
use crate::operation::Operation;
use crate::settings::Settings;
use crate::trace_context::Origin;
use crate::trace_context::http_trace::Head;

/// The observer of a layer.
#[derive(Debug)]
pub(crate) struct TelemetryObserver(pub(crate) Arc<Settings>);

impl Observer for TelemetryObserver {
    fn message(&self, message: &ObservedMessage<'_>) -> Box<dyn Observation> {
        let facts = Facts::of_message(message, &self.0.names);
        let mut operation =
            Operation::start(self.0.clone(), facts, || Details::of_message(message));
        operation.may_be_dropped = message.method == Method::Listen.as_str();
        if !message.is_sent {
            let head = message.extensions.map(Head::new);
            operation.set_origin(|| Origin::received(message.meta, head.as_ref()));
        }
        Box::new(MessageObservation {
            is_sent: message.is_sent,
            version: message.version,
            operation,
        })
    }

    fn session(&self, session: &ObservedSession<'_>) -> Box<dyn Observation> {
        Box::new(SessionObservation {
            settings: self.0.clone(),
            version: session.version,
            is_client: session.is_client,
            network: Network::new(session.connection, None),
            started: Instant::now(),
            failure: None,
        })
    }
}

struct MessageObservation {
    is_sent: bool,
    version: ProtocolVersion,
    operation: Operation,
}

impl Observation for MessageObservation {
    fn span(&self) -> Span {
        self.operation.span().clone()
    }

    fn inject(&self, meta: Meta) -> Meta {
        self.operation.inject(meta)
    }

    fn end(self: Box<Self>, outcome: Result<(), &Fault>) {
        let failure = outcome.err();
        let failure = failure.map(|fault| Failure::of_fault(fault, self.is_sent, self.version));
        self.operation.finish(failure.as_ref());
    }
}

/// A session. Its duration is recorded when it is dropped.
struct SessionObservation {
    settings: Arc<Settings>,
    version: ProtocolVersion,
    is_client: bool,
    network: Network,
    started: Instant,
    failure: Option<Failure>,
}

impl Observation for SessionObservation {
    fn end(mut self: Box<Self>, outcome: Result<(), &Fault>) {
        let failure = outcome.err();
        self.failure = failure.map(|fault| Failure::of_fault(fault, false, self.version));
    }
}

impl Drop for SessionObservation {
    fn drop(&mut self) {
        let Some(instruments) = self.settings.instruments() else {
            return;
        };
        let histogram = match self.is_client {
            true => &instruments.client_sessions,
            false => &instruments.server_sessions,
        };
        let attributes = session_attributes(
            self.version,
            &self.network,
            self.is_client,
            self.failure.as_ref(),
        );
        histogram.record(self.started.elapsed().as_secs_f64(), &attributes);
    }
}
