//! Extensions of the protocol that a server registers.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `handler` | [`MethodHandler`]: functions as handlers of custom methods |
//! | `route` | a custom method with its handler |
//! | `setup` | [`ServerExtension`], and [`ServerSetup`], which collects its parts |
//! | `raw` | [`RawExtension`]: an extension whose messages stay JSON |
//! | `tasks` | the methods of the tasks extension |

mod handler;
mod raw;
mod route;
mod setup;
mod tasks;

pub use handler::MethodHandler;
pub use raw::{Method, RawExtension};
pub(crate) use route::{MethodRoute, RouteMethods};
pub(crate) use setup::SetupParts;
pub use setup::{IntoServerExtension, ServerExtension, ServerSetup};
pub(crate) use tasks::TasksExtension;
