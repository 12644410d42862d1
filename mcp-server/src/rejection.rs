//! Errors of extractors.

use std::borrow::Cow;

use mcp_core::Fault;
use mcp_core::schema::{Violation, Violations};

/// The error of an extractor that cannot find its value in the call. The handler does not run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Rejection {
    /// The arguments do not match the handler's types. In a tool the language model receives the
    /// error as a failed result, because it can correct the call.
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    /// Any other reason. The client receives it as a protocol error.
    #[error(transparent)]
    Fault(#[from] Fault),
}

impl Rejection {
    /// The rejection for a value that the client, the transport or a layer should have supplied.
    pub fn missing(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Fault(Fault::bad_params(message))
    }

    /// Creates the rejection for a mistake in the server's setup, which the log explains.
    pub(crate) fn not_set_up() -> Self {
        Fault::internal("the server is not set up for this call").into()
    }
}

/// Arguments that do not match their types or their schema: one or several mistakes, each with its path.
// spec: TOOL-20
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid arguments: {violations}")]
pub struct ArgumentError {
    violations: Violations,
}

impl ArgumentError {
    /// An error at `path` in the arguments, such as `user.address[2]`. An empty path means the
    /// arguments as a whole. `reason` says what is wrong and what is expected.
    pub fn new(path: impl Into<Cow<'static, str>>, reason: impl Into<String>) -> Self {
        Violations::from(Violation::new(path.into().into_owned(), reason)).into()
    }

    /// Returns the path of the first mistake.
    pub(crate) fn first_path(&self) -> &str {
        let first = self.violations.iter().next();
        first.map_or("", |violation| &violation.path)
    }

    /// Adds the mistakes that `found` contains, and keeps own mistakes that `found` does not cover. A
    /// mistake is covered by one at the same path, above or below.
    pub(crate) fn merge(self, mut found: Vec<Violation>) -> Self {
        let is_covered = |own: &Violation| {
            let mut others = found.iter().map(|other| &*other.path);
            others.any(|other| {
                let is_around = !other.is_empty() && is_within(&own.path, other);
                is_around || is_within(other, &own.path)
            })
        };
        let own: Vec<_> = self.violations.iter().cloned().collect();
        let own: Vec<_> = own.into_iter().filter(|own| !is_covered(own)).collect();
        found.splice(0..0, own);
        match Violations::gather(found) {
            Some(violations) => Self { violations },
            None => self,
        }
    }
}

impl From<Violations> for ArgumentError {
    fn from(violations: Violations) -> Self {
        Self { violations }
    }
}

/// Returns whether the value at the path `inner` is the one at `outer`, or inside it.
fn is_within(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}
