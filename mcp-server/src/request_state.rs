//! `requestState`: data of a call that travels through the client, encrypted and authenticated.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements>

mod binding;
mod keys;

pub(crate) use binding::Binding;
pub(crate) use keys::SealError;
pub use keys::{StateKeys, WeakSecret};
