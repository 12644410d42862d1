//! Connecting to a server: a builder's settings, the target, version negotiation, authorization.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `login` | the authorization of a builder |
//! | `builder` | [`ClientBuilder`], a client's settings |
//! | `negotiate` | version negotiation: sends what [`negotiation`](crate::negotiation) decides |
//! | `open` | connecting over a channel |
//! | `authorization` | connecting with authorization, logins of connected clients |
//! | `target` | [`Target`], the server that a client connects to |

#[cfg(feature = "auth")]
mod authorization;
mod builder;
#[cfg(feature = "auth")]
mod login;
mod negotiate;
mod open;
mod target;

pub use builder::ClientBuilder;
#[cfg(feature = "auth")]
pub(crate) use login::Login;
#[cfg(feature = "stdio")]
pub use target::Io;
pub use target::{InProcess, Over, Target};
