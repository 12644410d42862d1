//! Values for handlers: the claims of the caller, and its token if the program keeps it.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::cache::{Digest, digest};
use crate::secret::Secret;

/// The claims of the caller's token: the parameter `Identity<Claims>` of handlers. `Debug` shows issuer,
/// subject and client only.
///
/// # Examples
///
/// ```
/// use mcp::Identity;
/// use mcp::auth::Claims;
///
/// fn whoami(Identity(claims): Identity<Claims>) -> String {
///     let tenant: Option<String> = claims.get("tenant");
///     format!("{} of {}", claims.subject(), tenant.as_deref().unwrap_or("no tenant"))
/// }
/// ```
#[derive(Clone)]
pub struct Claims(Arc<ClaimsInner>);

#[derive(Clone)]
struct ClaimsInner {
    issuer: String,
    subject: String,
    client: Option<String>,
    members: Map<String, Value>,
}

impl Claims {
    pub(super) fn new(issuer: String, subject: String) -> Self {
        Self(Arc::new(ClaimsInner {
            issuer,
            subject,
            client: None,
            members: Map::new(),
        }))
    }

    pub(super) fn set_client(&mut self, client: Option<&str>) {
        Arc::make_mut(&mut self.0).client = client.map(str::to_owned);
    }

    pub(super) fn set_members(&mut self, members: Map<String, Value>) {
        Arc::make_mut(&mut self.0).members = members;
    }

    pub(super) fn members(&self) -> &Map<String, Value> {
        &self.0.members
    }

    /// The issuer of the token, as it is set for this server.
    pub fn issuer(&self) -> &str {
        &self.0.issuer
    }

    /// The person or program, as the issuer names it. `client:` and the client's id if the token has no
    /// subject.
    pub fn subject(&self) -> &str {
        &self.0.subject
    }

    /// The client to which the token was issued.
    pub fn client(&self) -> Option<&str> {
        self.0.client.as_deref()
    }

    /// A claim. `None` when the token does not have it, or when it has another type.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.0.members.get(name)?).ok()
    }

    /// Reads all claims into a type of the program.
    ///
    /// # Errors
    ///
    /// Returns the error of the deserialization. Its message may quote claims.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        T::deserialize(Value::Object(self.0.members.clone()))
    }
}

impl fmt::Debug for Claims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("issuer", &self.0.issuer)
            .field("subject", &self.0.subject)
            .field("client", &self.0.client)
            .finish_non_exhaustive()
    }
}

/// An access token: the argument of verifiers, and of [`TokenExchange`](super::TokenExchange). `Debug`
/// omits its value.
///
/// Handlers receive the token of their caller as `Identity<AccessToken>` only if the program has called
/// [`ResourceServer::keep_access_token`](super::ResourceServer::keep_access_token). Never send it to
/// another service: it was issued for this one.
#[derive(Clone)]
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

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(..)")
    }
}
