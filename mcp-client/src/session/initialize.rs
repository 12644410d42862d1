//! The start of a session by `initialize`, and the renewal of an expired one.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

use std::sync::Arc;

use mcp_core::{ClientNotification, ClientRequest, Reply, ResultBody, SessionRequest};
use mcp_types::{InitializeParams, ProtocolVersion, SubscribeParams};

use super::dispatcher;
use super::notify::notify;
use crate::client::{Client, ServerInfo, attempt};
use crate::error::ErrorKind;
use crate::notifications::Change;

/// Builds the `initialize` request.
// spec: LIFE-01, LIFE-06
pub(crate) fn initialize_request(client: &Client, version: ProtocolVersion) -> ClientRequest {
    let profile = &client.inner.profile;
    let (capabilities, info) = (profile.capabilities.clone(), profile.info.clone());
    let params = InitializeParams::new(version, capabilities, info);
    SessionRequest::Initialize(Arc::new(params)).into()
}

/// Starts the dispatcher before `initialize` is sent: the server may send a ping first.
pub(crate) fn prepare(client: &Client, version: ProtocolVersion) {
    client.inner.update_state(|state| state.version = version);
    client.inner.channel.set_version(version);
    dispatcher::spawn(client);
}

/// Opens a session in place of the session `former`, which has expired, or is 0 if there was none.
/// Does nothing when another call has replaced it already. After a failure the version is the former
/// one.
pub(crate) async fn open(
    client: &Client,
    former: u64,
    version: ProtocolVersion,
) -> Result<(), ErrorKind> {
    let inner = &client.inner;
    let _renewal = inner.renewal.lock().await;
    if inner.session_number() != former {
        return Ok(());
    }
    let before = inner.version();
    let opened = initialize(client, version).await;
    if opened.is_err() && inner.version() != before {
        inner.update_state(|state| state.version = before);
        inner.channel.set_version(before);
    }
    opened
}

async fn initialize(client: &Client, version: ProtocolVersion) -> Result<(), ErrorKind> {
    let inner = &client.inner;
    prepare(client, version);
    let request = initialize_request(client, version);
    let received = attempt::send_once(client, &request, version, None).await?;
    let result = match received.reply {
        Reply::Complete {
            body: ResultBody::Initialize(result),
            ..
        } => Arc::unwrap_or_clone(result),
        Reply::Fault(fault) => return Err(ErrorKind::of_fault(fault, received.frame)),
        _ => return Err(ErrorKind::WrongResult),
    };
    // spec: LIFE-08
    let agreed = result.protocol_version.parse().ok();
    let agreed = agreed.filter(|version: &ProtocolVersion| {
        inner.versions.contains(version) && !version.is_modern()
    });
    let Some(agreed) = agreed else {
        let offered = vec![result.protocol_version];
        return Err(ErrorKind::no_common_version(offered, &inner.versions));
    };
    inner.update_state(|state| {
        state.version = agreed;
        state.server = Some(ServerInfo::from(result).into());
        state.session_number += 1;
    });
    inner.channel.set_version(agreed);
    inner.observe_session(agreed, true);
    notify(inner, &ClientNotification::Initialized).await?;
    restore(client).await;
    Ok(())
}

/// Restores the log level and the resource subscriptions in a new session. Failures are ignored,
/// because subscribers receive [`Change::Missed`] in any case.
async fn restore(client: &Client) {
    let inner = &client.inner;
    if let Some(level) = inner.log_level() {
        let _ = send_once(client, SessionRequest::SetLevel(level)).await;
    }
    for uri in inner.resource_subscriptions.uris() {
        let request = SessionRequest::Subscribe(SubscribeParams::from(uri));
        let _ = send_once(client, request).await;
    }
    let filter = inner.resource_subscriptions.full_filter();
    inner.handle_change(Change::Missed(filter));
}

async fn send_once(client: &Client, request: SessionRequest) -> Result<(), ErrorKind> {
    let version = client.inner.version();
    attempt::send_once(client, &request.into(), version, None)
        .await
        .map(drop)
}
