//! Functions of the program that give tokens and assertions.

use std::fmt;
use std::sync::Arc;

use mcp_core::BoxFuture;

use crate::error::AuthError;
use crate::secret::Secret;

/// A function of the program that gives a token or an assertion.
pub(crate) type Source =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Secret, AuthError>> + Send + Sync>;

pub(crate) fn source<F, R, T, E>(function: F) -> Source
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output = Result<T, E>> + Send + 'static,
    T: Into<Secret>,
    E: fmt::Display,
{
    Arc::new(move || {
        let value = function();
        Box::pin(async move {
            let value = value
                .await
                .map_err(|error| AuthError::Source(error.to_string()))?;
            // Files of platforms end with a line break.
            let value: Secret = value.into();
            Ok(Secret::new(value.expose().trim()))
        })
    })
}
