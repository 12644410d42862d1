//! Client calls, one file per page of the specification.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `arguments` | serialization of arguments |
//! | `pages` | paginated lists |
//! | `tools`, `prompts`, `resources`, `completion`, `request` | calls |
//! | `extension` | extensions of the server |
//! | `session` | discovery, log level, roots and ping |
//! | `notifications` | notifications of the server |

mod arguments;
mod completion;
mod extension;
mod notifications;
mod pages;
mod prompts;
mod request;
mod resources;
mod session;
mod tools;

pub use extension::ExtensionClient;
pub(crate) use session::set_level;
