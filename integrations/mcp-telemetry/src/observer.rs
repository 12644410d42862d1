//! Operations for messages that layers do not see, and session durations.

use std::sync::Arc;
use std::time::Instant;

use mcp_core::{Connection, Fault, Observation, ObservedMessage, Observer};
use mcp_types::{Meta, ProtocolVersion};
use tracing::Span;

use crate::error_type::Failure;
use crate::facts::{Details, Facts, session_attributes};
use crate::network::Network;
use crate::operation::Operation;
use crate::settings::Settings;
use crate::trace_context::Origin;

/// A layer's observer.
#[derive(Debug)]
pub(crate) struct TelemetryObserver(pub(crate) Arc<Settings>);

impl Observer for TelemetryObserver {
    fn message(&self, message: &ObservedMessage<'_>) -> Box<dyn Observation> {
        let facts = Facts::of_message(message, &self.0.names);
        let details = || Details::of_message(message);
        let operation = Operation::start(self.0.clone(), facts, details);
        if !message.is_sent {
            operation.set_origin(|| Origin::received(message.meta, message.extensions));
        }
        Box::new(MessageObservation(operation))
    }

    fn session(
        &self,
        version: ProtocolVersion,
        is_client: bool,
        connection: Option<&Connection>,
    ) -> Box<dyn Observation> {
        Box::new(SessionObservation {
            settings: self.0.clone(),
            version,
            is_client,
            network: Network::new(connection, None),
            started: Instant::now(),
            failure: None,
        })
    }
}

struct MessageObservation(Operation);

impl Observation for MessageObservation {
    fn span(&self) -> Span {
        self.0.span().clone()
    }

    fn inject(&self, meta: Meta) -> Meta {
        self.0.inject(meta)
    }

    fn end(self: Box<Self>, outcome: Result<(), &Fault>) {
        self.0.finish(outcome);
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
        let histogram = if self.is_client {
            &instruments.client_sessions
        } else {
            &instruments.server_sessions
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
