//! Tokens of the gateway's callers for one server.

use std::sync::Arc;

use http::HeaderValue;
use mcp_auth::{AccessToken, AuthError, TokenExchange};
use mcp_core::Fault;

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
