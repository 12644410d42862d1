//! Notifications of both sides. Malformed and unknown ones are ignored.

use mcp_types::meta::keys;
use mcp_types::{
    Cancelled, JsonObject, Meta, Method, MethodKind, Notification, ProgressToken, ProgressUpdate,
    ProtocolVersion, RawObject, RequestId, ResourceUpdated, Sender, SubscriptionAcknowledged,
};
use serde::Serialize;

use super::{splice_json, write_json, write_scalar};
use crate::message::{ClientNotification, ServerNotification};

/// Decodes a server notification. Returns `None` for one that no server of this revision may send.
#[inline]
pub(super) fn read_server(
    notification: &Notification<'_>,
    from: ProtocolVersion,
) -> Option<ServerNotification> {
    let params = &notification.params;
    Some(match known(notification, from, Sender::Server)? {
        Some(Method::Progress) => {
            let (token, progress) = progress(notification)?;
            ServerNotification::Progress { token, progress }
        }
        Some(Method::LogMessage) => {
            ServerNotification::Log(serde_json::from_str(params.to_object().as_str()).ok()?)
        }
        Some(Method::Cancelled) => ServerNotification::Cancelled(cancelled(notification, from)?),
        Some(Method::ToolsChanged) => ServerNotification::ToolsChanged,
        Some(Method::PromptsChanged) => ServerNotification::PromptsChanged,
        Some(Method::ResourcesChanged) => ServerNotification::ResourcesChanged,
        Some(Method::ResourceUpdated) => ServerNotification::ResourceUpdated {
            uri: params.required("uri").ok()?,
        },
        Some(Method::SubscriptionAcknowledged) => {
            ServerNotification::Acknowledged(params.required("notifications").ok()?)
        }
        Some(Method::ElicitationComplete) => ServerNotification::ElicitationComplete(
            serde_json::from_str(params.to_object().as_str()).ok()?,
        ),
        _ => {
            let (method, params) = other(notification);
            ServerNotification::Other { method, params }
        }
    })
}

/// Decodes a client notification. Returns `None` for one that no client of this revision may send.
pub(super) fn read_client(
    notification: &Notification<'_>,
    from: ProtocolVersion,
) -> Option<ClientNotification> {
    Some(match known(notification, from, Sender::Client)? {
        // spec: PROG-07
        Some(Method::Progress) if from.is_modern() => return None,
        Some(Method::Progress) => {
            let (token, progress) = progress(notification)?;
            ClientNotification::Progress { token, progress }
        }
        Some(Method::Cancelled) => ClientNotification::Cancelled(cancelled(notification, from)?),
        Some(Method::Initialized) => ClientNotification::Initialized,
        Some(Method::RootsChanged) => ClientNotification::RootsChanged,
        _ => {
            let (method, params) = other(notification);
            ClientNotification::Other { method, params }
        }
    })
}

/// Returns the method of a notification that `sender` may send. The inner `None` is a method that the
/// protocol does not have.
fn known(
    notification: &Notification<'_>,
    version: ProtocolVersion,
    sender: Sender,
) -> Option<Option<Method>> {
    match Method::from_name(&notification.method) {
        Some(method) => may_send(method, version, sender).then_some(Some(method)),
        None => Some(None),
    }
}

fn may_send(method: Method, version: ProtocolVersion, sender: Sender) -> bool {
    let spec = method.spec();
    spec.kind == MethodKind::Notification
        && spec.exists_in(version)
        && (spec.sender == sender || spec.sender == Sender::Both)
}

fn progress(notification: &Notification<'_>) -> Option<(ProgressToken, ProgressUpdate)> {
    let params = &notification.params;
    let mut progress = ProgressUpdate::new(params.required("progress").ok()?);
    progress.total = params.optional("total").ok()?;
    progress.message = params.optional("message").ok()?;
    Some((params.required("progressToken").ok()?, progress))
}

fn cancelled(notification: &Notification<'_>, from: ProtocolVersion) -> Option<Cancelled> {
    let params = notification.params.to_object();
    // spec: CAN-07
    let mut cancelled: Cancelled = serde_json::from_str(params.as_str()).ok()?;
    if from.is_modern() {
        cancelled.meta = cancelled.meta.and_then(without_subscription);
    }
    names_a_request(&cancelled, from).then_some(cancelled)
}

