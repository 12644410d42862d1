//! Results of other servers that a handler passes on.

use mcp_core::{Fault, ResultBody};
use mcp_types::Method;

/// Returns the body of a result from `method`.
///
/// # Errors
///
/// Returns [`Fault::Internal`] for the result of another method.
pub(super) fn check_method(body: ResultBody, method: Method) -> Result<ResultBody, Fault> {
    if body.forwarded_method() == Some(method) {
        Ok(body)
    } else {
        Err(foreign_result(method))
    }
}

/// The fault of a handler that returns no result of its method.
pub(super) fn foreign_result(method: Method) -> Fault {
    Fault::internal(format!("the handler has returned no result of {method}"))
}
