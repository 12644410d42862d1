//! What a call has learnt so far, on its way through the client.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#server-requirements>

mod binding;
mod keys;

pub(crate) use binding::Binding;
pub(crate) use keys::SealError;
pub use keys::{StateKeys, WeakSecret};
