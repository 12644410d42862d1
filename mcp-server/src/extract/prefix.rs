//! The input of a completion.

use std::ops::Deref;

use mcp_core::Call;

use super::from_call::FromCall;
use crate::call::CallContext;
use crate::rejection::Rejection;

/// The text that the user has typed for the argument that is being completed. Dereferences to `&str`.
/// Rejects calls other than completions.
///
/// # Examples
///
/// ```
/// use mcp::Prefix;
///
/// fn languages(prefix: Prefix) -> Vec<&'static str> {
///     let all = ["perl", "python", "rust"];
///     all.into_iter().filter(|language| language.starts_with(&*prefix)).collect()
/// }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "parameters destructure it")]
pub struct Prefix(pub String);

impl Deref for Prefix {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl FromCall for Prefix {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        match call.call() {
            Call::Complete(params) => Ok(Self(params.argument.value.clone())),
            _ => Err(Rejection::missing("nothing is completed in this call")),
        }
    }
}
