//! Values for handlers: the caller's claims, and its token if the program keeps it.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::cache::{Digest, digest};
use crate::secret::Secret;

/// The claims of the caller's token: the parameter `Identity<Claims>` of handlers. `Identity` without a type has the
/// issuer, the subject and the client. `Debug` omits the claims.
///
/// # Examples
///
/// ```
/// use mcp::Identity;
/// use mcp::auth::Claims;
///
/// fn whoami(Identity(who): Identity, Identity(claims): Identity<Claims>) -> String {
///     let tenant: Option<String> = claims.get("tenant");
///     format!("{} of {}", who.subject, tenant.as_deref().unwrap_or("no tenant"))
/// }
/// ```
#[derive(Clone)]
pub struct Claims(Arc<Map<String, Value>>);

impl Claims {
    pub(super) fn new(members: Map<String, Value>) -> Self {
        Self(Arc::new(members))
    }

    /// A claim. `None` when the token does not have it, or when it has another type.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.0.get(name)?).ok()
    }

    /// Reads all claims into a type of the program.
    ///
    /// # Errors
    ///
    /// Returns the error of the deserialization. Its message may quote claims.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(Value::Object((*self.0).clone()))
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Claims(..)")
    }
}

/// An access token: the argument of verifiers, and of [`TokenExchange`](super::TokenExchange). `Debug`
/// omits its value.
///
/// Handlers receive the token of their caller as `Identity<AccessToken>` only if the program has called
/// [`ResourceServer::keep_access_token`](super::ResourceServer::keep_access_token). Never send it to
/// another service: it was issued for this one.
#[derive(Debug, Clone)]
pub struct AccessToken(Arc<Secret>);

impl AccessToken {
    pub(super) fn new(token: &str) -> Self {
        Self(Arc::new(Secret::new(token)))
    }

    /// The value. Do not log it, and do not send it to other services.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    pub(super) fn digest(&self) -> Digest {
        digest(self.expose().as_bytes())
    }
}
