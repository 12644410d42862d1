//! A connection of HTTP+SSE (2024-11-05).

use std::sync::{Arc, OnceLock};

use mcp_core::NotificationBuffer;
use parking_lot::Mutex;

use super::super::kept::Place;
use super::live::Live;
use super::slots::Slot;

/// The connection of a client.
pub(super) struct Connection {
    pub(super) id: Arc<str>,
    pub(super) place: Arc<Place>,
    /// Its room among the sessions, until it is one.
    pub(super) slot: Mutex<Option<Slot>>,
    pub(super) session: OnceLock<Opened>,
}

/// What `initialize` has made of it.
#[derive(Clone)]
pub(super) struct Opened {
    pub(super) live: Arc<Live>,
    /// Everything that is to be said.
    pub(super) out: Arc<NotificationBuffer>,
}
