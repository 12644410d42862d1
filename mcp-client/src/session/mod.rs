//! Sessions of the legacy era: opened, tended, opened anew when the server has forgotten them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod dispatch;

use std::time::Duration;

use mcp_core::{Asked, ClientNote, OutNote, Reply, ResultBody, SessionCall};
use mcp_types::{InitializeParams, LoggingLevel, ProtocolVersion, Root, SubscribeParams};
use tokio::time::timeout;

use crate::call;
use crate::client::{Inner, ServerFacts};
use crate::error::Kind;
use crate::options::Options;
use crate::{Change, Client, Error};

/// How long a notification may take to be sent.
const NOTE_LIMIT: Duration = Duration::from_secs(30);

/// The request that opens a session.
// spec: LIFE-01, LIFE-06
pub(crate) fn initialize(client: &Client, version: ProtocolVersion) -> Asked {
    let profile = &client.inner.profile;
    let (capabilities, info) = (profile.capabilities.clone(), profile.info.clone());
    let params = InitializeParams::new(version, capabilities, info);
    SessionCall::Initialize(Box::new(params)).into()
}

/// Gets ready for what the server may ask from now on, its pings above all.
pub(crate) fn prepare(client: &Client, version: ProtocolVersion) {
    client.inner.learn(|known| known.version = version);
    client.inner.channel.adopt(version);
    dispatch::start(client);
}

/// Begins the work of a session that the server has agreed to.
// spec: LIFE-03
pub(crate) async fn begin(client: &Client) -> Result<(), Error> {
    let inner = &client.inner;
    tell(inner, &ClientNote::Initialized).await?;
    if let Some(level) = inner.log_level() {
        set_level(client, level).await?;
    }
    Ok(())
}

/// Sends a notification; what the revision does not have is not sent.
pub(crate) async fn tell(inner: &Inner, note: &ClientNote) -> Result<(), Kind> {
    let Some(note) = OutNote::of(note, inner.version()) else {
        return Ok(());
    };
    match timeout(NOTE_LIMIT, inner.channel.notify(note)).await {
        Ok(sent) => sent.map_err(Kind::Channel),
        Err(_) => Err(Kind::TimedOut(NOTE_LIMIT)),
    }
}

/// Opens a new session in place of the one numbered `lost`, unless somebody has done so already.
pub(crate) async fn renew(client: &Client, lost: u64) -> Result<(), Kind> {
    let inner = &client.inner;
    let _one_at_a_time = inner.renewing.lock().await;
    if inner.session() != lost {
        return Ok(());
    }
    let version = inner.version();
    prepare(client, version);
    let answer = call::once(client, &initialize(client, version), version, None).await?;
    let opened = match answer.reply {
        Reply::Complete {
            body: ResultBody::Initialize(opened),
            ..
        } => *opened,
        Reply::Fault(fault) => {
            return Err(Kind::Fault {
                fault,
                status: answer.status,
            });
        }
        _ => return Err(Kind::OtherResult),
    };
    // spec: LIFE-08
    let agreed = opened.version().filter(|version| {
        let is_spoken = inner.spoken.contains(version);
        is_spoken && !version.is_modern()
    });
    let Some(agreed) = agreed else {
        let theirs = vec![opened.protocol_version];
        return Err(Kind::no_common_version(theirs, &inner.spoken));
    };
    inner.learn(|known| {
        known.version = agreed;
        known.server = Some(ServerFacts::from(opened).into());
        known.session += 1;
    });
    inner.channel.adopt(agreed);
    tell(inner, &ClientNote::Initialized).await?;
    restore(client).await;
    Ok(())
}

/// Asks the new session for what the old one was asked for. What it refuses cannot be had any more;
/// subscribers hear that they may have missed something in any case.
async fn restore(client: &Client) {
    let inner = &client.inner;
    if let Some(level) = inner.log_level() {
        let _ = once(client, SessionCall::SetLevel(level)).await;
    }
    for uri in inner.watched.uris() {
        let _ = once(client, SessionCall::Subscribe(SubscribeParams::new(uri))).await;
    }
    inner.hear_change(Change::Missed(inner.watched.everything()));
}

async fn once(client: &Client, call: SessionCall) -> Result<(), Kind> {
    let version = client.inner.version();
    call::once(client, &call.into(), version, None)
        .await
        .map(drop)
}

async fn set_level(client: &Client, level: LoggingLevel) -> Result<(), Error> {
    let capabilities = client.server_capabilities().unwrap_or_default();
    if capabilities.logging.is_none() {
        return Ok(());
    }
    let asked = SessionCall::SetLevel(level).into();
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
        let roots = roots.into_iter().map(Into::into).collect();
        inner.inputs.replace_roots(roots)?;
        Ok(tell(inner, &ClientNote::RootsChanged).await?)
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
            Asked::Discover
        } else {
            SessionCall::Ping.into()
        };
        call::run(self, asked, Options::default()).await.map(drop)
    }
}
