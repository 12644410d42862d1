//! The server's legacy session, and its renewal.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use mcp_core::{
    Channel, ChannelError, ClientNotification, Frames, MirroredHeaders, OneWayMessage,
    OutgoingRequest,
};
use mcp_types::{Message, Method, ProtocolVersion, Request, RequestId};
use serde::Deserialize;
use tokio::time::timeout;

/// Timeout of sending one notification or response.
pub(super) const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// Timeout of opening a session again.
const RENEW_TIMEOUT: Duration = Duration::from_secs(60);

/// A legacy session, as the client has opened it.
#[derive(Debug)]
pub(super) struct Session {
    /// The client's `initialize` request.
    initialize: Bytes,
    id: RequestId,
    /// The revision: first the requested one, then the negotiated one.
    pub(super) version: ProtocolVersion,
    /// Number of times the session was opened again.
    pub(super) renewals: u64,
}

#[derive(Deserialize)]
struct NegotiatedVersion {
    #[serde(rename = "protocolVersion")]
    version: ProtocolVersion,
}

impl Session {
    /// A session that `initialize` opens. A revision that this library does not know counts as the
    /// latest one with sessions.
    pub(super) fn new(request: &Request<'_>, text: Bytes) -> Self {
        let version = request.params.text("protocolVersion").ok().flatten();
        let version = version.and_then(|version| version.parse::<ProtocolVersion>().ok());
        Self {
            initialize: text,
            id: request.id.clone(),
            version: version
                .filter(|version| !version.is_modern())
                .unwrap_or(ProtocolVersion::LATEST_LEGACY),
            renewals: 0,
        }
    }

    /// Prepares the channel for `initialize`. Returns the messages of the server that belong to no call.
    pub(super) fn prepare(&self, channel: &dyn Channel) -> Option<Frames> {
        channel.set_version(self.version);
        channel.inbound()
    }

    /// The `initialize` request.
    pub(super) fn request(&self) -> OutgoingRequest {
        let name = Method::Initialize.as_str();
        let mirrored = MirroredHeaders::new(self.version, name, None);
        OutgoingRequest::new(self.id.clone(), self.initialize.clone(), mirrored)
    }

    /// Takes the negotiated revision from the response to `initialize`. Returns whether the server has
    /// opened the session.
    pub(super) fn negotiated(&mut self, channel: &dyn Channel, response: &[u8]) -> bool {
        let Ok(Message::Response(response)) = Message::parse(response) else {
            return false;
        };
        let Ok(result) = response.outcome else {
            return false;
        };
        let Ok(NegotiatedVersion { version }) = serde_json::from_str(result.as_str()) else {
            return false;
        };
        self.version = version;
        channel.set_version(version);
        true
    }

    /// Opens the session again after the server has lost it. The client does not notice, because the
    /// response to `initialize` is the same as before.
    pub(super) async fn renew(
        &mut self,
        channel: &dyn Channel,
    ) -> Result<Option<Frames>, ChannelError> {
        timeout(RENEW_TIMEOUT, self.open_again(channel))
            .await
            .unwrap_or(Err(ChannelError::SessionExpired))
    }

    async fn open_again(&mut self, channel: &dyn Channel) -> Result<Option<Frames>, ChannelError> {
        let inbound = self.prepare(channel);
        let mut frames = channel.call(self.request());
        let mut is_open = false;
        while let Some(frame) = frames.next().await {
            is_open |= self.negotiated(channel, &frame?.message);
        }
        if !is_open {
            return Err(ChannelError::SessionExpired);
        }
        let ready = ClientNotification::Initialized;
        if let Some(message) = OneWayMessage::notification(&ready, None, self.version) {
            channel.notify(message).await?;
        }
        self.renewals += 1;
        Ok(inbound)
    }
}
