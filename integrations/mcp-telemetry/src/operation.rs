//! One operation: its span, and its duration as a metric.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Instant;

use mcp_core::{Call, Exchange, Fault, Reply, ResultBody, catch_panic_sync, wire};
use mcp_types::ext::events::STREAM;
use mcp_types::{Meta, Method, truncate};
use opentelemetry::ContextGuard;
use tracing::Span;
use tracing::field::Empty;
use tracing::span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::error_type::Failure;
use crate::facts::{Details, EXECUTE_TOOL, Facts};
use crate::known_names::{KnownNames, NameKind};
use crate::network::Attributes;
use crate::settings::Settings;
use crate::trace_context::{self, Origin};

/// Maximum length of a string from a peer in a span, in bytes.
const MAX_FIELD_BYTES: usize = 1024;

/// Limit on the length of arguments and results in a span, in bytes.
const MAX_CONTENT_BYTES: usize = 8 * 1024;

/// A running operation. Dropping it without [`finish`](Self::finish) means that it was cancelled.
pub(crate) struct Operation {
    settings: Arc<Settings>,
    facts: Facts,
    span: Span,
    /// The context of an operation that was not sampled. Its span is [`Span::none`].
    unsampled: Option<opentelemetry::Context>,
    started: Instant,
    is_finished: bool,
}

/// Ends the current operation of the thread when it is dropped.
pub(crate) enum EnteredOperation<'a> {
    Span { _guard: span::Entered<'a> },
    Unsampled { _guard: ContextGuard },
}

impl Operation {
    pub(crate) fn start<'a>(
        settings: Arc<Settings>,
        facts: Facts,
        details: impl Fn() -> Details<'a>,
    ) -> Self {
        let span = make_span(&facts, details);
        Self::new(settings, facts, span, None)
    }

    pub(crate) fn new(
        settings: Arc<Settings>,
        facts: Facts,
        span: Span,
        unsampled: Option<opentelemetry::Context>,
    ) -> Self {
        Self {
            settings,
            facts,
            span,
            unsampled,
            started: Instant::now(),
            is_finished: false,
        }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// Sets the operation's place in its trace. It is computed only for a span that is recorded.
    pub(crate) fn set_origin(&self, origin: impl FnOnce() -> Origin) {
        if !self.span.is_disabled() {
            origin().apply(&self.span);
        }
    }

    /// Makes the operation the current one of the thread until the guard is dropped. `None` where no
    /// subscriber records it.
    pub(crate) fn enter(&self) -> Option<EnteredOperation<'_>> {
        if let Some(context) = &self.unsampled {
            return Some(EnteredOperation::Unsampled {
                _guard: context.clone().attach(),
            });
        }
        let is_recorded = !self.span.is_disabled();
        is_recorded.then(|| EnteredOperation::Span {
            _guard: self.span.enter(),
        })
    }

    /// Adds the operation's context to the message's `_meta`.
    pub(crate) fn inject(&self, meta: Meta) -> Meta {
        trace_context::inject(&self.context(), meta)
    }

    /// Returns the context that the message carries: that of the span, or else the ambient one.
    pub(crate) fn context(&self) -> opentelemetry::Context {
        if let Some(context) = &self.unsampled {
            return context.clone();
        }
        if self.span.is_disabled() {
            return trace_context::ambient();
        }
        let context = self.span.context();
        if trace_context::is_sent(&context) {
            context
        } else {
            trace_context::ambient()
        }
    }

    /// Records the arguments of a tool call, if the settings want them.
    pub(crate) fn record_arguments(&self, exchange: &Exchange) {
        if let (Some(redact), Call::CallTool(params)) = (&self.settings.arguments, &exchange.call)
            && let Some(arguments) = &params.arguments
        {
            self.record_content("gen_ai.tool.call.arguments", || {
                redact(&params.name, arguments)
            });
        }
    }

    /// Records what a function of the program makes of content. A panic of the function hides the content.
    fn record_content(&self, field: &'static str, redact: impl FnOnce() -> Option<String>) {
        if self.span.is_disabled() {
            return;
        }
        match catch_panic_sync(redact) {
            Ok(text) => {
                let text = text.as_deref();
                let text = text.map(|text| truncate(text, MAX_CONTENT_BYTES));
                self.span.record(field, text);
            }
            Err(panic) => {
                tracing::error!(panic = %mcp_types::escaped(&panic), "content was not redacted");
            }
        }
    }

    /// Ends the operation with a reply. Takes a reference, because a move copies the operation.
    pub(crate) fn finish_reply(&mut self, reply: &Reply) {
        let failure = Failure::of_reply(reply, self.facts.is_sent, self.facts.version);
        learn(&self.settings.names, reply);
        // A result that is an error proves a tool only where the server itself has made it.
        let is_confirmed = match reply {
            Reply::Fault(_) => false,
            _ => failure.is_none() || !self.facts.is_sent,
        };
        if is_confirmed {
            self.facts.confirm(&self.settings.names);
        }
        self.record_result(reply);
        self.end(failure.as_ref());
    }

    /// Ends the operation of a message that layers do not see.
    pub(crate) fn finish(mut self, outcome: Result<(), &Fault>) {
        let facts = &self.facts;
        let failure = outcome.err();
        let failure = failure.map(|fault| Failure::of_fault(fault, facts.is_sent, facts.version));
        self.end(failure.as_ref());
    }

    fn record_result(&self, reply: &Reply) {
        if let (Some(redact), Reply::Complete { body, .. }, Some(tool)) =
            (&self.settings.results, reply, self.facts.tool())
        {
            self.record_content("gen_ai.tool.call.result", || {
                let result = wire::tool_result(body)?;
                redact(tool, &result)
            });
        }
    }

    fn end(&mut self, failure: Option<&Failure>) {
        self.is_finished = true;
        if let Some(failure) = failure.filter(|_| !self.span.is_disabled()) {
            self.span.record("error.type", &*failure.error_type);
            self.span.record("otel.status_code", "ERROR");
            if let Some(code) = &failure.code {
                self.span.record("rpc.response.status_code", &**code);
            }
            if let Some(message) = &failure.message {
                let message = self.facts.without_secrets(message);
                let message = truncate(&message, MAX_FIELD_BYTES);
                self.span.record("otel.status_description", message);
            }
        }
        if let Some(version) = self.facts.network.refresh() {
            self.span.record("network.protocol.version", version);
        }
        let Some(instruments) = self.settings.instruments() else {
            return;
        };
        let histogram = if self.facts.is_sent {
            &instruments.client_operations
        } else {
            &instruments.server_operations
        };
        let with_uri = self.settings.uris_in_metrics;
        let seconds = self.started.elapsed().as_secs_f64();
        let mut attributes = Attributes::new();
        self.facts
            .push_attributes(failure, with_uri, &mut attributes);
        histogram.record(seconds, &attributes);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        if self.is_finished {
            return;
        }
        // A stream ends when its client no longer wants it.
        let method = self.facts.method.as_str();
        let is_stream = method == Method::Listen.as_str() || method == STREAM;
        let failure = (!is_stream).then(Failure::cancelled);
        self.end(failure.as_ref());
    }
}

