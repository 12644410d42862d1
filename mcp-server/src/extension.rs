//! Extensions of the protocol that a server registers.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `handler` | [`MethodHandler`]: functions as handlers of custom methods |
//! | `route` | a custom method with its handler |
//! | `setup` | [`ServerExtension`], and [`ServerSetup`], which collects its parts |
//! | `tasks` | the methods of the tasks extension |

mod handler;
mod route;
mod setup;
mod tasks;

pub use handler::{IntoMethodResult, MethodHandler};
pub(crate) use route::MethodRoute;
pub(crate) use setup::SetupParts;
pub use setup::{ServerExtension, ServerSetup};
pub(crate) use tasks::TasksExtension;
