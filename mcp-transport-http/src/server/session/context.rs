//! Everything that a request of a legacy client needs.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use mcp_core::legacy::Session;
use mcp_core::{Principal, Service};
use mcp_types::codes;

use super::super::config::Config;
use super::super::replay::ReaderSlot;
use super::super::request::rejection::Rejection;
use super::expiry;
use super::http_session::HttpSession;
use super::quota::{QuotaExceeded, SessionOwner, SessionPermit};
use super::table::{Inserted, SessionIdInUse, SessionTable};
use crate::headers::names;
use crate::peer_addr::peer_of;

/// Everything that a request of a legacy client needs.
#[derive(Clone, Copy)]
pub(in crate::server) struct SessionContext<'a> {
    pub(in crate::server) table: &'a Arc<SessionTable>,
    pub(in crate::server) config: &'a Arc<Config>,
    pub(in crate::server) service: &'a Arc<dyn Service>,
}

impl SessionContext<'_> {
    /// Reserves a session for a principal, or for an anonymous client. When a limit is reached, another
    /// session makes room for it, see [`SessionTable::evict`].
    ///
    /// # Errors
    ///
    /// Returns a rejection when a limit is reached and no session may be ended.
    pub(in crate::server) fn reserve(
        &self,
        principal: Option<&Principal>,
        head: &Parts,
    ) -> Result<SessionPermit, Rejection> {
        const RETRY_AFTER_SECONDS: u64 = 5;

        let owner = SessionOwner::new(principal, peer_of(head));
        self.try_reserve(owner.as_ref()).map_err(|exceeded| {
            let status = StatusCode::SERVICE_UNAVAILABLE;
            Rejection::session(status, codes::BAD_REQUEST, exceeded.to_string())
                .with_header(names::RETRY_AFTER, RETRY_AFTER_SECONDS)
        })
    }

    fn try_reserve(&self, owner: Option<&SessionOwner>) -> Result<SessionPermit, QuotaExceeded> {
        // A concurrent request may take the place of the session that was ended.
        const MAX_EVICTIONS: usize = 4;

        let reserve = || self.table.quota.reserve(&self.config.sessions, owner);
        let mut reserved = reserve();
        for _ in 0..MAX_EVICTIONS {
            let has_room = match reserved {
                Err(QuotaExceeded::Total) => self.table.evict(None),
                Err(QuotaExceeded::Address(block)) => self.table.evict(Some(block)),
                Err(QuotaExceeded::Principal) | Ok(_) => false,
            };
            if !has_room {
                break;
            }
            reserved = reserve();
        }
        reserved
    }

    /// Creates a session with this request's service. `reader` is its reader's slot, when
    /// that is connected already.
    pub(in crate::server) fn new_session(
        &self,
        id: Arc<str>,
        key: Arc<str>,
        protocol: Session,
        permit: SessionPermit,
        reader: Option<Arc<ReaderSlot>>,
    ) -> Arc<HttpSession> {
        let (service, config) = (Arc::clone(self.service), Arc::clone(self.config));
        let permit = Arc::new(permit);
        Arc::new(HttpSession::new(
            id, key, protocol, service, config, permit, reader,
        ))
    }

    /// Adds a session to the table. From now on it expires.
    ///
    /// # Errors
    ///
    /// Returns [`SessionIdInUse`] when another session has the same id.
    pub(in crate::server) fn insert(
        &self,
        session: &Arc<HttpSession>,
    ) -> Result<(), SessionIdInUse> {
        match self.table.insert(session)? {
            Inserted::StartExpiryTask => expiry::start(self.table, &self.config.sessions),
            Inserted::WithExpiryTask => {}
        }
        Ok(())
    }
}
