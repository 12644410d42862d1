//! What was typed so far.

use std::ops::Deref;

use mcp_core::Call;

use crate::context::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;

/// What was typed so far of the argument that is completed: a `&str`. Only in completions.
///
/// # Examples
///
/// ```
/// use mcp_server::Prefix;
///
/// fn languages(prefix: Prefix) -> Vec<&'static str> {
///     let all = ["perl", "python", "rust"];
///     all.into_iter().filter(|language| language.starts_with(&*prefix)).collect()
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it is taken apart in parameters")]
pub struct Prefix(pub String);

impl Deref for Prefix {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromCall for Prefix {
    #[inline]
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        match call.call() {
            Call::Complete(params) => Ok(Self(params.argument.value.clone())),
            _ => Err(Rejection::missing("nothing is completed in this call")),
        }
    }
}
