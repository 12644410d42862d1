//! Discovery, log level, roots and ping.

use std::sync::Arc;

use mcp_core::versioning::newest_common;
use mcp_core::{ClientNotification, ClientRequest, ResultBody, SessionRequest};
use mcp_types::{DiscoverResult, LoggingLevel, Root, ServerCapabilities};

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
    /// Returns the server's capabilities. A server that was not queried ([`ConnectMode::Pin`](crate::ConnectMode::Pin))
    /// is asked, once.
    ///
    /// # Errors
    ///
    /// Returns the error of [`discover`](Self::discover).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let has = client.capabilities().await?;
    /// println!("completions: {}", has.completions.is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn capabilities(&self) -> Result<ServerCapabilities, Error> {
        if self.server_capabilities().is_none() {
            self.discover().await?;
        }
        Ok(self.server_capabilities().unwrap_or_default())
    }

    /// Sends `server/discover`, and stores the server's identity, capabilities and versions.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] when the server does not answer, when there is no common revision, or in
    /// a legacy session.
    // spec: VER-04, VER-07
    pub async fn discover(&self) -> Result<DiscoverResult, Error> {
        let request = ClientRequest::Discover;
        let inner = &self.inner;
        let version = self.protocol_version();
        if !version.is_modern() {
            return Err(ErrorKind::NothingToDiscover(version).into());
        }
        let error = |kind| Error::in_call(&inner.channel.peer(), &request, kind);
        let result = match call::run(self, request.clone(), CallOptions::default()).await? {
            ResultBody::Discover(result) => Arc::unwrap_or_clone(result),
            _ => return Err(error(ErrorKind::WrongResult)),
        };
        let Some(version) = newest_common(&result.supported_versions, &inner.versions) else {
            let versions = result.supported_versions;
            return Err(error(ErrorKind::no_common_version(
                versions,
                &inner.versions,
            )));
        };
        let server = Some(Arc::new(result.clone().into()));
        inner.update_state(|state| {
            state.version = version;
            state.server = server;
        });
        Ok(result)
    }

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
