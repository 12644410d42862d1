//! The call context, from which extractors take their values.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use mcp_core::close_signal::CloseSignal;
use mcp_core::{
    Call, ClientContext, Exchange, Extensions, Fault, NotificationSender, ServerProfile, TaskEngine,
};
use mcp_types::{CompleteParams, RawObject};

use super::guard::CallGuard;
use super::needs::HandlerNeeds;
use crate::input_round::InputRound;
use crate::request_state::Sealer;
use crate::schema::InputSchema;
use crate::state::{RouterStates, StateMap};
use crate::validation::Validation;

/// Values that all calls of a server share.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerContext {
    pub(crate) states: StateMap,
    pub(crate) validation: Validation,
    /// Messages of errors that handlers return by `?` go to the log only.
    pub(crate) masks_errors: bool,
    pub(crate) structured_only: bool,
    pub(crate) sealer: Arc<Sealer>,
    pub(crate) tasks: Option<ServerTasks>,
}

/// The engine that runs calls as tasks.
#[derive(Clone)]
pub(crate) struct ServerTasks {
    pub(crate) engine: Arc<dyn TaskEngine>,
    /// The server's identity, for the task results.
    pub(crate) profile: Arc<ServerProfile>,
}

impl fmt::Debug for ServerTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTasks")
    }
}

/// A call, as extractors see it; the argument of [`FromCall::from_call`](crate::FromCall::from_call). An extractor
/// reads the arguments, and all else that other extractors know, by these: `RawArgs::from_call(call)`.
// One pointer, because several futures store it.
#[derive(Debug)]
pub struct CallContext(Box<Inner>);

#[derive(Debug)]
struct Inner {
    exchange: Exchange,
    route: RouteContext,
    /// The argument schema of the handler's extractors.
    input_schema: Option<InputSchema>,
    /// Signal that the call was answered or cancelled; only for handlers that need it.
    close_signal: Option<CloseSignal>,
    /// Only for handlers that ask, and clients that can be asked.
    input_round: Option<Arc<InputRound>>,
    /// Values of extractors that await.
    prepared: Vec<Box<dyn Any + Send>>,
}

/// The parts of a [`CallContext`] that come from the server and the route, not from the client.
#[derive(Debug)]
pub(crate) struct RouteContext {
    server: Arc<ServerContext>,
    router_states: RouterStates,
    /// Values of the template's variables.
    variables: Option<RawObject>,
}

impl CallContext {
    pub(crate) fn new(exchange: Exchange, server: &Arc<ServerContext>) -> Self {
        let route = RouteContext {
            server: server.clone(),
            router_states: RouterStates::default(),
            variables: None,
        };
        Self::from_parts(exchange, route)
    }

    /// The call from the result of [`into_parts`](Self::into_parts).
    pub(crate) fn from_parts(exchange: Exchange, route: RouteContext) -> Self {
        Self(Box::new(Inner {
            exchange,
            route,
            input_schema: None,
            close_signal: None,
            input_round: None,
            prepared: Vec::new(),
        }))
    }

    /// Splits the call for layers, which see only the exchange. Layers run before
    /// [`start_handler`](Self::start_handler).
    pub(crate) fn into_parts(self) -> (Exchange, RouteContext) {
        (self.0.exchange, self.0.route)
    }

    pub(crate) fn set_router_states(&mut self, states: &RouterStates) {
        self.0.route.router_states.clone_from(states);
    }

    pub(crate) fn set_variables(&mut self, variables: RawObject) {
        self.0.route.variables = Some(variables);
    }

    pub(super) fn set_input_schema(&mut self, schema: Option<&InputSchema>) {
        self.0.input_schema = schema.cloned();
    }

    /// The schema of all arguments that the handler takes.
    pub(crate) fn input_schema(&self) -> Option<&InputSchema> {
        self.0.input_schema.as_ref()
    }

    /// Creates the resources that the handler needs. The guard has to live as long as the handler.
    ///
    /// # Errors
    ///
    /// Returns the [`Fault`] for a client that sent an invalid `requestState`.
    pub(super) fn start_handler(&mut self, needs: HandlerNeeds) -> Result<CallGuard, Fault> {
        if !needs.input_round && !needs.close_signal {
            return Ok(CallGuard::default());
        }
        let signal = CloseSignal::default();
        if needs.input_round && self.0.exchange.call.may_require_input() {
            let sealer = &self.0.route.server.sealer;
            self.0.input_round = InputRound::start(&self.0.exchange, sealer, signal.clone())?;
        }
        self.0.close_signal = Some(signal.clone());
        Ok(CallGuard::new(signal, self.0.input_round.clone()))
    }

