//! `requestState`: data of a call that travels through the client, encrypted and authenticated.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements>
//!
//! | file | content, lowest first |
//! |---|---|
//! | `binding` | digest of the request that a state belongs to |
//! | `keys` | secrets and settings |
//! | `sealer` | encryption for one server |

mod binding;
mod keys;
mod sealer;

pub(crate) use binding::{Binding, INPUT_MEMBERS};
pub use keys::{StateKeys, WeakSecret};
pub(crate) use sealer::{SealError, Sealer};
