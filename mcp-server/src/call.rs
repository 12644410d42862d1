//! One call: its handler's requirements, its context, and the handler's run.
//!
//! | module | content |
//! |---|---|
//! | `needs`, `spec` | what a handler needs, and the requirements of its route |
//! | `context` | the call's context, from which extractors take their values |
//! | `prepare` | extractors that await |
//! | `guard` | what ends with a handler |
//! | `run` | the handler's run: panics, questions to the client, the end of the call |

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
