//! The open connections of HTTP+SSE.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::NotificationBuffer;
use parking_lot::Mutex;
use uuid::Uuid;

use super::super::replay::ReaderSlot;
use super::super::session::{HttpSession, SessionPermit};

/// The open connections of an endpoint by their ids.
#[derive(Default)]
pub(in crate::server) struct SseConnections {
    by_id: Mutex<HashMap<Arc<str>, Arc<SseConnection>>>,
}

/// Open connection of a client.
pub(super) struct SseConnection {
    /// Id of the connection and of its session.
    pub(super) id: Arc<str>,
    pub(super) reader: Arc<ReaderSlot>,
    /// Permission for a session, until `initialize` opens it.
    permit: Mutex<Option<SessionPermit>>,
    /// Set by `initialize`.
    pub(super) session: Mutex<Option<Arc<OpenSession>>>,
}

/// Session of a connection.
pub(super) struct OpenSession {
    pub(super) session: Arc<HttpSession>,
    /// Messages of the server that the client has not received yet.
    pub(super) output: Arc<NotificationBuffer>,
}

impl SseConnection {
    pub(super) fn new(permit: SessionPermit) -> Arc<Self> {
        Arc::new(Self {
            id: Uuid::new_v4().to_string().into(),
            reader: Arc::default(),
            permit: Mutex::new(Some(permit)),
            session: Mutex::default(),
        })
    }

    /// Returns the session that the last `initialize` has opened.
    pub(super) fn session(&self) -> Option<Arc<OpenSession>> {
        self.session.lock().clone()
    }

    /// Returns the permission for a session once.
    pub(super) fn take_permit(&self) -> Option<SessionPermit> {
        self.permit.lock().take()
    }
}

impl SseConnections {
    pub(super) fn insert(&self, connection: &Arc<SseConnection>) {
        let id = Arc::clone(&connection.id);
        self.by_id.lock().insert(id, Arc::clone(connection));
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<SseConnection>> {
        self.by_id.lock().get(id).cloned()
    }

    pub(super) fn remove(&self, id: &str) {
        self.by_id.lock().remove(id);
    }

    /// Ends the streams of all connections.
    pub(in crate::server) fn end_all(&self) {
        let connections = std::mem::take(&mut *self.by_id.lock());
        for connection in connections.into_values() {
            connection.reader.end();
        }
    }
}

impl Drop for SseConnections {
    fn drop(&mut self) {
        self.end_all();
    }
}
