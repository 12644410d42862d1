//! A span and a log line per request.

use std::time::Instant;

use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Call, Exchange, Fault, Reply, RequestName};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span};

/// Limit on the length of a client's string in a span, in bytes.
const MAX_FIELD_BYTES: usize = 256;

/// A layer that puts a `tracing` span around each request and writes one event when the request is
/// answered or cancelled.
///
/// The span `request` has these fields:
///
/// * `method`; and `tool`, `prompt` or `uri` (without user, query and fragment),
/// * `client`: name and version that the client declares,
/// * `subject`: the authenticated user, if a layer has inserted a
///   [`Principal`](mcp_core::Principal),
/// * `version` and `era` of the protocol,
/// * `trace_id`, `parent_id` and `tracestate` of the W3C trace context in the request's `_meta`.
///   Handlers find it in [`RequestMeta`](crate::RequestMeta).
///
/// The event has an `outcome` and the duration as `duration_ms`. Its level is `DEBUG` for lists and
/// completions and `INFO` for other requests.
///
/// Arguments, results and error messages are never written, because they may contain secrets.
///
/// Without an interested subscriber the layer costs next to nothing.
///
/// # Examples
///
/// ```
/// use mcp::middleware::RequestLog;
/// use mcp::prelude::*;
///
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").handler(|| "half past"))
///     .layer(RequestLog::new());
/// ```
///
/// A layer that is added before it runs inside of the span, which is [`Span::current`] there: it can connect the span to a
/// tracing system.
#[derive(Debug, Clone, Default)]
pub struct RequestLog {
    baggage: bool,
}

impl RequestLog {
    /// Creates a log of all requests, without baggage.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the W3C `baggage` of requests to the span. Baggage may contain data that must not be
    /// logged.
    #[must_use]
    pub fn baggage(mut self) -> Self {
        self.baggage = true;
        self
    }

    fn span(&self, exchange: &Exchange) -> Span {
        let name = RequestName::of(&exchange.call);
        let span = tracing::info_span!(
            "request",
            method = truncate(name.method),
            tool = Empty,
            prompt = Empty,
            uri = Empty,
            client = Empty,
            subject = Empty,
            version = exchange.facts.version.as_str(),
            era = if exchange.facts.version.is_modern() {
                "modern"
            } else {
                "legacy"
            },
            trace_id = Empty,
            parent_id = Empty,
            tracestate = Empty,
            baggage = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        if let Some(tool) = name.tool {
            span.record("tool", truncate(tool));
        }
        if let Some(prompt) = name.prompt {
            span.record("prompt", truncate(prompt));
        }
        if let Some(uri) = name.public_uri() {
            span.record("uri", truncate(&uri));
        }
        if let Some(client) = exchange.facts.client_info() {
            let client = format!("{}/{}", truncate(&client.name), truncate(&client.version));
            span.record("client", &*client);
        }
        if let Some(principal) = exchange.principal() {
            span.record("subject", truncate(&principal.subject));
        }
        if let Some(trace) = exchange.trace() {
            let parent = trace.parent;
            span.record("trace_id", format_args!("{:032x}", parent.trace_id));
            span.record("parent_id", format_args!("{:016x}", parent.parent_id));
            if let Some(state) = &trace.state {
                span.record("tracestate", truncate(state.as_str()));
            }
        }
        if let (true, Some(baggage)) = (self.baggage, exchange.baggage()) {
            span.record("baggage", truncate(baggage.as_str()));
        }
        span
    }
}

fn truncate(text: &str) -> &str {
    mcp_types::truncate(text, MAX_FIELD_BYTES)
}

impl Middleware for RequestLog {
    fn wrap(self, next: Next) -> Next {
        let logged = from_fn(move |exchange, next: Next| {
            let span = self.span(&exchange);
            let event = AnswerEvent::start(&span, &exchange.call);
            let running = async move {
                let reply = next.run(exchange).await;
                if let Some(event) = event {
                    event.finish(outcome(&reply));
                }
                reply
            };
            running.instrument(span)
        });
        logged.wrap(next)
    }
}

/// The event at the end of a request. A drop without `finish` means that the client cancelled it.
#[derive(Debug)]
struct AnswerEvent {
    span: Span,
    start: Instant,
    level: Level,
    is_finished: bool,
}

impl AnswerEvent {
    /// Returns `None` when no subscriber is interested.
    fn start(span: &Span, call: &Call) -> Option<Self> {
        if span.is_disabled() && !tracing::enabled!(Level::INFO) {
            return None;
        }
        let is_routine = matches!(
            call,
            Call::ListTools(_)
                | Call::ListResources(_)
                | Call::ListResourceTemplates(_)
                | Call::ListPrompts(_)
                | Call::Complete(_)
        );
        Some(Self {
            span: span.clone(),
            start: Instant::now(),
            level: if is_routine {
                Level::DEBUG
            } else {
                Level::INFO
            },
            is_finished: false,
        })
    }

    fn finish(mut self, outcome: &'static str) {
        self.is_finished = true;
        self.write(outcome);
    }

    fn write(&self, outcome: &'static str) {
        let duration_ms = self.start.elapsed().as_micros() as f64 / 1000.0;
        if self.level == Level::INFO {
            tracing::info!(parent: &self.span, outcome, duration_ms, "answered");
        } else {
            tracing::debug!(parent: &self.span, outcome, duration_ms, "answered");
        }
    }
}

impl Drop for AnswerEvent {
    fn drop(&mut self) {
        if !self.is_finished {
            self.write("given up");
        }
    }
}

/// Returns the outcome of a request in words, without strings of the handler or the client.
fn outcome(reply: &Reply) -> &'static str {
    match reply {
        Reply::Complete { body, .. } if body.is_tool_error() => "tool failed",
        Reply::Complete { .. } => "ok",
        Reply::InputRequired(_) => "input required",
        Reply::Extended { .. } => "extended",
        Reply::Fault(fault) => match fault {
            Fault::InvalidMessage(_) | Fault::InvalidRequest(_) => "invalid request",
            Fault::BadParams { .. } => "bad parameters",
            Fault::NoSuchMethod { .. } => "no such method",
            Fault::NoSuchItem { .. } => "unknown item",
            Fault::MissingCapability { .. } => "missing capability",
            Fault::Refused(_) => "refused",
            Fault::RateLimited { .. } => "too many calls",
            Fault::Overloaded { .. } => "overloaded",
            Fault::InsufficientScope { .. } => "insufficient scope",
            Fault::Deadline => "too late",
            Fault::Internal(_) => "failed",
            _ => "fault",
        },
        _ => "other",
    }
}
