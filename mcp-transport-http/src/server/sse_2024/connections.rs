//! The open connections of HTTP+SSE.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::{CallerKey, NotificationBuffer, Principal, Reply, ReplyTarget};
use mcp_types::ProtocolVersion;
use parking_lot::Mutex;
use uuid::Uuid;

use super::super::call::new_buffer;
use super::super::replay::ReaderSlot;
use super::super::session::{HttpSession, SessionPermit};

/// The open connections of an endpoint by id.
#[derive(Default)]
pub(in crate::server) struct SseConnections {
    by_id: Mutex<HashMap<Arc<str>, Arc<SseConnection>>>,
}

/// An open client connection.
pub(super) struct SseConnection {
    /// Id of the connection and of its session.
    pub(super) id: Arc<str>,
    /// Key of the connection's sessions: that of its GET, which has the path of its messages.
    pub(super) key: Arc<str>,
    pub(super) reader: Arc<ReaderSlot>,
    /// The principal that opened the connection.
    owner: CallerKey,
    /// Permission for a session, until `initialize` opens it.
    permit: Mutex<Option<SessionPermit>>,
    /// Replies before the session is open.
    pub(super) early_replies: NotificationBuffer,
    /// Set by `initialize`.
    pub(super) session: Mutex<Option<Arc<OpenSession>>>,
}

/// The session of a connection.
pub(super) struct OpenSession {
    pub(super) session: Arc<HttpSession>,
    /// Messages of the server that the client has not received yet.
    pub(super) output: Arc<NotificationBuffer>,
}

impl SseConnection {
    pub(super) fn new(
        key: Arc<str>,
        permit: SessionPermit,
        principal: Option<&Principal>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id: Uuid::new_v4().to_string().into(),
            key,
            reader: Arc::default(),
            owner: CallerKey::new(principal),
            permit: Mutex::new(Some(permit)),
            early_replies: new_buffer(ProtocolVersion::V2024_11_05).replacing_when_full(),
            session: Mutex::default(),
        })
    }

    /// Returns the session that the last `initialize` has opened.
    pub(super) fn session(&self) -> Option<Arc<OpenSession>> {
        self.session.lock().clone()
    }

    /// Returns true if the principal is the one that opened the connection.
    // spec: SESS-11
    pub(super) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.owner.matches(principal)
    }

    /// Returns the number of bytes that the client has not read.
    pub(super) fn unread(&self) -> usize {
        match self.session() {
            Some(open) => open.output.buffered(),
            None => self.early_replies.buffered(),
        }
    }

    /// Sends a reply that belongs to no call.
    pub(super) fn send(&self, target: &ReplyTarget, reply: Reply) {
        match self.session() {
            Some(open) => send(&open.output, target, reply),
            None => send(&self.early_replies, target, reply),
        }
    }

    /// Returns the permission for a session once.
    pub(super) fn take_permit(&self) -> Option<SessionPermit> {
        self.permit.lock().take()
    }
}

/// Sends a reply on a connection.
pub(super) fn send(output: &NotificationBuffer, target: &ReplyTarget, reply: Reply) {
    output.push(&target.encode(reply, Vec::new()).into_bytes());
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
