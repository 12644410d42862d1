//! Notifications of both sides, read and written. Malformed ones are ignored, like unknown ones.

use mcp_types::json::{self, Write};
use mcp_types::meta::keys;
use mcp_types::{
    Cancelled, JsonObject, Meta, Method, MethodKind, Notification, ProgressParams, ProgressToken,
    ProgressUpdate, ProtocolVersion, RawObject, RequestId, ResourceUpdated, Sender,
    SubscriptionAcknowledged,
};

use super::{splice_json, write_text};
use crate::{ClientNotification, ServerNotification};

/// Reads what a server tells; `None` for what no server may say in this revision.
// spec: BASE-19, CAN-07
#[inline]
pub(super) fn read_server(
    note: &Notification<'_>,
    from: ProtocolVersion,
) -> Option<ServerNotification> {
    let params = &note.params;
    Some(match known(note, from, Sender::Server)? {
        Some(Method::Progress) => {
            let (token, progress) = progress(note)?;
            ServerNotification::Progress { token, progress }
        }
        Some(Method::LogMessage) => {
            ServerNotification::Log(json::from_str(params.to_object().as_str()).ok()?)
        }
        Some(Method::Cancelled) => ServerNotification::Cancelled(cancelled(note, from)?),
        Some(Method::ToolsChanged) => ServerNotification::ToolsChanged,
        Some(Method::PromptsChanged) => ServerNotification::PromptsChanged,
        Some(Method::ResourcesChanged) => ServerNotification::ResourcesChanged,
        Some(Method::ResourceUpdated) => ServerNotification::ResourceUpdated {
            uri: params.required_value("uri").ok()?,
        },
        Some(Method::SubscriptionAcknowledged) => {
            ServerNotification::Acknowledged(params.required_value("notifications").ok()?)
        }
        Some(Method::ElicitationComplete) => ServerNotification::ElicitationComplete(
            json::from_str(params.to_object().as_str()).ok()?,
        ),
        _ => {
            let (method, params) = other(note);
            ServerNotification::Other { method, params }
        }
    })
}

/// Reads what a client tells; `None` for what no client may say in this revision.
// spec: BASE-19, CAN-07
pub(super) fn read_client(
    note: &Notification<'_>,
    from: ProtocolVersion,
) -> Option<ClientNotification> {
    Some(match known(note, from, Sender::Client)? {
        // spec: PROG-07
        Some(Method::Progress) if from.is_modern() => return None,
        Some(Method::Progress) => {
            let (token, progress) = progress(note)?;
            ClientNotification::Progress { token, progress }
        }
        Some(Method::Cancelled) => ClientNotification::Cancelled(cancelled(note, from)?),
        Some(Method::Initialized) => ClientNotification::Initialized,
        Some(Method::RootsChanged) => ClientNotification::RootsChanged,
        _ => {
            let (method, params) = other(note);
            ClientNotification::Other { method, params }
        }
    })
}

