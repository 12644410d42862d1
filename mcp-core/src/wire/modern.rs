//! The wire of 2026-07-28, whose requests are self-contained.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic>

mod constants;
mod decode;
mod encode;
mod envelope;
mod errors;

pub(super) use decode::{reply as decode_reply, request as decode_request};
pub(super) use encode::{reply as encode_reply, request as encode_request, write_request_meta};
pub(crate) use envelope::Envelope;
pub(super) use errors::{to_error, to_fault, with_uri};

#[cfg(test)]
mod tests;
