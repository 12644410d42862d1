//! The trace that a call belongs to, as parameters of handlers.

use mcp_types::Meta;
use mcp_types::meta::{Baggage, TraceContext};

use super::{CallContext, FromCall, Rejection};

fn meta(call: &CallContext) -> Option<Meta> {
    call.meta()?.parse().ok()
}

/// The trace that the request says it belongs to. Take `Option<TraceContext>`: few clients send
/// one.
// spec: META-14
impl FromCall for TraceContext {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let trace = meta(call).and_then(|meta| meta.trace());
        trace.ok_or_else(|| Rejection::missing("this call needs a W3C trace context in `_meta`"))
    }
}

/// What the client's application sends along the trace. Take `Option<Baggage>`: few clients send
/// it.
// spec: META-14
impl FromCall for Baggage {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let baggage = meta(call).and_then(|meta| meta.baggage());
        baggage.ok_or_else(|| Rejection::missing("this call needs W3C baggage in `_meta`"))
    }
}