/// Adds the names that a list contains to the known ones.
fn learn(names: &KnownNames, reply: &Reply) {
    let Reply::Complete { body, .. } = reply else {
        return;
    };
    match body {
        ResultBody::ListTools(page) => {
            for tool in &page.tools {
                names.add(NameKind::Tool, &tool.name);
            }
        }
        ResultBody::ListPrompts(page) => {
            for prompt in &page.prompts {
                names.add(NameKind::Prompt, &prompt.name);
            }
        }
        _ => {}
    }
}

/// Makes the span. Every value is passed at once, because each later `record` locks the span. The macro
/// evaluates the values only for a span that a subscriber records.
fn make_span<'a>(facts: &Facts, details: impl Fn() -> Details<'a>) -> Span {
    let cell = OnceCell::new();
    let details = || cell.get_or_init(&details);
    macro_rules! make {
        ($name:literal, $kind:literal) => {
            tracing::info_span!(
                target: "mcp",
                $name,
                otel.name = truncate(&facts.span_name(), MAX_FIELD_BYTES),
                otel.kind = $kind,
                otel.status_code = Empty,
                otel.status_description = Empty,
                mcp.method.name = truncate(facts.method.as_str(), MAX_FIELD_BYTES),
                mcp.protocol.version = facts.version.as_str(),
                mcp.session.id = details().session.as_ref().map(|id| field(&*id.0)),
                mcp.resource.uri = facts.uri().map(field),
                error.type = Empty,
                gen_ai.tool.name = facts.tool().map(field),
                gen_ai.prompt.name = facts.prompt().map(field),
                gen_ai.operation.name = facts.tool().map(|_| EXECUTE_TOOL),
                gen_ai.tool.call.arguments = Empty,
                gen_ai.tool.call.result = Empty,
                jsonrpc.request.id = details().id.map(ToString::to_string).as_deref().map(field),
                rpc.response.status_code = Empty,
                network.transport = facts.network.transport(),
                network.protocol.name = facts.network.protocol(),
                network.protocol.version = facts.network.protocol_version(),
                server.address = facts.server().map(|(host, _)| field(host)),
                server.port = facts.server().and_then(|(_, port)| port).map(i64::from),
                client.address = facts.client(details()).map(|client| client.ip.to_string()).as_deref(),
                client.port = facts.client(details()).and_then(|client| client.port).map(i64::from),
            )
        };
    }
    if facts.is_sent {
        make!("mcp.client", "client")
    } else {
        make!("mcp.server", "server")
    }
}

/// Shortens a string from a peer to the field limit.
fn field(text: &str) -> &str {
    truncate(text, MAX_FIELD_BYTES)
}
