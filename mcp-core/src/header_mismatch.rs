//! A mismatch between the headers and the arguments of a call, which is reported late.

use crate::Fault;

/// A mismatch between the headers of a `tools/call` and its arguments, found by the transport.
///
/// The fault names a header and an argument of the tool. Callers that may not see the tool must not
/// learn them. Therefore the transport adds this value to the
/// [extensions](crate::Extensions::insert) of the call instead of answering with it. A service that
/// implements [`Service::header_plan`](crate::Service::header_plan) answers with the fault once it
/// knows that the tool exists for the caller, and before it runs the tool.
///
/// # Examples
///
/// ```
/// use mcp::core::{Exchange, HeaderMismatch, Reply};
///
/// fn refuse_mismatch(exchange: &Exchange) -> Option<Reply> {
///     let mismatch = exchange.extensions.get::<HeaderMismatch>()?;
///     Some(mismatch.fault().clone().into())
/// }
/// ```
// spec: XHDR-17
#[derive(Debug, Clone, PartialEq)]
pub struct HeaderMismatch(Fault);

impl HeaderMismatch {
    /// The mismatch that `fault` describes.
    pub fn new(fault: Fault) -> Self {
        Self(fault)
    }

    /// Returns the fault to answer the call with.
    pub fn fault(&self) -> &Fault {
        &self.0
    }
}
