//! `events/list`, `events/poll` and `events/stream`.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::extension::to_object;
use mcp_core::{NotificationSender, Principal};
use mcp_server::{CallContext, FromCall, Rejection, RequestError, ServerExtension, ServerSetup};
use mcp_types::{RawObject, codes};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::select::{Page, Selection};
use super::shared::Shared;
use super::{deliveries, errors, subscribe};
use crate::extension::{
    Events, EventsSettings, ListChanged, ListEvents, PollEvents, StreamEvents, Subscribe,
    Unsubscribe, notification,
};
use crate::wire::{
    DeliveryMode, ListEventsParams, ListEventsResult, PollParams, PollResult, Position, Selector,
    SubscribeParams,
};

/// The number of event types in a page of the list.
const LIST_PAGE: usize = 100;
/// The number of events that a stream reads at once.
const STREAM_PAGE: usize = 100;
/// The wait after a log failure.
const LOG_RETRY: Duration = Duration::from_secs(5);

/// The caller of a method.
pub(super) struct EventCaller {
    notifications: NotificationSender,
    pub(super) principal: Option<Principal>,
}

impl FromCall for EventCaller {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self {
            notifications: call.notifications().clone(),
            principal: call.extensions().get().cloned(),
        })
    }
}

impl ServerExtension for Events {
    fn settings(&self) -> EventsSettings {
        EventsSettings { list_changed: true }
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.allow_undeclared_clients();
        let clients = setup.broadcaster();
        let notify = move || clients.send::<ListChanged>(&());
        *self.shared.notify_clients.write() = Some(Box::new(notify));
        deliveries::start(&self.shared);
        // Some hosts look for the capability here.
        setup.capability("events", json!({}));
        for problem in self.shared.problems() {
            setup.requires(problem, |_| false);
        }
        let shared = self.shared.clone();
        setup.request::<ListEvents, _>(move |params: ListEventsParams| {
            let page = list(&shared, params.cursor.as_deref());
            async move { page }
        });
        let shared = self.shared.clone();
        setup.request::<PollEvents, _>(move |params: PollParams, caller: EventCaller| {
            poll(shared.clone(), params, caller)
        });
        let shared = self.shared.clone();
        setup.request::<StreamEvents, _>(move |selector: Selector, caller: EventCaller| {
            stream(shared.clone(), selector, caller)
        });
        let shared = self.shared.clone();
        setup.request::<Subscribe, _>(move |params: SubscribeParams, caller: EventCaller| {
            subscribe::subscribe(shared.clone(), params, caller.principal)
        });
        let shared = self.shared;
        setup.request::<Unsubscribe, _>(move |params: SubscribeParams, caller: EventCaller| {
            subscribe::unsubscribe(shared.clone(), params, caller.principal)
        });
    }
}

impl Shared {
    /// Mistakes in the event types, as missing requirements.
    fn problems(&self) -> Vec<String> {
        let types = self.types();
        let mut problems = Vec::new();
        for (index, entry) in types.iter().enumerate() {
            let descriptor = &entry.descriptor;
            let name = &descriptor.name;
            if descriptor.delivery.is_empty() {
                problems.push(format!(
                    "a delivery of the event type `{name}` (`poll`, `push` or `webhook`)"
                ));
            }
            if entry.allows(DeliveryMode::Webhook) && self.webhooks.get().is_none() {
                problems.push(format!("`Events::webhooks` for the event type `{name}`"));
            }
            if types[..index]
                .iter()
                .any(|other| other.descriptor.name == *name)
            {
                problems.push(format!("another name for the second event type `{name}`"));
            }
        }
        problems
    }

    /// Limits the number of streams.
    fn stream_permits(&self) -> &Arc<Semaphore> {
        let limit = self.limits().streams.min(Semaphore::MAX_PERMITS);
        self.streams.get_or_init(|| Arc::new(Semaphore::new(limit)))
    }
}

/// Returns a page of the event types. Its cursor is the name of its last one.
fn list(shared: &Shared, cursor: Option<&str>) -> Result<ListEventsResult, RequestError> {
    let types = shared.types();
    let mut rest = &types[..];
    if let Some(cursor) = cursor {
        let last = rest
            .iter()
            .position(|entry| entry.descriptor.name == cursor);
        let last = last.ok_or_else(|| RequestError::invalid_params("`cursor`: unknown"))?;
        rest = &rest[last + 1..];
    }
    let page = rest.iter().take(LIST_PAGE);
    let events: Vec<_> = page.map(|entry| entry.descriptor.clone()).collect();
    let has_more = rest.len() > events.len();
    let next_cursor = events.last().filter(|_| has_more);
    Ok(ListEventsResult {
        next_cursor: next_cursor.map(|last| last.name.clone()),
        events,
    })
}

