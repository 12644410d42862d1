//! The way into a session: which one a request names, and whether it may enter.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use mcp_core::{Principal, Service};
use mcp_types::{Message, Method, ProtocolVersion, Request, codes};

use super::super::config::Config;
use super::super::refused::Refused;
use super::super::sessions::Mode;
use super::live::{Live, Served};
use super::table::Table;
use crate::headers::{self, Mirrored, names};

/// What serves the legacy era at an endpoint, for one request.
pub(in crate::server) struct Door {
    pub(in crate::server) table: Arc<Table>,
    pub(in crate::server) config: Arc<Config>,
    pub(in crate::server) service: Arc<dyn Service>,
}

/// Where a message goes.
pub(in crate::server) enum Way<'m> {
    /// To a session that is here.
    Into(Arc<Live>),
    Through(Entry<'m>),
}

/// What a message needs a door for.
pub(in crate::server) enum Entry<'m> {
    /// There are no sessions: it stands for itself.
    Alone,
    /// It opens a session.
    Opens(&'m Request<'m>),
    /// It goes to a session that others share: a store is to be asked.
    Shared,
}

impl<'m> Way<'m> {
    // spec: SESS-06, SESS-07, SESS-10, SESS-11
    pub(in crate::server) fn of(
        message: &'m Message<'m>,
        parts: &Parts,
        mirrored: Mirrored<'_>,
        table: &Table,
        config: &Config,
    ) -> Result<Self, Refused> {
        let sessions = &config.sessions;
        if sessions.mode != Mode::InMemory {
            return Ok(Self::Through(Entry::Alone));
        }
        if let Message::Request(request) = message
            && request.method == Method::Initialize.as_str()
            && mirrored.session.first.is_none()
        {
            return Ok(Self::Through(Entry::Opens(request)));
        }
        if sessions.store.is_some() {
            return Ok(Self::Through(Entry::Shared));
        }
        let live = table.find(named_session(mirrored)?);
        admit(live, parts, mirrored).map(Self::Into)
    }
}

impl Door {
    /// What serves the sessions that are opened here.
    pub(super) fn served(&self) -> Served {
        Served {
            service: Arc::clone(&self.service),
            config: Arc::clone(&self.config),
        }
    }
}

/// The session, if the request may enter it.
pub(super) fn admit(
    live: Option<Arc<Live>>,
    parts: &Parts,
    mirrored: Mirrored<'_>,
) -> Result<Arc<Live>, Refused> {
    let live = live.ok_or_else(no_such_session)?;
    // A stranger does not learn that the session exists.
    if !live.machine.belongs_to(parts.extensions.get::<Principal>()) {
        return Err(no_such_session());
    }
    if !mirrored.names(live.machine.wire().version()) {
        check_version(parts, &*live.service)?;
    }
    Ok(live)
}

/// The id of the session that a request names.
// spec: SESS-06
pub(super) fn named_session(mirrored: Mirrored<'_>) -> Result<&str, Refused> {
    match mirrored.session.only() {
        Ok(Some(id)) => id.to_str().map_err(|_| no_such_session()),
        Ok(None) => Err(Refused::bad_request(
            "the request names no session: open one with `initialize`, and send the \
             Mcp-Session-Id header of its answer with every other request",
        )),
        Err(_) => Err(Refused::bad_request("the request names several sessions")),
    }
}

pub(super) fn no_such_session() -> Refused {
    let message = "session not found; open another one with `initialize`";
    Refused::new(StatusCode::NOT_FOUND, codes::SESSION_NOT_FOUND, message)
}

/// The revision that the header of a request names, when it names one that is offered.
// spec: HTTP-SL-13, GAP-16
pub(super) fn check_version(
    parts: &Parts,
    service: &dyn Service,
) -> Result<Option<ProtocolVersion>, Refused> {
    if !parts.headers.contains_key(names::MCP_PROTOCOL_VERSION) {
        return Ok(None);
    }
    let profile = service.profile();
    let offered = profile
        .versions
        .iter()
        .filter(|version| !version.is_modern());
    let named = headers::version(&parts.headers).unwrap_or_default();
    if let Some(version) = offered.clone().find(|version| version.as_str() == named) {
        return Ok(Some(*version));
    }
    let offered: Vec<_> = offered.copied().collect();
    Err(Refused::bad_request(format!(
        "MCP-Protocol-Version {named:?} is not supported in a session; supported: {}",
        ProtocolVersion::listed(&offered)
    )))
}
