//! What the handler of a route needs, which its extractors write down.

use std::any::TypeId;

use mcp_types::JsonObject;

use crate::constraints::Constraints;
use crate::edits::Edits;
use crate::live::MakeOthers;
use crate::round::BeginRound;
use crate::schema::Described;

/// What the extractors of a handler need, written down when its route is made.
#[derive(Debug, Default)]
pub struct RouteSpec {
    pub(crate) input_schema: Option<JsonObject>,
    pub(crate) constraints: Option<Constraints>,
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) logs: bool,
    pub(crate) edits: Edits,
    /// How what is served beside tools is made, when the route or its handler has to do with it.
    pub(crate) others: Option<MakeOthers>,
    pub(crate) needs: Needs,
    pub(crate) problems: Vec<String>,
}

/// What a handler needs while it runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// It asks the client: how a round of it begins.
    pub(crate) asks: Option<BeginRound>,
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

    /// Says that the handler asks the client, in rounds that begin so.
    pub(crate) fn asks(&mut self, begin: BeginRound) {
        self.needs.asks = Some(begin);
    }

    /// Says that the handler waits for the end of the call.
    pub(crate) fn waits_for_end(&mut self) {
        self.needs.over = true;
    }

    /// Takes over what an extractor uses where it is there. That it is missing is no mistake.
    pub(crate) fn wants(&mut self, optional: &Self) {
        self.logs |= optional.logs;
        self.edits.add(optional.edits);
        self.others = self.others.or(optional.others);
        self.needs.asks = self.needs.asks.or(optional.needs.asks);
        self.needs.over |= optional.needs.over;
    }

    /// Notes a mistake; serving the route is refused with it.
    pub fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }
}
