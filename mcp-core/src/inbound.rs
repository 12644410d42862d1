//! Messages of a client on their way into a service.
//!
//! A request becomes an [`InboundRequest`] (in the modern era by [`modern`], in the legacy era by the client's
//! session), and a [`RunningCall`] when it is served.
//!
//! | module | content |
//! |---|---|
//! | `modern` | requests that need no session |
//! | `request`, `notification` | decoded messages, ready to be served |
//! | `running_call` | a running call, with its notifications |
//! | `subscriptions` | `subscriptions/listen` |

pub mod modern;
mod notification;
mod request;
mod running_call;
pub mod subscriptions;

pub use notification::InboundNotification;
pub use request::InboundRequest;
pub use running_call::{CallOutput, RunningCall};
