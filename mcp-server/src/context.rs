//! A call on its way to a handler, as extractors see it.

use std::sync::Arc;

use mcp_core::close_signal::CloseSignal;
use mcp_core::{Call, ClientFacts, Exchange, Fault, Outlet};
use mcp_types::{CompleteParams, RawObject};

use crate::checking::Checking;
use crate::guard::Watched;
use crate::live::Catalogue;
use crate::round::AnyRound;
use crate::spec::Needs;
use crate::state::Scopes;

/// A call, as extractors see it.
// Boxed, since a call moves through several futures.
#[derive(Debug)]
pub struct CallContext(Box<Inner>);

#[derive(Debug)]
struct Inner {
    exchange: Exchange,
    /// What was served when the call came.
    catalogue: Arc<Catalogue>,
    /// The states of the routers that the route came by.
    scopes: Scopes,
    /// Of a URI template.
    variables: Option<RawObject>,
    over: Option<CloseSignal>,
    round: Option<Arc<dyn AnyRound>>,
}

impl CallContext {
    #[inline]
    pub(crate) fn new(exchange: Exchange, catalogue: Arc<Catalogue>) -> Self {
        Self::of(exchange, catalogue, None, None)
    }

    #[inline]
    fn of(
        exchange: Exchange,
        catalogue: Arc<Catalogue>,
        scopes: Scopes,
        variables: Option<RawObject>,
    ) -> Self {
        Self(Box::new(Inner {
            exchange,
            catalogue,
            scopes,
            variables,
            over: None,
            round: None,
        }))
    }

    /// The call, as a route in such routers gets it.
    pub(crate) fn within(mut self, scopes: &Scopes) -> Self {
        self.0.scopes.clone_from(scopes);
        self
    }

    /// Makes what the extractors of a handler need while it runs.
    ///
    /// # Errors
    ///
    /// The [`Fault`] for a client whose request state is not good.
    // spec: MRTR-02
    pub(crate) fn watch(&mut self, needs: Needs) -> Result<Watched, Fault> {
        match needs.asks.is_some() || needs.over {
            true => self.begin_watch(needs),
            false => Ok(Watched::default()),
        }
    }

    #[inline(never)]
    fn begin_watch(&mut self, needs: Needs) -> Result<Watched, Fault> {
        let over = CloseSignal::default();
        let method = self.0.exchange.call.method();
        if let Some(begin) = needs.asks
            && method.is_some_and(|method| method.spec().may_require_input)
        {
            self.0.round = begin(&self.0.exchange, self.state(), over.clone())?;
        }
        self.0.over = Some(over.clone());
        Ok(Watched::new(over, self.0.round.clone()))
    }

    /// The run of a handler that asks; `None` when its client cannot be asked.
    pub(crate) fn round(&self) -> Option<&Arc<dyn AnyRound>> {
        self.0.round.as_ref()
    }

    /// The end of the call, for a handler that waits for it.
    pub(crate) fn over(&self) -> Option<&CloseSignal> {
        self.0.over.as_ref()
    }

    pub(crate) fn with_variables(mut self, variables: RawObject) -> Self {
        self.0.variables = Some(variables);
        self
    }

    /// Takes the exchange out. What else belongs to the call comes back with an exchange.
    pub(crate) fn split(self) -> (Exchange, impl Fn(Exchange) -> Self + Send + Sync + 'static) {
        let Inner {
            exchange,
            catalogue,
            scopes,
            variables,
            // Made by the route itself, below all layers.
            over: _,
            round: _,
        } = *self.0;
        let again = move |exchange| {
            let (catalogue, scopes) = (catalogue.clone(), scopes.clone());
            Self::of(exchange, catalogue, scopes, variables.clone())
        };
        (exchange, again)
    }

    /// Takes the arguments: of a tool, of a prompt, the variables of a URI template, what is known
    /// already of the arguments that are completed. An empty object when there are none or they
    /// were taken before.
    pub fn take_arguments(&mut self) -> RawObject {
        let arguments = match &mut self.0.exchange.call {
            Call::CallTool(params) => params.arguments.take(),
            Call::GetPrompt(params) => params.arguments.take(),
            Call::ReadResource(_) => self.0.variables.take(),
            Call::Complete(params) => known(Arc::make_mut(params)),
            _ => None,
        };
        arguments.unwrap_or_else(RawObject::empty)
    }

    /// The arguments, as long as nobody has taken them.
    pub(crate) fn arguments(&self) -> Option<&RawObject> {
        match &self.0.exchange.call {
            Call::CallTool(params) => params.arguments.as_ref(),
            Call::GetPrompt(params) => params.arguments.as_ref(),
            Call::ReadResource(_) => self.0.variables.as_ref(),
            _ => None,
        }
    }

    /// Puts other arguments in the place of those of a tool.
    pub(crate) fn set_arguments(&mut self, arguments: RawObject) {
        if let Call::CallTool(params) = &mut self.0.exchange.call {
            params.arguments = Some(arguments);
        }
    }

    /// How the server checks arguments and results.
    pub(crate) fn checking(&self) -> &Arc<Checking> {
        &self.0.catalogue.checking
    }

    /// What is asked.
    pub(crate) fn call(&self) -> &Call {
        &self.0.exchange.call
    }

    /// Who calls.
    pub fn facts(&self) -> &Arc<ClientFacts> {
        &self.0.exchange.facts
    }

    /// The request's `_meta` as it arrived.
    pub fn meta(&self) -> Option<&RawObject> {
        self.0.exchange.meta.as_ref()
    }

    /// Where progress and log messages go.
    pub fn outlet(&self) -> &Outlet {
        &self.0.exchange.outlet
    }

    /// What the transport and its layers know.
    pub fn extensions(&self) -> &mcp_core::Extensions {
        &self.0.exchange.extensions
    }

    /// A value that was given to [`Routes::state`](crate::Routes::state) of a router that the
    /// route came by, or to [`Server::state`](crate::Server::state).
    pub fn state<T: 'static>(&self) -> Option<&T> {
        let mut scopes = self.0.scopes.iter().flat_map(|scopes| scopes.iter());
        let own = scopes.find_map(|states| states.get());
        own.or_else(|| self.0.catalogue.states.get())
    }
}

fn known(params: &mut CompleteParams) -> Option<RawObject> {
    let arguments = params.context.take()?.arguments;
    RawObject::from_value(&arguments).ok()
}
