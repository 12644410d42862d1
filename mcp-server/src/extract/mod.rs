//! What a handler may take: values found in the call by their type.

mod args;
mod cancel;
mod client;
mod http_parts;
mod identity;
mod notes;
mod rejection;
mod state;
mod text;

use std::any::TypeId;
use std::sync::{Arc, Weak};

use mcp_core::ending::Ending;
use mcp_core::{Call, ClientFacts, Exchange, Fault, Outlet};
use mcp_types::{CompleteParams, JsonObject, RawObject};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

pub use args::{Args, RawArgs};
pub use cancel::Cancel;
pub use client::{ClientInfo, RequestMeta};
pub use http_parts::{Extension, FromHeader, Header, Headers};
pub use identity::Identity;
pub use notes::{Log, Progress};
pub use rejection::{ArgumentError, Rejection};
pub use state::State;

use crate::ask::Round;
use crate::guard::Watched;
use crate::live::{Catalogue, Edits, Live};
use crate::standing::{Scopes, Standing};
use crate::tools::Checking;
use crate::tools::constraints::Constraints;
use crate::tools::schema::Described;

/// A value that a handler may take as a parameter: found in the call, or the call is rejected.
///
/// # Examples
///
/// ```
/// use mcp_server::{CallContext, FromCall, Rejection};
///
/// /// The revision that the call speaks.
/// struct Revision(String);
///
/// impl FromCall for Revision {
///     fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
///         Ok(Self(call.facts().version.to_string()))
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor",
    label = "a handler cannot take this",
    note = "take arguments as `Args<{Self}>`, shared values as `State<{Self}>`, what a layer inserted as `Extension<{Self}>`"
)]
pub trait FromCall: Sized {
    /// Finds the value.
    ///
    /// # Errors
    ///
    /// A [`Rejection`] that says what is missing and how to send or provide it.
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection>;

    /// Writes down what the extractor needs, once, when the route is made.
    fn describe(_: &mut RouteSpec) {}
}

/// `None` where the extractor rejects the call.
impl<T: FromCall> FromCall for Option<T> {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(T::from_call(call).ok())
    }

    fn describe(spec: &mut RouteSpec) {
        let mut wanted = RouteSpec::default();
        T::describe(&mut wanted);
        spec.wants(&wanted);
    }
}

/// A call, as extractors see it.
#[derive(Debug)]
pub struct CallContext {
    // Boxed, since a call moves through several futures.
    exchange: Box<Exchange>,
    server: Arc<Catalogue>,
    /// The states of the routers that the route came by.
    scopes: Scopes,
    /// Of a URI template.
    variables: Option<RawObject>,
    over: Option<Ending>,
    round: Option<Arc<Round>>,
}

impl CallContext {
    pub(crate) fn new(exchange: Exchange, server: Arc<Catalogue>) -> Self {
        Self {
            exchange: Box::new(exchange),
            server,
            scopes: None,
            variables: None,
            over: None,
            round: None,
        }
    }

    /// The call, as a route of such a standing gets it.
    pub(crate) fn within(mut self, standing: &Standing) -> Self {
        self.scopes.clone_from(standing.scopes());
        self
    }

    /// Makes what the extractors of a handler need while it runs.
    ///
    /// # Errors
    ///
    /// The [`Fault`] for a client whose request state is not good.
    // spec: MRTR-02
    pub(crate) fn watch(&mut self, needs: Needs) -> Result<Watched, Fault> {
        if !needs.asks && !needs.over {
            return Ok(Watched::default());
        }
        let over = Ending::default();
        let method = self.exchange.call.method();
        if needs.asks && method.is_some_and(|method| method.spec().may_require_input) {
            let round = Round::open(&self.exchange, self.state(), over.clone())?;
            self.round = round.map(Arc::new);
        }
        self.over = Some(over.clone());
        Ok(Watched::new(over, self.round.clone()))
    }

    /// The run of a handler that asks; `None` when its client cannot be asked.
    pub(crate) fn round(&self) -> Option<&Arc<Round>> {
        self.round.as_ref()
    }

    /// The end of the call, for a handler that waits for it.
    pub(crate) fn over(&self) -> Option<&Ending> {
        self.over.as_ref()
    }

    pub(crate) fn with_variables(mut self, variables: RawObject) -> Self {
        self.variables = Some(variables);
        self
    }

    /// Takes the exchange out. What else belongs to the call comes back with an exchange.
    pub(crate) fn split(self) -> (Exchange, impl Fn(Exchange) -> Self + Send + Sync + 'static) {
        let Self {
            exchange,
            server,
            scopes,
            variables,
            // Made by the route itself, below all layers.
            over: _,
            round: _,
        } = self;
        let again = move |exchange| Self {
            exchange: Box::new(exchange),
            server: server.clone(),
            scopes: scopes.clone(),
            variables: variables.clone(),
            over: None,
            round: None,
        };
        (*exchange, again)
    }

    /// Takes the arguments: of a tool, of a prompt, the variables of a URI template, what is known
    /// already of the arguments that are completed. An empty object when there are none or they
    /// were taken before.
    pub fn take_arguments(&mut self) -> RawObject {
        let arguments = match &mut self.exchange.call {
            Call::CallTool(params) => params.arguments.take(),
            Call::GetPrompt(params) => params.arguments.take(),
            Call::ReadResource(_) => self.variables.take(),
            Call::Complete(params) => known(params),
            _ => None,
        };
        arguments.unwrap_or_else(RawObject::empty)
    }

