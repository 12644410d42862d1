//! Callers of a gateway, and what their calls show to servers: credentials, an identity.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use mcp_auth::{AccessToken, AuthError, IdentityHeader, TokenExchange};
use mcp_core::{CallerKey, ClientAddress, ClientContext, Fault, Principal};
use mcp_server::{CallContext, FromCall, Rejection};

use crate::limits::quota::Owner;

/// Longest name or version of a client that is passed on, in characters.
const MAX_CLIENT_NAME: usize = 128;

/// The caller of a request.
pub(crate) struct Caller {
    pub(crate) key: CallerKey,
    pub(crate) facts: Arc<ClientContext>,
    address: Option<ClientAddress>,
    /// The caller's token, where the endpoint keeps it.
    pub(crate) token: Option<AccessToken>,
}

impl FromCall for Caller {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let facts = call.facts().clone();
        let extensions = call.extensions();
        Ok(Self {
            facts,
            address: extensions.client_address,
            key: CallerKey::new(extensions.get::<Principal>()),
            token: extensions.get().cloned(),
        })
    }
}

impl Caller {
    /// Returns the name and version that the client claims.
    pub(crate) fn client_name(&self) -> Option<(String, String)> {
        let info = self.facts.client_info()?;
        let cut = |text: String| text.chars().take(MAX_CLIENT_NAME).collect::<String>();
        Some((cut(info.name), cut(info.version)))
    }

    /// Returns the owner of the caller's waiting calls.
    pub(crate) fn owner(&self) -> Owner {
        Owner::new(self.key.clone(), self.address)
    }
}

/// Returns the header that names a caller to a server.
///
/// # Errors
///
/// Returns a [`Fault`] when it cannot be signed. Only the log has the details.
pub(crate) fn identity(
    header: &IdentityHeader,
    caller: &Principal,
) -> Result<(HeaderName, HeaderValue), Fault> {
    match header.value(caller) {
        Ok(value) => Ok((header.name().clone(), value)),
        Err(error) => {
            tracing::error!(error = %mcp_types::escaped(&error), "the identity of a caller was not signed");
            Err(Fault::internal("the gateway cannot name its caller"))
        }
    }
}

/// One server's tokens for the gateway's callers.
#[derive(Debug, Clone)]
pub(crate) struct CallerTokens {
    exchange: TokenExchange,
    resource: Arc<str>,
    scopes: Arc<[String]>,
}

impl CallerTokens {
    pub(crate) fn new(exchange: TokenExchange, resource: String, scopes: Vec<String>) -> Self {
        Self {
            exchange,
            resource: resource.into(),
            scopes: scopes.into(),
        }
    }

    /// Returns the header `Authorization` for this caller's calls.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] for a caller without a token, and when the authorization server refuses the
    /// exchange or cannot be reached. Only the log has the details.
    // spec: AUTH-S-06
    pub(crate) async fn credentials(
        &self,
        caller: Option<&AccessToken>,
    ) -> Result<HeaderValue, Fault> {
        let caller = caller.ok_or(Fault::Refused(
            "this server is called in the name of its user; log in to the gateway".into(),
        ))?;
        let token = self.exchange.token(caller, &self.resource, &*self.scopes);
        let token = token.await.map_err(|error| self.refused(&error))?;
        let header = HeaderValue::try_from(format!("Bearer {}", token.expose()));
        let mut header = header.map_err(|_| {
            Fault::internal("the authorization server issued a token that no header can have")
        })?;
        header.set_sensitive(true);
        Ok(header)
    }

    fn refused(&self, error: &AuthError) -> Fault {
        tracing::warn!(resource = %mcp_types::escaped(&self.resource), error = %mcp_types::escaped(&error), "a token was not exchanged");
        Fault::Refused(
            "the authorization server gives the gateway no token of this caller for the server"
                .into(),
        )
    }
}