    /// The round of a handler that asks. `None` when its client cannot be asked.
    pub(crate) fn input_round(&self) -> Option<&Arc<InputRound>> {
        self.0.input_round.as_ref()
    }

    /// The signal that the call was answered or cancelled, for handlers that declared the need.
    pub(crate) fn close_signal(&self) -> Option<&CloseSignal> {
        self.0.close_signal.as_ref()
    }

    /// Takes the arguments: those of a tool or a prompt, the variables of a URI template, or the
    /// already known arguments in a completion. Returns an empty object when there are none or when
    /// they were taken before.
    pub(crate) fn take_arguments(&mut self) -> RawObject {
        let arguments = match &mut self.0.exchange.call {
            Call::CallTool(params) => params.arguments.take(),
            Call::GetPrompt(params) => params.arguments.take(),
            Call::ReadResource(_) => self.0.route.variables.take(),
            Call::Complete(params) => take_known_arguments(Arc::make_mut(params)),
            _ => None,
        };
        arguments.unwrap_or_default()
    }

    /// Takes the parameters of an extension message.
    pub(crate) fn take_custom_params(&mut self) -> Option<RawObject> {
        match &mut self.0.exchange.call {
            Call::Other { params, .. } | Call::Notification { params, .. } => params.take(),
            _ => None,
        }
    }

    /// The arguments of a tool or a prompt, or the variables of a URI template, unless they were
    /// taken.
    pub(crate) fn arguments(&self) -> Option<&RawObject> {
        match &self.0.exchange.call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            Call::ReadResource(_) => self.0.route.variables.as_ref(),
            _ => None,
        }
    }

    /// Adds the value of an extractor that awaits, for the parameter of its type.
    pub(crate) fn add_prepared<T: Send + 'static>(&mut self, value: T) {
        self.0.prepared.push(Box::new(value));
    }

    /// Removes and returns the first value of this type that [`add_prepared`](Self::add_prepared) added.
    pub(crate) fn take_prepared<T: 'static>(&mut self) -> Option<T> {
        let prepared = &mut self.0.prepared;
        let index = prepared.iter().position(|value| value.is::<T>())?;
        let value = prepared.remove(index).downcast().ok()?;
        Some(*value)
    }

    /// Replaces the tool arguments.
    pub(crate) fn set_arguments(&mut self, arguments: RawObject) {
        if let Call::CallTool(params) = &mut self.0.exchange.call {
            params.arguments = Some(arguments);
        }
    }

    pub(crate) fn validation(&self) -> &Validation {
        &self.0.route.server.validation
    }

    pub(crate) fn tasks(&self) -> Option<&ServerTasks> {
        self.0.route.server.tasks.as_ref()
    }

    pub(crate) fn masks_errors(&self) -> bool {
        self.0.route.server.masks_errors
    }

    /// Returns whether this call's client receives no text that repeats structured content.
    pub(crate) fn is_structured_only(&self) -> bool {
        self.0.route.server.structured_only && self.facts().version.has_titles_and_structure()
    }

    pub(crate) fn call(&self) -> &Call {
        &self.0.exchange.call
    }

    /// The message's method, such as `tools/call`.
    pub(crate) fn method(&self) -> &str {
        self.call().method_name()
    }

    /// The name of the tool or prompt, or the resource's URI, as the client sent it.
    pub fn item(&self) -> Option<&str> {
        self.call().item()
    }

    /// The client's version, capabilities and name, as the client declares them.
    pub fn facts(&self) -> &Arc<ClientContext> {
        &self.0.exchange.facts
    }

    /// The request's `_meta` as it arrived.
    pub(crate) fn meta(&self) -> Option<&RawObject> {
        self.0.exchange.meta.object()
    }

    /// The notifications for this call's progress and log messages.
    pub fn notifications(&self) -> &NotificationSender {
        &self.0.exchange.notifications
    }

    /// The request's extensions: values that the transport and layers inserted.
    pub fn extensions(&self) -> &Extensions {
        &self.0.exchange.extensions
    }

    /// The value of type `T` from [`Routes::state`](crate::Routes::state) of the innermost router
    /// that has one, or else from [`Server::state`](crate::Server::state).
    pub fn state<T: 'static>(&self) -> Option<&T> {
        let route = &self.0.route;
        let own = route.router_states.get();
        own.or_else(|| route.server.states.get())
    }
}

/// Takes the arguments whose values the user has already chosen.
fn take_known_arguments(params: &mut CompleteParams) -> Option<RawObject> {
    let arguments = params.context.take()?.arguments;
    RawObject::from_value(&arguments).ok()
}
