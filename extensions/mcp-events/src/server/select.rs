//! The events that a request selects.

use std::sync::Arc;

use mcp_core::Principal;
use mcp_core::store::StoreError;
use mcp_server::RequestError;
use mcp_types::JsonObject;

use super::errors;
use super::event_type::TypeEntry;
use super::shared::Shared;
use crate::clock;
use crate::event_log::LoggedEvent;
use crate::wire::{DeliveryMode, EventOccurrence, Selector};

/// The largest cursor in bytes.
const MAX_CURSOR: usize = 256;
/// The largest arguments in bytes.
const MAX_ARGUMENTS: usize = 64 << 10;

/// The events of one type that a caller wants.
#[derive(Debug, Clone)]
pub(super) struct Selection {
    pub(super) entry: Arc<TypeEntry>,
    pub(super) arguments: JsonObject,
    pub(super) caller: Option<Principal>,
    max_age_ms: Option<u64>,
}

/// The selected events in a part of the log.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) events: Vec<EventOccurrence>,
    /// The position after the part, also if none of its events is selected.
    pub(super) cursor: String,
    pub(super) truncated: bool,
    pub(super) has_more: bool,
}

impl Selection {
    /// Checks the parameters of a request.
    ///
    /// # Errors
    ///
    /// Returns the error for an unknown event type, another way of delivery, or invalid arguments.
    pub(super) fn new(
        shared: &Shared,
        selector: &Selector,
        mode: DeliveryMode,
        caller: Option<Principal>,
    ) -> Result<Self, RequestError> {
        let entry = shared.find_name(&selector.name);
        let entry = entry.ok_or_else(|| errors::no_event_type(&selector.name))?;
        if !entry.allows(mode) {
            let mode = serde_json::to_value(mode).unwrap_or_default();
            return Err(errors::unsupported(
                "delivery",
                mode.as_str().unwrap_or_default(),
            ));
        }
        let arguments = selector.arguments.clone().unwrap_or_default();
        let bytes = serde_json::to_string(&arguments).map_or(usize::MAX, |text| text.len());
        if bytes > MAX_ARGUMENTS {
            return Err(RequestError::invalid_params("`arguments`: at most 64 KiB"));
        }
        if selector
            .cursor
            .as_ref()
            .is_some_and(|cursor| cursor.len() > MAX_CURSOR)
        {
            return Err(RequestError::invalid_params("`cursor`: at most 256 bytes"));
        }
        (entry.check)(&arguments)
            .map_err(|reason| RequestError::invalid_params(format!("`arguments`: {reason}")))?;
        Ok(Self {
            entry,
            arguments,
            caller,
            max_age_ms: selector.max_age_ms,
        })
    }

    /// The name of the event type.
    pub(super) fn name(&self) -> &str {
        &self.entry.descriptor.name
    }

    /// Returns the position where the selection starts: now, if there is no cursor.
    pub(super) async fn start(
        &self,
        shared: &Shared,
        cursor: Option<&String>,
    ) -> Result<String, StoreError> {
        match cursor {
            Some(cursor) => Ok(cursor.clone()),
            None => shared.timed(shared.log.end(self.name())).await,
        }
    }

    /// Reads the selected events among the next `limit` ones of the log.
    pub(super) async fn page(
        &self,
        shared: &Shared,
        after: &str,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let page = shared
            .timed(shared.log.read(self.name(), after, limit))
            .await?;
        let cursor = match (page.events.last(), page.truncated) {
            (Some((cursor, _)), _) => cursor.clone(),
            (None, false) => after.to_owned(),
            // The cursor is unknown, and the log is empty.
            (None, true) => shared.timed(shared.log.end(self.name())).await?,
        };
        let events = page.events.into_iter();
        let events = events.filter(|(_, event)| self.is_selected(event));
        Ok(Page {
            events: events
                .filter_map(|(cursor, event)| occurrence(cursor, event))
                .collect(),
            cursor,
            truncated: page.truncated,
            has_more: page.has_more,
        })
    }

    fn is_selected(&self, event: &LoggedEvent) -> bool {
        let age = clock::now().saturating_sub(event.timestamp);
        let is_recent = self.max_age_ms.is_none_or(|max| age <= max);
        is_recent
            && self
                .entry
                .selects(&self.arguments, &event.data, self.caller.as_ref())
    }
}

fn occurrence(cursor: String, event: LoggedEvent) -> Option<EventOccurrence> {
    Some(EventOccurrence {
        event_id: event.id,
        name: event.name,
        timestamp: clock::format(event.timestamp),
        data: event.data.parse().ok()?,
        cursor: Some(cursor),
        meta: None,
    })
}
