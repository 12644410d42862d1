//! Sessions of the legacy era: opened, tended, opened anew when the server has forgotten them.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod dispatch;

use std::sync::Arc;
use std::time::Duration;

use mcp_core::{
    ClientNotification, ClientRequest, OneWayMessage, Reply, ResultBody, SessionRequest,
};
use mcp_types::{InitializeParams, ProtocolVersion, SubscribeParams};
use tokio::time::timeout;

use crate::Client;
use crate::attempt;
use crate::change::Change;
use crate::client::{Inner, ServerFacts};
use crate::error::Kind;

/// How long a notification may take to be sent.
const NOTE_LIMIT: Duration = Duration::from_secs(30);

/// The request that opens a session.
// spec: LIFE-01, LIFE-06
pub(crate) fn initialize(client: &Client, version: ProtocolVersion) -> ClientRequest {
    let profile = &client.inner.profile;
    let (capabilities, info) = (profile.capabilities.clone(), profile.info.clone());
    let params = InitializeParams::new(version, capabilities, info);
    SessionRequest::Initialize(Arc::new(params)).into()
}

/// Gets ready for what the server may ask from now on, its pings above all.
pub(crate) fn prepare(client: &Client, version: ProtocolVersion) {
    client.inner.learn(|known| known.version = version);
    client.inner.channel.set_version(version);
    dispatch::start(client);
}

/// Sends a notification; what the revision does not have is not sent.
pub(crate) async fn tell(inner: &Inner, note: &ClientNotification) -> Result<(), Kind> {
    let Some(note) = OneWayMessage::notification(note, inner.version()) else {
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
    let answer = attempt::once(client, &initialize(client, version), version, None).await?;
    let opened = match answer.reply {
        Reply::Complete {
            body: ResultBody::Initialize(opened),
            ..
        } => Arc::unwrap_or_clone(opened),
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
    inner.channel.set_version(agreed);
    tell(inner, &ClientNotification::Initialized).await?;
    restore(client).await;
    Ok(())
}

/// Asks the new session for what the old one was asked for. What it refuses cannot be had any more;
/// subscribers hear that they may have missed something in any case.
async fn restore(client: &Client) {
    let inner = &client.inner;
    if let Some(level) = inner.log_level() {
        let _ = once(client, SessionRequest::SetLevel(level)).await;
    }
    for uri in inner.watched.uris() {
        let _ = once(client, SessionRequest::Subscribe(SubscribeParams::new(uri))).await;
    }
    inner.hear_change(Change::Missed(inner.watched.everything()));
}

async fn once(client: &Client, call: SessionRequest) -> Result<(), Kind> {
    let version = client.inner.version();
    attempt::once(client, &call.into(), version, None)
        .await
        .map(drop)
}
