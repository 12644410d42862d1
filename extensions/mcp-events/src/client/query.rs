//! Extension methods, for clients.

use std::time::Duration;

use mcp_client::{Client, Error, ExtensionClient, PreparedCall};
use mcp_types::{JsonObject, RawObject};
use serde_json::Value;

use crate::extension::{Events, ListEvents, PollEvents, Subscribe, Unsubscribe};
use crate::secret::WebhookSecret;
use crate::wire::{
    EventDescriptor, ListEventsParams, ListEventsResult, PollParams, PollResult, Selector,
    SubscribeParams, SubscribeResult, Target,
};

/// The events of a server, for a client that was built with [`Events`](crate::Events).
///
/// # Examples
///
/// ```
/// use futures_util::StreamExt;
/// use mcp::events::{EventClient, EventQuery, EventUpdate};
///
/// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
/// let events = EventClient::new(&client)?;
/// let mut stream = events.stream(EventQuery::new("order.placed"));
/// while let Some(update) = stream.next().await {
///     match update? {
///         EventUpdate::Event(event) => println!("{} {:?}", event.timestamp, event.data),
///         EventUpdate::Gap => println!("some events are lost"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct EventClient {
    pub(super) extension: ExtensionClient<Events>,
}

/// An event selection: an event type, its arguments, and the position to start at.
///
/// # Examples
///
/// ```
/// use mcp::events::EventQuery;
///
/// let query = EventQuery::new("order.placed").argument("order", 7).cursor("a1b2-77");
/// ```
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    pub(super) selector: Selector,
    max_events: Option<u32>,
}

/// The URL that receives events, and the secret that signs them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WebhookTarget {
    /// The URL: `https:`, and reachable by the server.
    pub url: String,
    /// The secret, which the receiver knows.
    pub secret: WebhookSecret,
    /// The time after which the subscription is renewed at the latest. The server may choose a shorter
    /// one.
    pub ttl: Option<Duration>,
}

impl WebhookTarget {
    /// A target.
    pub fn new(url: impl Into<String>, secret: WebhookSecret) -> Self {
        Self {
            url: url.into(),
            secret,
            ttl: None,
        }
    }

    /// Sets the time after which the subscription is renewed.
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

impl EventQuery {
    /// The events of one type, from now on.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            selector: Selector {
                name: name.into(),
                ..Selector::default()
            },
            max_events: None,
        }
    }

    /// Sets an argument of the event type.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let arguments = self.selector.arguments.get_or_insert_with(JsonObject::new);
        arguments.insert(name.into(), value.into());
        self
    }

    /// Starts after a position: the `cursor` of an earlier event or result.
    #[must_use]
    pub fn cursor(mut self, cursor: impl Into<String>) -> Self {
        self.selector.cursor = Some(cursor.into());
        self
    }

    /// Leaves out events that are older.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.selector.max_age_ms = Some(age.as_millis() as u64);
        self
    }

    /// Sets the largest number of events in a poll's result.
    #[must_use]
    pub fn max_events(mut self, events: u32) -> Self {
        self.max_events = Some(events);
        self
    }
}

impl EventClient {
    /// The events of a client's server.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`] if the server does not declare the extension.
    pub fn new(client: &Client) -> Result<Self, Error> {
        let extension = client.extension()?;
        Ok(Self { extension })
    }

    /// Lists the event types of all pages. The limits of a whole list apply, such as
    /// [`max_list_bytes`](PreparedCall::max_list_bytes).
    pub fn list<'a>(&self) -> PreparedCall<'a, Vec<EventDescriptor>> {
        self.extension.list::<ListEvents>()
    }

    /// Lists one page of event types: the first one, or the one at a cursor.
    pub fn list_page<'a>(
        &self,
        cursor: impl Into<Option<String>>,
    ) -> PreparedCall<'a, ListEventsResult> {
        let cursor = cursor.into();
        self.extension
            .request::<ListEvents>(&ListEventsParams { cursor })
    }

    /// Reads the events after a position. Without one, the result has no events, and the position of
    /// now.
    pub fn poll<'a>(&self, query: EventQuery) -> PreparedCall<'a, PollResult> {
        self.extension.request::<PollEvents>(&PollParams {
            selector: query.selector,
            max_events: query.max_events,
        })
    }

    /// Subscribes with a webhook once, or renews the subscription with the same event type, arguments and
    /// URL. Another secret replaces the earlier one. Use
    /// [`keep_subscribed`](Self::keep_subscribed) to renew it in time.
    pub fn subscribe<'a>(
        &self,
        query: EventQuery,
        target: &WebhookTarget,
    ) -> PreparedCall<'a, SubscribeResult> {
        self.extension.request::<Subscribe>(&SubscribeParams {
            selector: query.selector,
            delivery: Target {
                mode: Some("webhook".to_owned()),
                url: target.url.clone(),
                secret: Some(target.secret.expose()),
            },
            ttl_ms: target.ttl.map(|ttl| ttl.as_millis() as u64),
        })
    }

    /// Ends a subscription.
    pub fn unsubscribe<'a>(
        &self,
        query: EventQuery,
        url: impl Into<String>,
    ) -> PreparedCall<'a, RawObject> {
        self.extension.request::<Unsubscribe>(&SubscribeParams {
            selector: query.selector,
            delivery: Target {
                mode: None,
                url: url.into(),
                secret: None,
            },
            ttl_ms: None,
        })
    }
}
