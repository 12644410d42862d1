//! A call on its way from the transport to its reply.
//!
//! A [`Service`] turns an [`Exchange`] into a reply. While a call runs, it sends notifications to its client, and
//! asks the client for input.
//!
//! | module | content |
//! |---|---|
//! | `service` | the trait of everything that answers calls, and a mismatch of headers that a service answers with |
//! | `exchange` | a call with its context |
//! | `input` | channels to ask the client |
//! | `notification_sender` | progress, log messages and extension notifications, and their buffer |
//! | `tasks` | calls that become tasks |

mod exchange;
mod input;
mod notification_sender;
mod service;
mod tasks;

pub(crate) use exchange::Endpoint;
pub use exchange::Exchange;
pub use input::{BackChannel, BackChannelError, Input, MessageSink, TaskChannel};
pub use notification_sender::{NotificationBuffer, NotificationSender};
pub use service::{HeaderMismatch, Service};
pub use tasks::{TaskCall, TaskChanges, TaskEngine, TaskMode, TaskReply};
