//! The host's half of the conversation with a view.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `types` | values in messages of views |
//! | `message` | JSON-RPC messages as text |
//! | `server` | the server that a view may use |
//! | `bridge` | settings and handlers of a host |
//! | `state` | conversation state: message order, pending requests |
//! | `view` | the messages that a host sends |
//! | `connection` | connecting a host to a view: the loop that reads and writes messages |

mod bridge;
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
