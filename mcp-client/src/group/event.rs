//! The events of a group, and the health of its servers.

use std::fmt;
use std::sync::Arc;

use mcp_core::Omission;

use crate::notifications::Change;

/// A server event in a group.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum GroupEvent {
    /// The server has notified of a change.
    #[non_exhaustive]
    Changed {
        /// The server's name.
        server: Arc<str>,
        /// The change.
        change: Change,
    },
    /// The server has started, has ended, or could not be started.
    #[non_exhaustive]
    Health {
        /// The server's name.
        server: Arc<str>,
        /// The new health.
        health: Health,
    },
    /// The client has left out a part of one of the server's lists.
    #[non_exhaustive]
    Omitted {
        /// The server's name.
        server: Arc<str>,
        /// The part, and the reason.
        omission: Omission,
    },
    /// The subscriber was too slow and has lost this number of events.
    Lost(u64),
}

/// The health of a server in a group.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// The server is disabled or its group is closed, for this reason.
    Unused(String),
    /// The server was not needed yet.
    Idle,
    /// The server runs.
    Running,
    /// The server has ended or could not be started, for this reason. It is started again when it is
    /// needed after a delay.
    Down(String),
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unused(reason) => write!(f, "not used: {reason}"),
            Self::Idle => f.write_str("not started yet"),
            Self::Running => f.write_str("running"),
            Self::Down(reason) => write!(f, "down: {reason}"),
        }
    }
}
