//! The host's half of the conversation with a view.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `types` | values in messages of views |
//! | `message` | JSON-RPC messages as text |
//! | `server` | the server that a view may use |
//! | `bridge` | settings and handlers of a host |
//! | `state` | the state of a conversation: order of messages, pending requests |
//! | `connection` | the loop that reads and writes messages |
//! | `view` | the messages that a host sends |
//! | `connect` | connecting a host to a view |

mod bridge;
mod connect;
mod connection;
mod message;
mod server;
mod state;
mod types;
mod view;

pub use bridge::{HostBridge, ViewLimits};
pub use server::AppServer;
pub use types::{
    AppCapabilities, ContainerSize, DisplayMode, Download, HostContext, ModelContext, Platform,
    Refusal, Theme, ViewError, ViewMessage, ViewSize,
};
pub use view::View;