/// Removes the subscription id. Returns `None` when no other key is left.
fn without_subscription(meta: Meta) -> Option<Meta> {
    let mut members = (*meta).clone();
    members.shift_remove(keys::SUBSCRIPTION_ID);
    (!members.is_empty()).then(|| members.into())
}

// spec: CAN-01
fn names_a_request(cancelled: &Cancelled, version: ProtocolVersion) -> bool {
    cancelled.request_id.is_some() || version.has_experimental_tasks()
}

fn other(notification: &Notification<'_>) -> (Box<str>, Option<RawObject>) {
    let params = &notification.params;
    let params = (params.iter().len() > 0).then(|| params.to_object());
    ((*notification.method).into(), params)
}

/// Returns the id of the subscription that a notification belongs to.
// spec: SUB-07
pub fn subscription_id(notification: &Notification<'_>) -> Option<RequestId> {
    serde_json::from_str(notification.params.meta(keys::SUBSCRIPTION_ID)?.as_str()).ok()
}

/// Encodes a server notification, with its subscription's id and further metadata. Returns
/// false when the revision does not have it, or does not allow it on that stream.
#[must_use = "false means that nothing was written"]
pub(crate) fn write_server(
    notification: &ServerNotification,
    (subscription, meta): (Option<&RequestId>, Option<&Meta>),
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    let exists = match notification.method() {
        Some(method) => may_send(method, to, Sender::Server),
        None => true,
    };
    if !exists || to.is_modern() && !fits_stream(notification, subscription) {
        return false;
    }
    let stamp = MetaStamp {
        subscription: subscription.filter(|_| to.is_modern()),
        meta,
    };
    match notification {
        ServerNotification::Progress { token, progress } => {
            write_progress(token, progress, stamp, to, out)
        }
        ServerNotification::Log(message) => match meta {
            None => write(Method::LogMessage, message, out),
            Some(_) => {
                let mut message = message.clone();
                message.meta = stamp.add(message.meta);
                write(Method::LogMessage, &message, out);
            }
        },
        ServerNotification::Cancelled(cancelled) => {
            return write_cancelled(cancelled, stamp, to, out);
        }
        ServerNotification::ToolsChanged => write_stamped(Method::ToolsChanged, stamp, out),
        ServerNotification::PromptsChanged => write_stamped(Method::PromptsChanged, stamp, out),
        ServerNotification::ResourcesChanged => write_stamped(Method::ResourcesChanged, stamp, out),
        ServerNotification::ResourceUpdated { uri } => {
            let mut params = ResourceUpdated::from(uri);
            params.meta = stamp.add(None);
            write(Method::ResourceUpdated, &params, out);
        }
        ServerNotification::Acknowledged(filter) => {
            let mut params = SubscriptionAcknowledged::default();
            params.notifications.clone_from(filter);
            params.meta = stamp.add(None);
            write(Method::SubscriptionAcknowledged, &params, out);
        }
        ServerNotification::ElicitationComplete(complete) => {
            let params = RawObject::from_value(complete).ok();
            write_other(
                Method::ElicitationComplete.as_str(),
                params.as_ref(),
                stamp,
                out,
            );
        }
        ServerNotification::Other { method, params } => {
            write_other(method, params.as_ref(), stamp, out)
        }
    }
    true
}

/// In the modern era, changes are sent to subscriptions only, and progress and logs to calls only.
// spec: LOG-05, PROG-07, CAN-09
fn fits_stream(notification: &ServerNotification, subscription: Option<&RequestId>) -> bool {
    match notification {
        // spec: HTTP-SM-17
        ServerNotification::Progress { .. } | ServerNotification::Log(_) => subscription.is_none(),
        ServerNotification::Cancelled(cancelled) => {
            subscription.is_some() && cancelled.request_id.as_ref() == subscription
        }
        ServerNotification::Other { .. } => true,
        _ => subscription.is_some(),
    }
}