/// The method of a notification that `sender` may send: `None` inside when the protocol does not
/// know it at all.
fn known(
    note: &Notification<'_>,
    version: ProtocolVersion,
    sender: Sender,
) -> Option<Option<Method>> {
    match Method::from_name(&note.method) {
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

fn progress(note: &Notification<'_>) -> Option<(ProgressToken, ProgressUpdate)> {
    let params = &note.params;
    let mut progress = ProgressUpdate::new(params.required_value("progress").ok()?);
    progress.total = params.optional_value("total").ok()?;
    progress.message = params.optional_value("message").ok()?;
    Some((params.required_value("progressToken").ok()?, progress))
}

fn cancelled(note: &Notification<'_>, from: ProtocolVersion) -> Option<Cancelled> {
    let params = note.params.to_object();
    let mut cancelled: Cancelled = json::from_str(params.as_str()).ok()?;
    if from.is_modern() {
        cancelled.meta = cancelled.meta.and_then(without_subscription);
    }
    names_a_request(&cancelled, from).then_some(cancelled)
}

/// What the sender has put into `_meta` beside the stamp.
fn without_subscription(meta: Meta) -> Option<Meta> {
    let mut members = meta.as_object().clone();
    members.shift_remove(keys::SUBSCRIPTION_ID);
    (!members.is_empty()).then(|| members.into())
}

// spec: CAN-01
fn names_a_request(cancelled: &Cancelled, version: ProtocolVersion) -> bool {
    cancelled.request_id.is_some() || version.has_experimental_tasks()
}

fn other(note: &Notification<'_>) -> (Box<str>, Option<RawObject>) {
    let params = &note.params;
    let params = (params.iter().len() > 0).then(|| params.to_object());
    ((*note.method).into(), params)
}

/// The subscription that a notification belongs to.
// spec: META-13, SUB-07
#[inline]
pub(super) fn subscription(note: &Notification<'_>) -> Option<RequestId> {
    json::from_str(note.params.meta(keys::SUBSCRIPTION_ID)?.as_str()).ok()
}

/// Writes what a server tells, stamped with the subscription that it belongs to; nothing when it
/// cannot be said in this revision, or not there.
pub(super) fn write_server(
    note: &ServerNotification,
    subscription: Option<&RequestId>,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    let exists = match note.method() {
        Some(method) => may_send(method, to, Sender::Server),
        None => true,
    };
    if !exists || to.is_modern() && !fits_stream(note, subscription) {
        return false;
    }
    let of = subscription.filter(|_| to.is_modern());
    match note {
        ServerNotification::Progress { token, progress } => {
            write_progress(token, progress, to, out)
        }
        ServerNotification::Log(message) => write(Method::LogMessage.as_str(), message, out),
        ServerNotification::Cancelled(cancelled) => return write_cancelled(cancelled, of, to, out),
        ServerNotification::ToolsChanged => write_stamped(Method::ToolsChanged, of, out),
        ServerNotification::PromptsChanged => write_stamped(Method::PromptsChanged, of, out),
        ServerNotification::ResourcesChanged => write_stamped(Method::ResourcesChanged, of, out),
        ServerNotification::ResourceUpdated { uri } => {
            let mut params = ResourceUpdated::new(uri);
            params.meta = stamp(None, of);
            write(Method::ResourceUpdated.as_str(), &params, out);
        }
        ServerNotification::Acknowledged(filter) => {
            let mut params = SubscriptionAcknowledged::default();
            params.notifications.clone_from(filter);
            params.meta = stamp(None, of);
            write(Method::SubscriptionAcknowledged.as_str(), &params, out);
        }
        ServerNotification::ElicitationComplete(complete) => {
            write(Method::ElicitationComplete.as_str(), complete, out);
        }
        ServerNotification::Other { method, params } => {
            write_other(method, params.as_ref(), of, out)
        }
    }
    true
}

/// In the modern era changes are told to subscriptions alone, and calls tell nothing to them.
// spec: META-13, LOG-05, PROG-07, CAN-09
fn fits_stream(note: &ServerNotification, subscription: Option<&RequestId>) -> bool {
    match note {
        ServerNotification::Progress { .. } | ServerNotification::Log(_) => subscription.is_none(),
        ServerNotification::Cancelled(cancelled) => {
            subscription.is_some() && cancelled.request_id.as_ref() == subscription
        }
        ServerNotification::Other { .. } => true,
        _ => subscription.is_some(),
    }
}

/// Writes what a client tells; nothing when it cannot be said in this revision.
#[inline]
pub(super) fn write_client(
    note: &ClientNotification,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    let exists = match note.method() {
        Some(method) => may_send(method, to, Sender::Client),
        None => true,
    };
    if !exists {
        return false;
    }
    match note {
        // spec: PROG-07
        ClientNotification::Progress { .. } if to.is_modern() => return false,
        ClientNotification::Progress { token, progress } => {
            write_progress(token, progress, to, out)
        }
        ClientNotification::Cancelled(cancelled) => {
            return write_cancelled(cancelled, None, to, out);
        }
        ClientNotification::Initialized => write_stamped(Method::Initialized, None, out),
        ClientNotification::RootsChanged => write_stamped(Method::RootsChanged, None, out),
        ClientNotification::Other { method, params } => {
            write_other(method, params.as_ref(), None, out)
        }
    }
    true
}

fn write_progress(
    token: &ProgressToken,
    progress: &ProgressUpdate,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) {
    let mut params = ProgressParams::new(token.clone(), progress.clone());
    // spec: PROG-02
    if !to.has_annotations_and_audio() {
        params.message = None;
    }
    write(Method::Progress.as_str(), &params, out);
}

fn write_cancelled(
    cancelled: &Cancelled,
    subscription: Option<&RequestId>,
    to: ProtocolVersion,
    out: &mut Vec<u8>,
) -> bool {
    if !names_a_request(cancelled, to) {
        return false;
    }
    let mut params = cancelled.clone();
    params.meta = stamp(params.meta, subscription);
    write(Method::Cancelled.as_str(), &params, out);
    true
}

/// A notification that says all by its name.
fn write_stamped(method: Method, subscription: Option<&RequestId>, out: &mut Vec<u8>) {
    match stamp(None, subscription) {
        Some(meta) => {
            let mut params = mcp_types::PlainNotification::default();
            params.meta = Some(meta);
            write(method.as_str(), &params, out);
        }
        None => {
            open(method.as_str(), out);
            out.push(b'}');
        }
    }
}

fn write_other(
    method: &str,
    params: Option<&RawObject>,
    subscription: Option<&RequestId>,
    out: &mut Vec<u8>,
) {
    let Some(id) = subscription else {
        return match params {
            Some(params) => write(method, params, out),
            None => {
                open(method, out);
                out.push(b'}');
            }
        };
    };
    let mut members = params
        .and_then(|raw| raw.parse::<JsonObject>().ok())
        .unwrap_or_default();
    let meta = members
        .entry("_meta")
        .or_insert_with(|| JsonObject::new().into());
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(keys::SUBSCRIPTION_ID.to_owned(), id.clone().into());
    }
    write(method, &members, out);
}

/// A `_meta` with the subscription in it.
// spec: META-13
fn stamp(meta: Option<Meta>, subscription: Option<&RequestId>) -> Option<Meta> {
    match subscription {
        Some(id) => Some(meta.unwrap_or_default().for_subscription(id)),
        None => meta,
    }
}

fn open(method: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"#);
    write_text(out, method);
}

fn write(method: &str, params: &dyn Write, out: &mut Vec<u8>) {
    open(method, out);
    out.extend_from_slice(br#","params":{"#);
    splice_json(out, params);
    out.push(b'}');
}
