//! File format of recorded sessions.

use serde::Deserialize;

/// The version of the format.
pub(crate) const VERSION: u32 = 1;
/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Side {
    Client,
    Server,
}

impl Side {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}
