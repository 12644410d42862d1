//! Connecting: which revision is spoken, and with whom.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use std::sync::atomic::AtomicI64;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use http::StatusCode;
use mcp_core::versioning::mutual;
use mcp_core::wire::MODERN;
use mcp_core::{Asked, Channel, ChannelError, ClientProfile, Fault, ResultBody};
use mcp_types::{ClientCapabilities, DiscoverResult, Implementation, ProtocolVersion};

use crate::call::{self, Options};
use crate::client::{Inner, Known};
use crate::clock::Timeouts;
use crate::error::Kind;
use crate::{Client, Error};

/// How the revision is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectMode {
    /// Asks the server what it speaks and takes the newest revision that both sides know.
    #[default]
    Auto,
    /// Takes this revision without asking. Nothing is sent before the first call, so nothing is
    /// known of the server until [`Client::discover`] is called.
    Pin(ProtocolVersion),
}

/// Settings of a [`Client`], made by [`Client::builder`].
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
/// use mcp_client::{Client, ConnectMode};
/// use mcp_transport_http::HttpChannel;
/// use mcp_types::ProtocolVersion;
///
/// # async fn example() -> Result<(), mcp_client::Error> {
/// let client = Client::builder()
///     .identity("my-agent", "1.0.0")
///     .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
///     .timeout(Duration::from_secs(20))
///     .over(HttpChannel::new("http://127.0.0.1:8000/mcp")?)
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "connects with `over`"]
pub struct ClientBuilder {
    profile: ClientProfile,
    mode: ConnectMode,
    timeouts: Timeouts,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        let info = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self {
            profile: ClientProfile::new(info),
            mode: ConnectMode::default(),
            timeouts: Timeouts::default(),
        }
    }
}

impl ClientBuilder {
    /// Sets name and version, which the server gets with every call.
    pub fn identity(self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation(Implementation::new(name, version))
    }

    /// Sets the whole identity: title, icons and more beside name and version.
    pub fn implementation(mut self, info: Implementation) -> Self {
        self.profile.info = info;
        self
    }

    /// Declares what the client can be asked for. Only for programs that answer requests for input
    /// themselves: a capability that is declared must be honoured.
    // spec: VER-14
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.profile.capabilities = capabilities;
        self
    }

    /// Sets how the revision is chosen.
    pub fn mode(mut self, mode: ConnectMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets how long a call waits for its answer; progress that the caller
    /// [asked for](crate::PreparedCall::on_progress) starts the time anew. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.idle = timeout;
        self
    }

    /// Sets how long a call may take in all, whatever progress it reports. Default: 10 minutes.
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.total = timeout;
        self
    }

    /// Connects over a channel.
    ///
    /// # Errors
    ///
    /// An [`Error`] when the server does not answer, or when the two sides have no revision in
    /// common ([`Error::supported_versions`] tells what the server speaks).
    pub async fn over(self, channel: impl Channel) -> Result<Client, Error> {
        let (spoken, version) = match self.mode {
            ConnectMode::Auto => (ProtocolVersion::ALL.to_vec(), ProtocolVersion::LATEST),
            ConnectMode::Pin(version) => (vec![version], version),
        };
        if !version.is_modern() {
            return Err(Kind::NotSpoken(version).into());
        }
        let client = Client {
            inner: Arc::new(Inner {
                channel: Box::new(channel),
                wire: MODERN,
                profile: self.profile,
                timeouts: self.timeouts,
                spoken,
                known: RwLock::new(Known {
                    version,
                    server: None,
                }),
                last_id: AtomicI64::new(0),
            }),
        };
        if self.mode == ConnectMode::Auto {
            client.discover().await.map_err(Error::perhaps_legacy)?;
        }
        Ok(client)
    }
}

impl Client {
    /// Asks the server who it is, what it offers and what it speaks, and remembers the answer.
    ///
    /// # Errors
    ///
    /// An [`Error`] when the server does not answer, or when the two sides have no revision in
    /// common.
    // spec: VER-04, VER-07
    pub async fn discover(&self) -> Result<DiscoverResult, Error> {
        let asked = Asked::Discover;
        let found = match call::run(&self.inner, &asked, Options::default()).await? {
            ResultBody::Discover(found) => *found,
            _ => {
                return Err(Error::of(
                    &self.inner.channel.peer(),
                    &asked,
                    Kind::OtherResult,
                ));
            }
        };
        let Some(version) = mutual(&found.supported_versions, &self.inner.spoken) else {
            let kind = Kind::no_common_version(found.supported_versions, &self.inner.spoken);
            return Err(Error::of(&self.inner.channel.peer(), &asked, kind));
        };
        let server = Some(Arc::new(found.clone()));
        self.inner.learn(|known| *known = Known { version, server });
        Ok(found)
    }
}

impl Error {
    /// Servers of the legacy era do not know how to be asked: whatever they answer instead becomes
    /// an error that says so.
    // spec: COMPAT-09, COMPAT-11, COMPAT-14
    fn perhaps_legacy(self) -> Self {
        self.map_kind(|kind| {
            let evidence = match &kind {
                Kind::Fault {
                    fault: Fault::Protocol(_),
                    status,
                } => status.is_none_or(is_bewildered),
                Kind::Channel(ChannelError::Status { status, .. }) => is_bewildered(*status),
                Kind::Decode(_) => true,
                _ => false,
            };
            if evidence {
                Kind::NotModern(Box::new(kind))
            } else {
                kind
            }
        })
    }
}

/// Statuses with which servers of the legacy era answer what they do not understand.
fn is_bewildered(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::OK
            | StatusCode::BAD_REQUEST
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED
            | StatusCode::NOT_ACCEPTABLE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
    )
}
