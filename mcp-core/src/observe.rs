//! Observation: what telemetry, metrics and logs see of messages.
//!
//! | module | content |
//! |---|---|
//! | `observer` | observers of the messages that layers do not see |
//! | `metrics` | snapshots of endpoints, authorization and tasks |
//! | `request_name` | names of requests in logs and spans |

mod metrics;
mod observer;
mod request_name;

pub(crate) use metrics::QueueShare;
pub use metrics::{AuthMetrics, EndpointMetrics, TaskMetrics};
pub(crate) use observer::NotificationObserver;
pub use observer::{Observation, ObservedMessage, Observer};
pub use request_name::RequestName;
