//! Notifications of a server: their readers, the changes that they report, and the queue for handlers.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `change` | [`Change`], a change that a server notifies of |
//! | `events` | broadcasts to all readers of the program |
//! | `queue` | notifications that wait for their handlers |

mod change;
mod events;
mod queue;

pub use change::Change;
pub use events::LostNotifications;
pub(crate) use events::{Events, received};
pub(crate) use queue::{NotificationQueue, QueuedNotification};
