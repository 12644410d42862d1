//! What a program tells its session by hand: the level of logs, its roots, a ping.

use mcp_core::{ClientNotification, ClientRequest, SessionRequest};
use mcp_types::{LoggingLevel, Root};

use crate::call;
use crate::error::Kind;
use crate::inputs::stray_root;
use crate::options::Options;
use crate::session::tell;
use crate::{Client, Error};

/// Tells a session the least level of log messages, if its server has any.
pub(crate) async fn set_level(client: &Client, level: LoggingLevel) -> Result<(), Error> {
    let capabilities = client.server_capabilities().unwrap_or_default();
    if capabilities.logging.is_none() {
        return Ok(());
    }
    let asked = SessionRequest::SetLevel(level).into();
    call::run(client, asked, Options::default()).await.map(drop)
}

impl Client {
    /// Sets the least level of log messages from now on, where a call does not set its own; none
    /// when `None`, which sessions of the legacy era cannot be told: they keep their level.
    ///
    /// # Errors
    ///
    /// An [`Error`] when a session cannot be told.
    // spec: META-11
    pub async fn set_log_level(&self, level: impl Into<Option<LoggingLevel>>) -> Result<(), Error> {
        let level = level.into();
        self.inner.learn(|known| known.log_level = level);
        match level {
            Some(level) if !self.protocol_version().is_modern() => set_level(self, level).await,
            _ => Ok(()),
        }
    }

    /// Changes the roots, and tells a session of the legacy era so.
    ///
    /// # Errors
    ///
    /// An [`Error`] when the client was built without [`roots`](crate::ClientBuilder::roots), when
    /// one is no `file://` URI, or when the session cannot be told.
    // spec: ROOT-02, ROOT-03
    pub async fn set_roots(
        &self,
        roots: impl IntoIterator<Item = impl Into<Root>>,
    ) -> Result<(), Error> {
        let inner = &self.inner;
        let roots: Vec<Root> = roots.into_iter().map(Into::into).collect();
        let known = inner.inputs.roots().ok_or(Kind::NoRoots)?;
        if let Some(uri) = stray_root(&roots) {
            return Err(Kind::Root(uri).into());
        }
        *known.write() = roots;
        Ok(tell(inner, &ClientNotification::RootsChanged).await?)
    }

    /// Asks the server whether it is there: with `ping` in a session, with `server/discover` where
    /// there are no sessions.
    ///
    /// # Errors
    ///
    /// An [`Error`] when it does not answer.
    // spec: PING-01
    pub async fn ping(&self) -> Result<(), Error> {
        let asked = if self.protocol_version().is_modern() {
            ClientRequest::Discover
        } else {
            SessionRequest::Ping.into()
        };
        call::run(self, asked, Options::default()).await.map(drop)
    }
}
