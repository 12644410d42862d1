//! Unstable: events of servers (extension `io.modelcontextprotocol/events`), which clients poll, stream, or
//! receive by webhooks.
//!
//! The protocol is the draft SEP-3415 of 5 October 2026. Names, error codes and messages follow that text and
//! may change with it.
//!
//! ```
//! use mcp::events::{EventType, Events};
//! use mcp::prelude::*;
//!
//! #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! struct OrderPlaced {
//!     order: u64,
//! }
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let events = Events::new().event(EventType::<OrderPlaced>::new("order.placed").poll().push());
//! let server = Server::new("shop", "1.0.0").extension(events.clone());
//! server.check()?;
//!
//! // Anywhere in the program:
//! events.publish(&OrderPlaced { order: 7 }).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Event payloads are untrusted data for the clients that receive them.
//!
//! Spec: <https://github.com/modelcontextprotocol/modelcontextprotocol/pull/3415>
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `clock` | times |
//! | `event_log`, `webhook_store` | the stores of published events and of webhook subscriptions |
//! | `secret` | webhook secrets, and their signatures |
//! | `wire` | parameters and results of the methods |
//! | `extension` | the definition of the extension |
//! | `server` | event types, the log in memory, the methods, webhooks |
//! | `client` | reading events, the receiver of webhooks |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(any(feature = "client", feature = "server")),
    allow(
        dead_code,
        reason = "without a side, only the types of the wire are of use"
    )
)]

#[cfg(feature = "client")]
mod client;
mod clock;
mod event_log;
mod extension;
mod secret;
#[cfg(feature = "server")]
mod server;
mod webhook_store;
mod wire;

#[cfg(feature = "client")]
pub use client::{
    EventClient, EventQuery, EventStream, EventUpdate, WebhookEvent, WebhookReceiver,
    WebhookSubscription, WebhookTarget,
};
pub use event_log::{EventLog, LogPage, LoggedEvent};
pub use extension::Events;
pub use mcp_core::egress::Zone;
pub use secret::{InvalidSecret, InvalidSignature, NoRandomness, WebhookSecret};
#[cfg(all(feature = "server", feature = "webhook"))]
pub use server::HttpWebhooks;
#[cfg(feature = "server")]
pub use server::{
    EventLimits, EventType, MemoryEventLog, MemoryWebhookStore, PublishError, WebhookFailure,
    WebhookPost, WebhookResponse, WebhookTransport, Webhooks,
};
pub use webhook_store::{WebhookLimits, WebhookRecord, WebhookStore, WebhookWrite};
pub use wire::{
    DeliveryMode, DeliveryStatus, EventDescriptor, EventOccurrence, ListEventsResult, PollResult,
    SubscribeResult,
};