/// Encodes a notification of a client with further metadata. Returns false when the revision does not
/// have it.
#[inline]
#[must_use = "false means that nothing was written"]
pub(crate) fn write_client(
    notification: &ClientNotification,
    meta: Option<&Meta>,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    let exists = match notification.method() {
        Some(method) => may_send(method, to, Sender::Client),
        None => true,
    };
    if !exists {
        return false;
    }
    let stamp = MetaStamp {
        subscription: None,
        meta,
    };
    match notification {
        // spec: PROG-07
        ClientNotification::Progress { .. } if to.is_modern() => return false,
        ClientNotification::Progress { token, progress } => {
            write_progress(token, progress, stamp, to, out)
        }
        ClientNotification::Cancelled(cancelled) => {
            return write_cancelled(cancelled, stamp, to, out);
        }
        ClientNotification::Initialized => write_stamped(Method::Initialized, stamp, out),
        ClientNotification::RootsChanged => write_stamped(Method::RootsChanged, stamp, out),
        ClientNotification::Other { method, params } => {
            write_other(method, params.as_ref(), stamp, out)
        }
    }
    true
}

fn write_progress(
    token: &ProgressToken,
    progress: &ProgressUpdate,
    stamp: MetaStamp<'_>,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) {
    open(Method::Progress, out);
    // Not as `ProgressParams`: a call may report often, and the parameters would be copied for it.
    out.extend_from_slice(br#","params":{"progressToken":"#);
    write_scalar(out, token);
    if let Some(meta) = stamp.add(None) {
        out.extend_from_slice(br#","_meta":"#);
        write_json(out, &meta);
    }
    // spec: PROG-02
    if to.has_annotations_and_audio() || progress.message.is_none() {
        splice_json(out, progress);
    } else {
        let mut progress = progress.clone();
        progress.message = None;
        splice_json(out, &progress);
    }
    out.push(b'}');
}

fn write_cancelled(
    cancelled: &Cancelled,
    stamp: MetaStamp<'_>,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    if !names_a_request(cancelled, to) {
        return false;
    }
    let mut params = cancelled.clone();
    params.meta = stamp.add(params.meta);
    write(Method::Cancelled, &params, out);
    true
}

/// Writes a notification without parameters of its own.
fn write_stamped(method: Method, stamp: MetaStamp<'_>, out: &mut Vec<u8>) {
    match stamp.add(None) {
        Some(meta) => {
            let mut params = mcp_types::PlainNotification::default();
            params.meta = Some(meta);
            write(method, &params, out);
        }
        None => {
            open(method, out);
            out.push(b'}');
        }
    }
}

fn write_other(method: &str, params: Option<&RawObject>, stamp: MetaStamp<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    write_scalar(out, method);
    if stamp.is_empty() {
        return match params {
            Some(params) => write_params(params, out),
            None => out.push(b'}'),
        };
    }
    let mut members = params
        .and_then(|raw| raw.parse::<JsonObject>().ok())
        .unwrap_or_default();
    let meta = members
        .entry("_meta")
        .or_insert_with(|| JsonObject::new().into());
    if let Some(meta) = meta.as_object_mut() {
        if let Some(id) = stamp.subscription {
            meta.insert(keys::SUBSCRIPTION_ID.to_owned(), id.clone().into());
        }
        for (key, value) in stamp.meta.into_iter().flat_map(|meta| &**meta) {
            meta.insert(key.clone(), value.clone());
        }
    }
    write_params(&members, out);
}

/// Keys that are added to `_meta`: the subscription's id, and the keys of observers.
#[derive(Clone, Copy)]
struct MetaStamp<'a> {
    subscription: Option<&'a RequestId>,
    meta: Option<&'a Meta>,
}

impl MetaStamp<'_> {
    fn is_empty(&self) -> bool {
        self.subscription.is_none() && self.meta.is_none()
    }

    // spec: META-13
    fn add(&self, meta: Option<Meta>) -> Option<Meta> {
        let meta = match (meta, self.meta) {
            (Some(meta), Some(added)) => {
                let mut members = (*meta).clone();
                for (key, value) in &**added {
                    members.insert(key.clone(), value.clone());
                }
                Some(members.into())
            }
            (meta, added) => meta.or_else(|| added.cloned()),
        };
        match self.subscription {
            Some(id) => Some(
                meta.unwrap_or_default()
                    .with(keys::SUBSCRIPTION_ID, id.clone()),
            ),
            None => meta,
        }
    }
}

/// Writes a notification up to its method. The names in the table need no escapes.
fn open(method: Method, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
    out.extend_from_slice(method.as_str().as_bytes());
    out.push(b'"');
}

fn write(method: Method, params: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    open(method, out);
    write_params(params, out);
}

fn write_params(params: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    out.extend_from_slice(br#","params":{"#);
    splice_json(out, params);
    out.push(b'}');
}
