//! The values of an endpoint.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::Gate;

use super::body::Limits;
use super::guard::Guard;
use super::kept::Keeper;
use super::sessions::{Hooks, Sessions};
use crate::Shutdown;

#[derive(Clone)]
pub(super) struct Config {
    pub(super) guard: Guard,
    pub(super) body_timeout: Duration,
    pub(super) streams: Streams,
    pub(super) sessions: Sessions,
    pub(super) hooks: Hooks,
    pub(super) events: Option<Arc<dyn Keeper>>,
    pub(super) gate: Option<Arc<dyn Gate>>,
    pub(super) shutdown: Option<Shutdown>,
}

/// The clocks of event streams.
#[derive(Clone, Copy, Debug)]
pub(super) struct Streams {
    /// Silence after which an answer becomes a stream.
    pub(super) commit_after: Duration,
    /// Silence after which a stream gets a comment.
    pub(super) ping_interval: Duration,
    /// Life of a stream.
    pub(super) max_age: Option<Duration>,
    /// Pause of a client before it reads on.
    pub(super) retry: Duration,
}

const DEFAULT_BODY_LIMIT: usize = 4 << 20;

impl Default for Config {
    fn default() -> Self {
        Self {
            guard: Guard::new(DEFAULT_BODY_LIMIT),
            body_timeout: Duration::from_secs(30),
            streams: Streams {
                commit_after: Duration::from_secs(1),
                ping_interval: Duration::from_secs(15),
                max_age: None,
                retry: Duration::from_secs(1),
            },
            sessions: Sessions::in_memory(),
            hooks: Hooks::default(),
            events: None,
            gate: None,
            shutdown: None,
        }
    }
}

impl Config {
    /// What ends the streams that are begun here.
    pub(super) fn ended_by(&self) -> Option<Shutdown> {
        Shutdown::of_server().or_else(|| self.shutdown.clone())
    }

    pub(super) fn body_limits(&self) -> Limits {
        Limits {
            size: self.guard.body_limit,
            time: self.body_timeout,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("guard", &self.guard)
            .field("body_timeout", &self.body_timeout)
            .field("streams", &self.streams)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}
