//! The layer.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, ready};

use mcp_core::tower::{Middleware, Next};
use mcp_core::{BoxFuture, Exchange, Observer, Reply, TaskReply};
use mcp_types::ext::tasks::RESULT_TYPE;
use mcp_types::{CallToolResult, RawObject};
use opentelemetry::Context;
use opentelemetry::context::FutureExt as _;
use opentelemetry::metrics::Meter;
use opentelemetry::trace::SpanKind;
use parking_lot::Mutex;
use tracing::Span;

use crate::facts::{Details, Facts};
use crate::observer::TelemetryObserver;
use crate::operation::Operation;
use crate::sampling::{self, Decision};
use crate::settings::Settings;
use crate::trace_context::{self, Origin};

/// A layer that records each request and notification as a span and as a duration, by the OpenTelemetry
/// conventions for MCP. It also records the messages that other layers do not see (the handshake,
/// `server/discover`, subscriptions, requests to the other side), and the session duration.
///
/// * **Spans** are `tracing` spans `mcp.server` and `mcp.client` with the target `mcp`. Every
///   subscriber sees them; the layer of `tracing-opentelemetry` exports them. [`init`](crate::init)
///   installs it.
/// * **Metrics** are recorded with the global meter, or with [`meter`](Self::meter): the histograms
///   `mcp.server.operation.duration`, `mcp.client.operation.duration`, `mcp.server.session.duration` and
///   `mcp.client.session.duration`, in seconds.
/// * **Propagation**: requests carry `traceparent`, `tracestate` and `baggage` in `_meta`. The span of a
///   client is the parent of its server's span. The HTTP request's span becomes a link.
///
/// Metrics contain the name of a tool or prompt only after the server has confirmed it by a list or a
/// result, and at most 1,000 names of each kind: peers cannot create time series.
///
/// The guide page [Telemetry](https://docs.rs/omnimcp/latest/mcp/guide/telemetry/) lists all names.
///
/// # Examples
///
/// ```
/// use mcp::prelude::*;
/// use mcp::telemetry::Telemetry;
/// use mcp::Client;
///
/// let server = Server::new("clock", "1.0.0")
///     .tool(Tool::new("now").handler(|| "half past"))
///     .layer(Telemetry::server());
/// let client = Client::builder().layer(Telemetry::client());
/// ```
#[derive(Debug)]
#[must_use = "a layer has an effect only on the server or client that it is added to"]
pub struct Telemetry {
    settings: Arc<Settings>,
    is_client: bool,
}

impl Telemetry {
    /// Creates a server's layer. Add it last, so that it is the outermost.
    pub fn server() -> Self {
        Self {
            settings: Arc::default(),
            is_client: false,
        }
    }

    /// Creates a client's layer, for [`ClientBuilder::layer`](https://docs.rs/omnimcp). It covers
    /// the server requests as well: it is not added as an inbound layer.
    pub fn client() -> Self {
        Self {
            settings: Arc::default(),
            is_client: true,
        }
    }

    /// Records metrics with `meter`. Default: the global meter with the scope `mcp`, as it is at the
    /// first message.
    pub fn meter(self, meter: Meter) -> Self {
        self.set(|settings| settings.meter = Some(meter))
    }

    /// Records spans only. A call that is not sampled then costs half as much. Default: spans and metrics; without a
    /// meter provider, metrics are thrown away when they are recorded.
    pub fn without_metrics(self) -> Self {
        self.set(|settings| settings.without_metrics = true)
    }

    /// Adds `mcp.resource.uri` to metrics. Default: only spans contain it. Every URI is a time series, so
    /// use it only where the server has few resources and no templates.
    pub fn resource_uris_in_metrics(self) -> Self {
        self.set(|settings| settings.uris_in_metrics = true)
    }

    /// Records tool call arguments in spans, as `redact` returns them: it receives the tool's
    /// name and the arguments, and returns `None` to leave them out. At most 8 KiB are recorded.
    /// Default: no arguments, because they may be secrets.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::telemetry::Telemetry;
    ///
    /// let layer = Telemetry::server()
    ///     .arguments(|tool, arguments| (tool == "add").then(|| arguments.as_str().to_owned()));
    /// ```
    pub fn arguments(
        self,
        redact: impl Fn(&str, &RawObject) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.set(|settings| settings.arguments = Some(Arc::new(redact)))
    }

    /// Records the results of tool calls in spans, as `redact` returns them. See
    /// [`arguments`](Self::arguments).
    pub fn results(
        self,
        redact: impl Fn(&str, &CallToolResult) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.set(|settings| settings.results = Some(Arc::new(redact)))
    }

    fn set(mut self, set: impl FnOnce(&mut Settings)) -> Self {
        // The settings are shared only after the layer was added.
        if let Some(settings) = Arc::get_mut(&mut self.settings) {
            set(settings);
        }
        self
    }
}

impl Middleware for Telemetry {
    fn wrap(self, next: Next) -> Next {
        let Self {
            settings,
            is_client,
        } = self;
        Next::new(move |exchange| record(&settings, is_client, exchange, &next))
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        Some(Arc::new(TelemetryObserver(self.settings.clone())))
    }
}

