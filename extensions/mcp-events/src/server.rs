//! Servers: event types, the log in memory, the methods, webhooks.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `errors` | errors with the codes of the extension |
//! | `unique`, `challenge_rate` | ids; the rate of new URLs |
//! | `memory_log` | the event log in memory |
//! | `memory_webhooks` | the webhook subscriptions in memory |
//! | `event_type` | event types with their filters |
//! | `webhooks` | settings and transports of webhooks |
//! | `egress` | checked URLs, and HTTP to them |
//! | `retry_after` | waits that webhooks ask for |
//! | `subscription` | subscriptions as they are stored |
//! | `shared` | the event types, the log and the limits of a server |
//! | `select` | the events that a request selects |
//! | `delivery` | the task that delivers to one webhook |
//! | `deliveries` | this node's deliveries, and their leases |
//! | `publish` | a server's settings, and publishing |
//! | `verification` | a URL's agreement to receive events |
//! | `subscribe` | `events/subscribe` and `events/unsubscribe` |
//! | `methods` | `events/list`, `events/poll`, `events/stream` |

mod challenge_rate;
mod deliveries;
mod delivery;
#[cfg(feature = "webhook")]
mod egress;
mod errors;
mod event_type;
mod memory_log;
mod memory_webhooks;
mod methods;
mod publish;
mod retry_after;
mod select;
mod shared;
mod subscribe;
mod subscription;
mod unique;
mod verification;
mod webhooks;

#[cfg(feature = "webhook")]
pub use egress::HttpWebhooks;
pub use event_type::EventType;
pub use memory_log::MemoryEventLog;
pub use memory_webhooks::MemoryWebhookStore;
pub(crate) use shared::Shared;
pub use shared::{EventLimits, PublishError};
pub use webhooks::{WebhookFailure, WebhookPost, WebhookResponse, WebhookTransport, Webhooks};
