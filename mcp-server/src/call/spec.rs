//! Requirements of a route handler.

use std::any::{TypeId, type_name};

use super::needs::HandlerNeeds;
use super::prepare::Preparations;
use crate::change_kinds::ChangeKinds;
use crate::constraints::Constraints;
use crate::schema::{ArgumentSchema, DroppedArguments, InputSchema};

/// The requirements of a route handler. [`FromCall::describe`](crate::FromCall::describe) of each
/// extractor adds its own when the route is created. One that uses others describes them:
/// `State::<Db>::describe(spec)`.
#[derive(Debug, Default)]
pub struct RouteSpec {
    pub(crate) input_schema: Option<InputSchema>,
    pub(crate) constraints: Option<Constraints>,
    pub(crate) dropped: Option<DroppedArguments>,
    pub(crate) states: Vec<(TypeId, &'static str)>,
    pub(crate) sends_logs: bool,
    pub(crate) change_kinds: ChangeKinds,
    pub(crate) needs: HandlerNeeds,
    /// Extractors that await, in parameter order.
    pub(crate) preparations: Preparations,
    pub(crate) problems: Vec<String>,
}

impl RouteSpec {
    /// Sets the argument schema, with the checks of the type that the arguments are decoded into.
    pub(crate) fn set_arguments(&mut self, arguments: ArgumentSchema) {
        self.problems.extend(arguments.problem);
        self.constraints = arguments.constraints;
        self.dropped = arguments.dropped;
        self.set_input_schema(InputSchema::new(arguments.schema));
    }

    /// Sets the argument schema.
    ///
    /// Two extractors that set a schema are a mistake, which
    /// [`Server::check`](crate::Server::check) reports.
    pub(crate) fn set_input_schema(&mut self, schema: InputSchema) {
        if self.input_schema.replace(schema).is_some() {
            self.problem(
                "more than one parameter describes the arguments; use one `Args<T>`, or plain \
                 parameters",
            );
        }
    }

    /// Requires a value of type `T` in the state of the server or a router.
    /// [`Server::check`](crate::Server::check) reports when it is missing.
    pub(crate) fn needs_state<T: 'static>(&mut self) {
        self.states.push((TypeId::of::<T>(), type_name::<T>()));
    }

    /// Declares that the handler sends log messages, so that the server declares the capability
    /// `logging`.
    pub(crate) fn sends_logs(&mut self) {
        self.sends_logs = true;
    }

    /// Adds the requirements of an optional extractor. Missing state and schemas are not mistakes
    /// there.
    pub(crate) fn add_optional(&mut self, optional: &Self) {
        self.sends_logs |= optional.sends_logs;
        self.change_kinds.insert(optional.change_kinds);
        self.needs.input_round |= optional.needs.input_round;
        self.needs.close_signal |= optional.needs.close_signal;
        self.preparations.extend_optional(&optional.preparations);
    }

    /// Reports a mistake in the route. [`Server::check`](crate::Server::check) returns it.
    pub fn problem(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }
}
