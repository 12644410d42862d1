//! [`Caller`]: who makes a call, and how servers learn it.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use mcp_auth::{AccessToken, IdentityHeader};
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
    pub(super) fn client_name(&self) -> Option<(String, String)> {
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
