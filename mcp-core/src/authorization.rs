//! Authorization of calls: the verified caller, and what admits its calls.
//!
//! | module | content |
//! |---|---|
//! | `principal` | the identity behind a call, and the key of what is kept for it |
//! | `scopes` | scopes that calls need |
//! | `gate` | admits or refuses a decoded call |

mod gate;
mod principal;
mod scopes;

pub use gate::Gate;
pub(crate) use gate::admit;
pub use principal::{CallerKey, Principal};
pub use scopes::{RequiredScopes, ScopedItem};