async fn poll(
    shared: Arc<Shared>,
    params: PollParams,
    caller: EventCaller,
) -> Result<PollResult, RequestError> {
    let PollParams {
        selector,
        max_events,
    } = params;
    let selection = Selection::new(&shared, &selector, DeliveryMode::Poll, caller.principal)?;
    let limits = shared.limits();
    let start = selection.start(&shared, selector.cursor.as_ref()).await;
    let start = start.map_err(errors::log_failed)?;
    let limit = max_events.map_or(limits.poll_events, |max| max as usize);
    let limit = limit.clamp(1, limits.poll_events.max(1));
    let page = selection.page(&shared, &start, limit).await;
    let page = page.map_err(errors::log_failed)?;
    Ok(PollResult {
        events: page.events,
        cursor: Some(page.cursor),
        truncated: page.truncated,
        has_more: page.has_more,
        next_poll_ms: Some(limits.poll_interval.as_millis() as u64),
    })
}

/// Sends events until the client cancels the request, which drops the future.
async fn stream(
    shared: Arc<Shared>,
    selector: Selector,
    caller: EventCaller,
) -> Result<RawObject, RequestError> {
    let selection = Selection::new(&shared, &selector, DeliveryMode::Push, caller.principal)?;
    let permit = shared.stream_permits().clone().try_acquire_owned();
    let _permit = permit.map_err(|_| errors::exhausted("streams", shared.limits().streams))?;
    let start = selection.start(&shared, selector.cursor.as_ref()).await;
    let mut cursor = start.map_err(errors::log_failed)?;
    let notifications = &caller.notifications;
    let mut is_active = false;
    let mut types = shared.types_changed();
    loop {
        if shared.find_name(selection.name()).is_none() {
            let error = failure(codes::EVENTS_NOT_FOUND, "the event type was removed");
            notify(notifications, notification::TERMINATED, &error).await;
            return Ok(RawObject::default());
        }
        let page = match selection.page(&shared, &cursor, STREAM_PAGE).await {
            Ok(page) => page,
            Err(error) => {
                tracing::error!(error = %mcp_types::escaped(&error), "the event log failed");
                let error = failure(codes::INTERNAL_ERROR, "the event log failed");
                notify(notifications, notification::ERROR, &error).await;
                tokio::time::sleep(LOG_RETRY).await;
                continue;
            }
        };
        if !is_active || page.truncated {
            is_active = true;
            let position = position(&cursor, &page);
            notify(notifications, notification::ACTIVE, &position).await;
        }
        for event in &page.events {
            notify(notifications, notification::EVENT, event).await;
        }
        cursor = page.cursor;
        if page.has_more {
            continue;
        }
        let wait = shared.log.wait(selection.name(), &cursor);
        tokio::select! {
            _ = types.changed() => {}
            waited = wait => if let Err(error) = waited {
                tracing::error!(error = %mcp_types::escaped(&error), "the event log failed");
                tokio::time::sleep(LOG_RETRY).await;
            },
            () = tokio::time::sleep(shared.limits().heartbeat) => {
                let position = Position { cursor: Some(cursor.clone()), truncated: None };
                notify(notifications, notification::HEARTBEAT, &position).await;
            }
        }
    }
}

/// The parameters of a notification about a failure.
fn failure(code: i64, message: &str) -> Value {
    json!({"error": {"code": code, "message": message}})
}

/// The position at which a stream starts, or continues after a gap.
fn position(cursor: &str, page: &Page) -> Position {
    let cursor = if page.truncated && page.events.is_empty() {
        page.cursor.clone()
    } else {
        cursor.to_owned()
    };
    Position {
        cursor: Some(cursor),
        truncated: Some(page.truncated),
    }
}

async fn notify(notifications: &NotificationSender, method: &str, params: &impl Serialize) {
    match to_object(params) {
        Ok(params) => notifications.notify(method, Some(params)).await,
        Err(error) => {
            tracing::error!(method, error = %mcp_types::escaped(&error), "a notification cannot be sent")
        }
    }
}
