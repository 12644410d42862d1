//! Servers: event types, the log in memory, the methods, webhooks.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `errors` | errors with the codes of the extension |
//! | `memory_log` | the event log in memory |
//! | `event_type` | event types with their filters |
//! | `egress` | checked URLs, and HTTP to them |
//! | `webhooks` | settings of webhooks, stored subscriptions |
//! | `shared` | the event types, the log and the limits of a server |
//! | `publish` | the settings of a server, and publishing |
//! | `select` | the events that a request selects |
//! | `delivery` | the task that delivers to one webhook |
//! | `subscribe` | `events/subscribe` and `events/unsubscribe` |
//! | `methods` | `events/list`, `events/poll`, `events/stream` |

mod delivery;
#[cfg(feature = "webhook")]
mod egress;
mod errors;
mod event_type;
mod memory_log;
mod methods;
mod publish;
mod select;
mod shared;
mod subscribe;
mod webhooks;

#[cfg(feature = "webhook")]
pub use egress::{HttpWebhooks, SystemResolver, WebhookResolver};
pub use event_type::EventType;
pub use memory_log::MemoryEventLog;
pub(crate) use shared::Shared;
pub use shared::{EventLimits, PublishError};
pub use webhooks::{WebhookFailure, WebhookPost, WebhookResponse, WebhookTransport, Webhooks};
