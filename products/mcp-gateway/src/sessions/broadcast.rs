//! [`Broadcast`]: notifications of a server to all its clients.

use std::sync::{Arc, Weak};

use mcp_core::CallerKey;
use mcp_server::Broadcaster;
use mcp_types::RawObject;
use parking_lot::Mutex;

use crate::settings::claims::ExtensionClaims;

/// The extensions of a server, and the clients that receive its notifications outside of calls. A server sends them in
/// each session of a caller: one session passes them on, and those of the others are dropped. The sessions of one caller
/// share this value.
#[derive(Debug, Clone)]
pub(crate) struct Broadcast {
    extensions: Arc<ExtensionClaims>,
    clients: Broadcaster,
    /// The caller whose clients receive the notifications. `None`: all clients.
    caller: Option<CallerKey>,
    /// The session that passes notifications on.
    speaker: Arc<Mutex<Weak<()>>>,
}

impl Broadcast {
    /// The notifications for clients of a caller, or of all clients.
    pub(crate) fn new(
        extensions: Arc<ExtensionClaims>,
        clients: Broadcaster,
        caller: Option<CallerKey>,
    ) -> Self {
        Self {
            extensions,
            clients,
            caller,
            speaker: Arc::default(),
        }
    }

    /// The notifications in the sessions of a caller.
    pub(super) fn for_caller(&self, caller: &CallerKey) -> Self {
        let (extensions, clients) = (self.extensions.clone(), self.clients.clone());
        Self::new(extensions, clients, Some(caller.clone()))
    }

    /// Returns true if this session passes notifications on. It does from now on if no other session does.
    pub(super) fn claim(&self, session: &Arc<()>) -> bool {
        let mut speaker = self.speaker.lock();
        if speaker.strong_count() == 0 {
            *speaker = Arc::downgrade(session);
        }
        std::ptr::eq(speaker.as_ptr(), Arc::as_ptr(session))
    }

    /// Lets another session pass notifications on.
    pub(super) fn release(&self, session: &Arc<()>) {
        let mut speaker = self.speaker.lock();
        if std::ptr::eq(speaker.as_ptr(), Arc::as_ptr(session)) {
            *speaker = Weak::new();
        }
    }

    /// Sends a server notification to the clients that declare its extension.
    pub(crate) fn send(&self, method: &str, params: Option<&RawObject>) {
        let Some(id) = self.extensions.find(method) else {
            return;
        };
        self.clients
            .send_raw(self.caller.as_ref(), id, method, params);
    }
}