/// Runs a call that a client sends, or that a server has received.
fn record(
    settings: &Arc<Settings>,
    is_client: bool,
    mut exchange: Exchange,
    next: &Next,
) -> BoxFuture<'static, Reply> {
    let received = || {
        let meta = exchange.meta.beyond_envelope();
        Origin::received(meta, Some(&exchange.extensions))
    };
    let method = exchange.call.method_name();
    let facts = || Facts::of_exchange(&exchange, is_client, &settings.names);
    let decision = if is_client {
        sampling::decide(&SpanKind::Client, method, Origin::sent)
    } else {
        sampling::decide(&SpanKind::Server, method, received)
    };
    let operation = match decision {
        Decision::Refused(context) if settings.without_metrics => {
            if is_client {
                add_context(&context, &mut exchange);
            }
            return run_unsampled(context, exchange, next);
        }
        Decision::Refused(context) => {
            Operation::new(settings.clone(), facts(), Span::none(), Some(context))
        }
        Decision::Span(decided) => {
            let details = || Details::of_exchange(&exchange, is_client);
            let operation = Operation::start(settings.clone(), facts(), details);
            // The subscriber knows the parent of a call that is sent.
            let undecided = || {
                if is_client {
                    Origin::default()
                } else {
                    received()
                }
            };
            operation.set_origin(|| decided.unwrap_or_else(undecided));
            operation
        }
    };
    let mut task = None;
    if is_client {
        add_context(&operation.context(), &mut exchange);
    } else if exchange.facts.declares_tasks() {
        task = Some(TaskOperation::watch(&mut exchange));
    }
    run(operation, task, exchange, next)
}

/// Adds a context to a request's `_meta`.
fn add_context(context: &Context, exchange: &mut Exchange) {
    if trace_context::is_sent(context) {
        exchange.update_meta(|meta| trace_context::inject(context, meta));
    }
}

/// Runs a call of which nothing is recorded, in its context. Starts it at once, see [`run`].
fn run_unsampled(context: Context, exchange: Exchange, next: &Next) -> BoxFuture<'static, Reply> {
    let reply = {
        let _entered = context.clone().attach();
        next.run(exchange)
    };
    Box::pin(reply.with_context(context))
}

/// Starts the call at once: a future that contained the exchange would copy it.
fn run(
    operation: Operation,
    task: Option<Arc<TaskOperation>>,
    exchange: Exchange,
    next: &Next,
) -> BoxFuture<'static, Reply> {
    operation.record_arguments(&exchange);
    let reply = {
        let _entered = operation.enter();
        next.run(exchange)
    };
    Box::pin(RunningCall {
        reply,
        operation: Some(operation),
        task,
    })
}

/// A running call. An `async` block would store the operation and the reply twice.
struct RunningCall {
    reply: BoxFuture<'static, Reply>,
    /// `None` after it was given to the task.
    operation: Option<Operation>,
    /// `None` if the call cannot become a task.
    task: Option<Arc<TaskOperation>>,
}

impl Future for RunningCall {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Reply> {
        let this = &mut *self;
        let entered = this.operation.as_ref().and_then(Operation::enter);
        let reply = ready!(this.reply.as_mut().poll(cx));
        drop(entered);
        match &this.task {
            Some(task) if is_task(&reply) => {
                if let Some(operation) = this.operation.take() {
                    task.start(operation);
                }
            }
            _ => {
                if let Some(operation) = &mut this.operation {
                    operation.finish_reply(&reply);
                }
            }
        }
        Poll::Ready(reply)
    }
}

fn is_task(reply: &Reply) -> bool {
    matches!(reply, Reply::Extended { result_type, .. } if **result_type == *RESULT_TYPE)
}

/// The operation of a call that becomes a task. It ends with the task, and as a cancelled one when the handler
/// and the engine drop it.
#[derive(Default)]
struct TaskOperation(Mutex<TaskState>);

#[derive(Default)]
enum TaskState {
    /// The call is not a task yet.
    #[default]
    Pending,
    Running(Operation),
    /// The task has ended before its creation was answered.
    Ended(Reply),
}

impl TaskOperation {
    /// Asks the task engine for the task's reply.
    fn watch(exchange: &mut Exchange) -> Arc<Self> {
        let task = Arc::new(Self::default());
        let ended = task.clone();
        exchange
            .extensions
            .insert(TaskReply(Arc::new(move |reply: &Reply| ended.end(reply))));
        task
    }

    fn start(&self, mut operation: Operation) {
        let mut state = self.0.lock();
        if let TaskState::Ended(reply) = &*state {
            operation.finish_reply(reply);
        } else {
            *state = TaskState::Running(operation);
        }
    }

    fn end(&self, reply: &Reply) {
        let mut state = self.0.lock();
        if let TaskState::Running(mut operation) = std::mem::take(&mut *state) {
            operation.finish_reply(reply);
        } else {
            *state = TaskState::Ended(reply.clone());
        }
    }
}
