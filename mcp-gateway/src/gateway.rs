//! Many servers behind one: [`Gateway`].
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `questions` | requests of a server while a call runs |
//! | `sessions` | sessions of a legacy server |
//! | `parked` | calls that wait for their client |
//! | `running` | one call of a server |
//! | `forward` | a call of the gateway: one call of a server, or several with input between them |
//! | `routes` | tools, resources, templates, prompts and completions |
//! | `updates` | subscriptions to resources |
//! | `lists` | the lists of all servers, kept current |
//! | `builder` | [`Gateway`] |

mod builder;
mod forward;
mod lists;
mod parked;
mod questions;
mod routes;
mod running;
mod sessions;
mod updates;

pub use builder::{Gateway, OpenGateway};
