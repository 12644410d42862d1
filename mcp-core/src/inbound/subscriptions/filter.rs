//! Limits of a filter, and its reduction to the changes that a client may subscribe to.

use std::collections::HashSet;

use mcp_types::ext::events;
use mcp_types::ext::tasks::{GET, TaskParams};
use mcp_types::meta::keys;
use mcp_types::{
    Page, RawObject, ReadResourceParams, RequestId, ServerCapabilities, SubscriptionFilter,
};

use crate::changes::ChangeEvent;
use crate::connection::ClientContext;
use crate::message::{Call, Fault};

/// The number of resource URIs that one subscription can name.
pub const MAX_URIS: usize = 1024;
/// The total size of these URIs, in bytes: 128 KiB. A session has the same limit for
/// `resources/subscribe`.
pub const MAX_URI_BYTES: usize = 128 * 1024;
/// The size of one URI in `resources/subscribe`, in bytes: 8 KiB.
pub(crate) const MAX_URI_LEN: usize = 8 * 1024;

/// The number of tasks that one subscription can name.
pub const MAX_TASKS: usize = 256;

/// Checks that a filter is within the limits of one subscription.
///
/// # Errors
///
/// Returns [`Fault::BadParams`] when the filter names too many resources or tasks.
// spec: SUB-15
pub(crate) fn check_size(filter: &SubscriptionFilter) -> Result<(), Fault> {
    // spec: TASK-19
    if filter.task_ids.len() > MAX_TASKS {
        return Err(Fault::bad_params(format!(
            "`params.notifications.taskIds`: {} tasks; one subscription can have {MAX_TASKS}. Open \
             several",
            filter.task_ids.len()
        )));
    }
    let uris = &filter.resource_subscriptions;
    let bytes: usize = uris.iter().map(String::len).sum();
    if uris.len() <= MAX_URIS && bytes <= MAX_URI_BYTES {
        return Ok(());
    }
    Err(Fault::bad_params(format!(
        "`params.notifications.resourceSubscriptions`: {} URIs with {bytes} bytes; one subscription \
         can have {MAX_URIS} with {MAX_URI_BYTES}. Ask for one above them, as `file:///logs/` for \
         all below it, or open several",
        uris.len()
    )))
}

/// The size of a `subscriptions/listen` request's id, in bytes: 1 KiB. The server keeps the id as
/// long as the subscription runs.
pub const MAX_ID_LEN: usize = 1024;

/// Checks the size of the values that a subscription keeps of its request besides the filter.
///
/// # Errors
///
/// Returns [`Fault::BadParams`] for a client that is too large, and [`Fault::InvalidRequest`] for an id
/// that is too long.
// spec: SUB-15
pub(crate) fn check_client(facts: &ClientContext, id: &RequestId) -> Result<(), Fault> {
    facts
        .check_size()
        .map_err(|error| Fault::bad_params(format!("`params._meta`: {error}")))?;
    match id {
        RequestId::String(id) if id.len() > MAX_ID_LEN => {
            let text = format!(
                "`id`: {} bytes; a subscription can have {MAX_ID_LEN}",
                id.len()
            );
            Err(Fault::InvalidRequest(text.into()))
        }
        _ => Ok(()),
    }
}

/// Reduces a filter to the changes that the server offers, and removes duplicate URIs.
// spec: SUB-03
pub(super) fn offered(
    filter: SubscriptionFilter,
    capabilities: &ServerCapabilities,
) -> SubscriptionFilter {
    let offers = |event: ChangeEvent| event.is_offered(capabilities);
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = filter.tools_list_changed && offers(ChangeEvent::Tools);
    granted.prompts_list_changed = filter.prompts_list_changed && offers(ChangeEvent::Prompts);
    granted.resources_list_changed =
        filter.resources_list_changed && offers(ChangeEvent::Resources);
    granted.events_list_changed =
        filter.events_list_changed && capabilities.has_extension(keys::EVENTS_EXTENSION);
    if offers(ChangeEvent::Resource { uri: "".into() }) {
        let mut seen = HashSet::new();
        granted.resource_subscriptions = filter.resource_subscriptions;
        granted
            .resource_subscriptions
            .retain(|uri| seen.insert(uri.clone()));
    }
    granted
}

/// Reduces a filter to the lists and resources that a gate lets its caller read. Changes of the
/// others stay hidden as well.
///
/// # Errors
///
/// Returns the first fault of the gate when nothing is left.
// spec: GAP-10
pub(crate) fn authorize(
    filter: &mut SubscriptionFilter,
    gate: impl Fn(&Call) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut refused = None;
    let mut admits = |call: Call| match gate(&call) {
        Ok(()) => true,
        Err(fault) => {
            refused.get_or_insert(fault);
            false
        }
    };
    let SubscriptionFilter {
        tools_list_changed: tools,
        prompts_list_changed: prompts,
        resources_list_changed: resources,
        resource_subscriptions: uris,
        task_ids: tasks,
        events_list_changed: events,
        ..
    } = filter;
    *tools = *tools && admits(Call::ListTools(Page::default()));
    *prompts = *prompts && admits(Call::ListPrompts(Page::default()));
    *resources = *resources && admits(Call::ListResources(Page::default()));
    uris.retain(|uri| admits(Call::ReadResource(ReadResourceParams::from(uri))));
    tasks.retain(|id| {
        admits(Call::Other {
            method: GET.into(),
            params: RawObject::from_value(&TaskParams::from(id)).ok(),
        })
    });
    *events = *events
        && admits(Call::Other {
            method: events::LIST.into(),
            params: None,
        });
    match refused {
        Some(fault) if filter.is_empty() => Err(fault),
        _ => Ok(()),
    }
}
