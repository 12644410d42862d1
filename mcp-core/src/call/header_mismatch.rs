//! A mismatch between the headers and the arguments of a call, which is reported late.

use crate::message::Fault;

/// A mismatch between a `tools/call`'s headers and its arguments, found by the transport.
///
/// The fault names a header and a tool argument. Callers that may not see the tool must not
/// learn them. Therefore the transport adds this value to the call's
/// [extensions](crate::Extensions::insert) instead of answering with it. A service that
/// returns plans from [`Service::admit`](crate::Service::admit) answers with the fault once it
/// knows that the tool exists for the caller, and before it runs the tool.
///
/// # Examples
///
/// ```
/// use mcp::core::{Exchange, HeaderMismatch, Reply};
///
/// fn refuse_mismatch(exchange: &Exchange) -> Option<Reply> {
///     let mismatch = exchange.extensions.get::<HeaderMismatch>()?;
///     Some(mismatch.0.clone().into())
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct HeaderMismatch(pub Fault);