    /// Takes the arguments as `T`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of what does not fit.
    pub(crate) fn parse_arguments<T: DeserializeOwned>(&mut self) -> Result<T, ArgumentError> {
        let arguments = self.take_arguments();
        match self.has_texts() {
            true => text::parse(&arguments),
            false => arguments.share(args::parse),
        }
    }

    /// Reads one of the arguments as `T`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] with the path of what does not fit; it starts with the name.
    pub(crate) fn parse_member<T: DeserializeOwned>(
        &self,
        name: &str,
        value: &RawValue,
    ) -> Result<T, ArgumentError> {
        match self.has_texts() {
            true => text::parse_member(name, value),
            false => args::parse_member(name, value),
        }
    }

    /// All arguments are strings; only those of tools are any JSON.
    // spec: PROMPT-03
    fn has_texts(&self) -> bool {
        !matches!(self.exchange.call, Call::CallTool(_))
    }

    /// The arguments, as long as nobody has taken them.
    pub(crate) fn arguments(&self) -> Option<&RawObject> {
        match &self.exchange.call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            Call::ReadResource(_) => self.variables.as_ref(),
            _ => None,
        }
    }

    /// Puts other arguments in the place of those of a tool.
    pub(crate) fn set_arguments(&mut self, arguments: RawObject) {
        if let Call::CallTool(params) = &mut self.exchange.call {
            params.arguments = Some(arguments);
        }
    }

    /// How the server checks arguments and results.
    pub(crate) fn checking(&self) -> &Arc<Checking> {
        &self.server.checking
    }

    /// What is asked.
    pub(crate) fn call(&self) -> &Call {
        &self.exchange.call
    }

    /// Who calls.
    pub fn facts(&self) -> &Arc<ClientFacts> {
        &self.exchange.facts
    }

    /// The request's `_meta` as it arrived.
    pub fn meta(&self) -> Option<&RawObject> {
        self.exchange.meta.as_ref()
    }

    /// Where progress and log messages go.
    pub fn outlet(&self) -> &Outlet {
        &self.exchange.outlet
    }

    /// What the transport and its layers know.
    pub fn extensions(&self) -> &http::Extensions {
        &self.exchange.extensions
    }

    /// A value that was given to [`Routes::state`](crate::Routes::state) of a router that the
    /// route came by, or to [`Server::state`](crate::Server::state).
    pub fn state<T: 'static>(&self) -> Option<&T> {
        let mut scopes = self.scopes.iter().flat_map(|scopes| scopes.iter());
        let own = scopes.find_map(|states| states.get());
        own.or_else(|| self.server.states.get())
    }

    /// The server that is called, of which something is going to change.
    pub(crate) fn expect_edits(&self, edits: Edits) -> Weak<Live> {
        let live = &self.server.live;
        if !self.server.edits.include(edits)
            && let Some(live) = live.upgrade()
        {
            live.expect(edits);
        }
        live.clone()
    }
}

fn known(params: &mut CompleteParams) -> Option<RawObject> {
    let arguments = params.context.take()?.arguments;
    RawObject::from_value(&arguments).ok()
}

/// What the extractors of a handler need, written down when its route is made.
#[derive(Debug, Default)]
pub struct RouteSpec {
    pub(crate) input_schema: Option<JsonObject>,
    pub(crate) constraints: Option<Constraints>,
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) logs: bool,
    pub(crate) edits: Edits,
    pub(crate) needs: Needs,
    pub(crate) problems: Vec<String>,
}

/// What a handler needs while it runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// It asks the client.
    pub(crate) asks: bool,
    /// It waits for the end of the call.
    pub(crate) over: bool,
}

impl RouteSpec {
    /// Sets the schema of the arguments. Its bounds, lengths, patterns and uniqueness are checked;
    /// all else is for the extractor to find.
    pub fn input_schema(&mut self, schema: JsonObject) {
        let constraints = Constraints::of(&schema);
        self.described(Described {
            schema,
            constraints,
            problem: None,
        });
    }

    pub(crate) fn described(&mut self, described: Described) {
        let Described {
            schema,
            constraints,
            problem,
        } = described;
        self.problems.extend(problem);
        self.constraints = constraints;
        if self.input_schema.replace(schema).is_some() {
            self.problem("more than one parameter describes the arguments; use one `Args<T>`, or plain parameters");
        }
    }

    /// Asks for a value of the server's state.
    pub fn needs_state<T: 'static>(&mut self) {
        self.states
            .push((TypeId::of::<T>(), std::any::type_name::<T>()));
    }

    /// Says that the handler sends log messages.
    pub fn sends_logs(&mut self) {
        self.logs = true;
    }

    /// Says that the handler asks the client.
    pub(crate) fn asks(&mut self) {
        self.needs.asks = true;
    }

    /// Says that the handler waits for the end of the call.
    pub(crate) fn waits_for_end(&mut self) {
        self.needs.over = true;
    }

    /// Takes over what an extractor uses where it is there. That it is missing is no mistake.
    fn wants(&mut self, optional: &Self) {
        self.logs |= optional.logs;
        self.edits.add(optional.edits);
        self.needs.asks |= optional.needs.asks;
        self.needs.over |= optional.needs.over;
    }

    /// Notes a mistake; serving the route is refused with it.
    pub fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }
}
