//! Log level, roots and ping.

use mcp_core::{ClientNotification, ClientRequest, SessionRequest};
use mcp_types::{LoggingLevel, Root};

use crate::call;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::inputs::first_invalid_root;
use crate::options::CallOptions;
use crate::session;

/// Sets the minimum log level of a legacy session, if the server declares logging.
pub(crate) async fn set_level(client: &Client, level: LoggingLevel) -> Result<(), Error> {
    let capabilities = client.server_capabilities().unwrap_or_default();
    if capabilities.logging.is_none() {
        return Ok(());
    }
    let request = SessionRequest::SetLevel(level).into();
    call::run(client, request, CallOptions::default())
        .await
        .map(drop)
}

impl Client {
    /// Sets the minimum level of log messages for later calls that set no level. `None` disables
    /// log messages, except in a legacy session, which keeps its level.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the request in a legacy session fails.
    // spec: META-11
    pub async fn set_log_level(&self, level: impl Into<Option<LoggingLevel>>) -> Result<(), Error> {
        let level = level.into();
        self.inner.update_state(|state| state.log_level = level);
        match level {
            Some(level) if !self.protocol_version().is_modern() => set_level(self, level).await,
            _ => Ok(()),
        }
    }

    /// Replaces the roots, and notifies a legacy session's server.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the client was built without
    /// [`roots`](crate::ClientBuilder::roots), when a root is not a `file://` URI, or when the
    /// notification fails.
    // spec: ROOT-02, ROOT-03
    pub async fn set_roots(
        &self,
        roots: impl IntoIterator<Item = impl Into<Root>>,
    ) -> Result<(), Error> {
        let inner = &self.inner;
        let roots: Vec<Root> = roots.into_iter().map(Into::into).collect();
        let current = inner.inputs.roots.as_ref().ok_or(ErrorKind::NoRoots)?;
        if let Some(uri) = first_invalid_root(&roots) {
            return Err(ErrorKind::Root(uri).into());
        }
        *current.write() = roots;
        Ok(session::notify(inner, &ClientNotification::RootsChanged).await?)
    }

    /// Checks that the server responds: with `ping` in a legacy session, with `server/discover` in
    /// revision 2026-07-28, which has no `ping`.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server does not respond.
    pub async fn ping(&self) -> Result<(), Error> {
        let request = if self.protocol_version().is_modern() {
            ClientRequest::Discover
        } else {
            SessionRequest::Ping.into()
        };
        call::run(self, request, CallOptions::default())
            .await
            .map(drop)
    }
}
