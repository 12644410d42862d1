//! One span and one line of log per request.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use mcp_core::tower::{Middleware, Next, from_fn};
use mcp_core::{Call, Exchange, Fault, Reply, ResultBody};
use tracing::field::Empty;
use tracing::{Instrument, Level, Span};

/// The longest text of a client that goes into a span, in bytes.
const MOST_BYTES: usize = 256;

/// A layer that puts a `tracing` span around each request and writes one line when it is answered,
/// or given up by its client.
///
/// The span `request` has the fields `method`, `tool`, `prompt` or `uri` (without user, query and
/// fragment), `client` (what it claims to be), `subject` (who it is, where a layer has
/// inserted a [`Principal`](mcp_core::Principal)), `version` and `era`; and from the request's `_meta`
/// the trace that it belongs to: `trace_id`, `parent_id` and `tracestate` of W3C Trace Context.
/// Handlers find it in [`RequestMeta`](crate::RequestMeta). The line has an `outcome` and
/// the time it took as `duration_ms`. Answered lists and completions are told at level `DEBUG`,
/// everything else at `INFO`.
///
/// Neither arguments nor results nor the texts of errors are ever written: they may hold secrets.
///
/// Costs next to nothing where no subscriber is interested in it.
///
/// # Examples
///
/// ```
/// use mcp_server::middleware::RequestLog;
/// use mcp_server::{Server, Tool, ToolExt};
///
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").handler(|| "half past"))
///     .layer(RequestLog::new());
/// ```
///
/// A tracing system takes the span up by [`on_span`](Self::on_span):
///
/// ```
/// use mcp_server::middleware::RequestLog;
///
/// let log = RequestLog::new().on_span(|span, exchange| {
///     if let Some(trace) = exchange.trace() {
///         // With `tracing-opentelemetry`: `span.set_parent(…)`.
///         span.record("trace_id", format!("{:032x}", trace.parent.trace_id));
///     }
/// });
/// ```
// spec: META-14
#[derive(Clone, Default)]
pub struct RequestLog {
    baggage: bool,
    on_span: Option<Arc<OnSpan>>,
}

type OnSpan = dyn Fn(&Span, &Exchange) + Send + Sync;

impl RequestLog {
    /// A log of all requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also writes `baggage`, which clients' applications send along a trace. It may hold what
    /// belongs in no log.
    #[must_use]
    pub fn baggage(mut self) -> Self {
        self.baggage = true;
        self
    }

    /// Does something with each span before its request runs. Not called where no subscriber takes
    /// the span.
    #[must_use]
    pub fn on_span(mut self, then: impl Fn(&Span, &Exchange) + Send + Sync + 'static) -> Self {
        self.on_span = Some(Arc::new(then));
        self
    }

    #[inline]
    fn span(&self, exchange: &Exchange) -> Span {
        let span = tracing::info_span!(
            "request",
            method = cut(exchange.call.method_name()),
            tool = Empty,
            prompt = Empty,
            uri = Empty,
            client = Empty,
            subject = Empty,
            version = exchange.facts.version.as_str(),
            era = ?exchange.facts.version.era(),
            trace_id = Empty,
            parent_id = Empty,
            tracestate = Empty,
            baggage = Empty,
        );
        if span.is_disabled() {
            return span;
        }
        match &exchange.call {
            Call::CallTool(params) => span.record("tool", cut(&params.name)),
            Call::GetPrompt(params) => span.record("prompt", cut(&params.name)),
            Call::ReadResource(params) => span.record("uri", cut(&without_secrets(&params.uri))),
            _ => &span,
        };
        if let Some(client) = exchange.facts.client_info() {
            let client = format!("{}/{}", cut(&client.name), cut(&client.version));
            span.record("client", &*client);
        }
        if let Some(principal) = exchange.principal() {
            span.record("subject", cut(&principal.subject));
        }
        if let Some(trace) = exchange.trace() {
            let parent = trace.parent;
            span.record("trace_id", format_args!("{:032x}", parent.trace_id));
            span.record("parent_id", format_args!("{:016x}", parent.parent_id));
            if let Some(state) = &trace.state {
                span.record("tracestate", cut(state.as_str()));
            }
        }
        if let (true, Some(baggage)) = (self.baggage, exchange.baggage()) {
            span.record("baggage", cut(baggage.as_str()));
        }
        if let Some(then) = &self.on_span {
            then(&span, exchange);
        }
        span
    }
}

impl fmt::Debug for RequestLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestLog")
            .field("baggage", &self.baggage)
            .finish_non_exhaustive()
    }
}

#[inline]
fn cut(text: &str) -> &str {
    let mut end = text.len().min(MOST_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A URI without what is often secret in it: the user, the query, the fragment.
#[inline]
fn without_secrets(uri: &str) -> Cow<'_, str> {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let uri = &uri[..end];
    let Some((scheme, rest)) = uri.split_once("://") else {
        return uri.into();
    };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    match authority.rfind('@') {
        Some(at) => format!("{scheme}://{}", &rest[at + 1..]).into(),
        None => uri.into(),
    }
}

// Inline, as all that it calls here: servers without a log do not compile it.
impl Middleware for RequestLog {
    #[inline]
    fn wrap(self, next: Next) -> Next {
        let log = Arc::new(self);
        let logged = from_fn(move |exchange, next: Next| {
            let span = log.span(&exchange);
            let line = Line::start(&span, &exchange.call);
            let running = async move {
                let reply = next.run(exchange).await;
                if let Some(line) = line {
                    line.end(outcome(&reply));
                }
                reply
            };
            running.instrument(span)
        });
        logged.wrap(next)
    }
}

/// The line that is written in the end; when it is dropped before, the client has given up.
#[derive(Debug)]
struct Line {
    span: Span,
    start: Instant,
    /// It is of interest to users, not only to developers.
    loud: bool,
    ended: bool,
}

impl Line {
    /// Nothing when nobody reads it.
    #[inline]
    fn start(span: &Span, call: &Call) -> Option<Self> {
        if span.is_disabled() && !tracing::enabled!(Level::INFO) {
            return None;
        }
        let quiet = matches!(
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
            loud: !quiet,
            ended: false,
        })
    }

    #[inline]
    fn end(mut self, outcome: &'static str) {
        self.ended = true;
        self.write(outcome);
    }

    #[inline]
    fn write(&self, outcome: &'static str) {
        let duration_ms = self.start.elapsed().as_micros() as f64 / 1000.0;
        if self.loud {
            tracing::info!(parent: &self.span, outcome, duration_ms, "answered");
        } else {
            tracing::debug!(parent: &self.span, outcome, duration_ms, "answered");
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        if !self.ended {
            self.write("given up");
        }
    }
}

/// In a word, without anything that a handler or a client has written.
#[inline]
fn outcome(reply: &Reply) -> &'static str {
    match reply {
        Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } if result.is_error() => "tool failed",
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
            Fault::Deadline => "too late",
            Fault::Internal(_) => "failed",
            _ => "fault",
        },
        _ => "other",
    }
}
