//! Clients: reading events, and the webhook receiver.

mod query;
mod receiver;
mod recent_ids;
mod stream;
mod subscription;

pub use query::{EventClient, EventQuery, WebhookTarget};
pub use receiver::{WebhookEvent, WebhookReceiver};
pub use stream::{EventStream, EventUpdate};
pub use subscription::WebhookSubscription;
