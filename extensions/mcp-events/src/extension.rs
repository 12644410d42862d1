//! The definition of the extension.

#[cfg(feature = "server")]
use std::sync::Arc;

use mcp_core::extension::{CustomRequest, Extension, ListRequest};
use mcp_types::ext::events::{LIST, POLL, STREAM, SUBSCRIBE, UNSUBSCRIBE};
use mcp_types::meta::keys;
use mcp_types::{JsonObject, RawObject};
use serde::{Deserialize, Serialize};

use crate::wire::{
    EventDescriptor, ListEventsParams, ListEventsResult, PollParams, PollResult, Selector,
    SubscribeParams, SubscribeResult,
};

/// The extension of both sides. On a server it contains the event types, and publishes events; clones
/// share them. On a client it declares that the client receives events.
///
/// # Examples
///
/// ```
/// use mcp::events::Events;
///
/// let builder = mcp::Client::builder().extension(Events::new());
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Events {
    #[cfg(feature = "server")]
    pub(crate) shared: Arc<crate::server::Shared>,
}

/// The server settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[expect(unnameable_types, reason = "the associated type of the extension")]
pub struct EventsSettings {
    /// The list of event types may change.
    #[serde(default)]
    pub list_changed: bool,
}

impl Extension for Events {
    const ID: &'static str = keys::EVENTS_EXTENSION;
    type ServerSettings = EventsSettings;
    type ClientSettings = JsonObject;
}

macro_rules! requests {
    ($($name:ident: $method:ident($params:ty) -> $result:ty;)*) => {$(
        pub(crate) struct $name;

        impl CustomRequest for $name {
            const METHOD: &'static str = $method;
            type Extension = Events;
            type Params = $params;
            type Result = $result;
        }
    )*};
}

requests! {
    ListEvents: LIST(ListEventsParams) -> ListEventsResult;
    PollEvents: POLL(PollParams) -> PollResult;
    StreamEvents: STREAM(Selector) -> RawObject;
    Subscribe: SUBSCRIBE(SubscribeParams) -> SubscribeResult;
    Unsubscribe: UNSUBSCRIBE(SubscribeParams) -> RawObject;
}

impl ListRequest for ListEvents {
    type Item = EventDescriptor;

    fn into_items(page: ListEventsResult) -> Vec<EventDescriptor> {
        page.events
    }
}

/// The event types have changed.
#[cfg(feature = "server")]
pub(crate) struct ListChanged;

#[cfg(feature = "server")]
impl mcp_core::extension::CustomNotification for ListChanged {
    const METHOD: &'static str = mcp_types::ext::events::LIST_CHANGED;
    type Extension = Events;
    type Params = ();
}

/// The names of a stream's notifications.
pub(crate) mod notification {
    pub(crate) const ACTIVE: &str = "notifications/events/active";
    pub(crate) const EVENT: &str = "notifications/events/event";
    pub(crate) const HEARTBEAT: &str = "notifications/events/heartbeat";
    pub(crate) const ERROR: &str = "notifications/events/error";
    pub(crate) const TERMINATED: &str = "notifications/events/terminated";
}

#[cfg(feature = "client")]
impl mcp_client::ClientExtension for Events {
    fn settings(&self) -> JsonObject {
        JsonObject::new()
    }

    fn register(self, _: &mut mcp_client::ClientSetup<Self>) {}
}

#[cfg(not(feature = "server"))]
impl Events {
    /// Creates the extension for a client.
    pub fn new() -> Self {
        Self {}
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new()
    }
}
