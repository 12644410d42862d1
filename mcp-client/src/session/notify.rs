//! Messages without a response, and their observation.

use std::time::Duration;

use mcp_core::{ClientNotification, OneWayMessage};
use mcp_types::Meta;
use tokio::time::timeout;

use crate::client::ClientInner;
use crate::error::ErrorKind;

/// Timeout of sending a notification.
pub(crate) const NOTIFY_TIMEOUT: Duration = Duration::from_secs(30);

/// Sends a notification. A notification that the revision does not define is not sent.
pub(crate) async fn notify(
    inner: &ClientInner,
    notification: &ClientNotification,
) -> Result<(), ErrorKind> {
    let version = inner.version();
    let encode = |meta: Option<&Meta>| OneWayMessage::notification(notification, meta, version);
    let Some(mut message) = encode(None) else {
        return Ok(());
    };
    let observation = inner.observe_notification(&message.mirrored.method);
    // The context of the notification is known only after its span was started.
    let meta = observation
        .as_ref()
        .map(|observation| observation.inject(Meta::default()))
        .filter(|meta| !meta.is_empty());
    if let Some(observed) = meta.as_ref().map(Some).and_then(encode) {
        message = observed;
    }
    let sent = send(inner, message).await;
    if let Some(observation) = observation {
        let fault = sent.as_ref().err().map(ErrorKind::to_fault);
        observation.end(fault.as_ref().map_or(Ok(()), Err));
    }
    sent
}

/// Sends a message without a response.
pub(crate) async fn send(inner: &ClientInner, message: OneWayMessage) -> Result<(), ErrorKind> {
    match timeout(NOTIFY_TIMEOUT, inner.channel.notify(message)).await {
        Ok(sent) => sent.map_err(ErrorKind::Channel),
        Err(_) => Err(ErrorKind::TimedOut(NOTIFY_TIMEOUT)),
    }
}
