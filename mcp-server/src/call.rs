//! One call: its handler's requirements, its context, and the handler's run.

mod context;
mod guard;
mod needs;
mod prepare;
mod run;
mod spec;

pub use context::CallContext;
pub(crate) use context::{ServerContext, ServerTasks};
pub(crate) use needs::HandlerNeeds;
pub(crate) use run::CallTarget;
pub use spec::RouteSpec;
