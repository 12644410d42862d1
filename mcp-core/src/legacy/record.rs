//! What of a session can be written down, so that another process can continue it.

use mcp_types::json::members;
use mcp_types::{ClientCapabilities, LoggingLevel, ProtocolVersion, RawObject};

use crate::{ClientFacts, Principal};

/// What of a session can be written down. Running calls and open questions cannot.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionRecord {
    /// The revision that it speaks.
    pub version: ProtocolVersion,
    /// What the client declared.
    pub capabilities: ClientCapabilities,
    /// Who the client says it is.
    pub client_info: Option<RawObject>,
    /// The least level of log messages that the client wants.
    pub log_level: Option<LoggingLevel>,
    /// The resources whose changes the client wants to hear of.
    pub subscriptions: Vec<String>,
    /// Issuer and subject of whoever opened it.
    // spec: SESS-11
    pub owner: Option<(String, String)>,
    /// The client has said that the handshake is done.
    pub ready: bool,
}

members!(SessionRecord as "a session" {
    "version" => version,
    "capabilities" => capabilities,
    "clientInfo" => client_info or nothing,
    "logLevel" => log_level or nothing,
    "subscriptions" => subscriptions or nothing,
    "owner" => owner or nothing,
    "ready" => ready or default,
});

impl SessionRecord {
    /// Whoever opened it.
    #[inline]
    pub fn principal(&self) -> Option<Principal> {
        let (issuer, subject) = self.owner.as_ref()?;
        Some(Principal::new(issuer, subject))
    }

    #[inline]
    pub(super) fn facts(&self) -> ClientFacts {
        ClientFacts::new(self.version)
            .capabilities(self.capabilities.clone())
            .log_level(self.log_level)
            .info(self.client_info.clone())
    }
}

/// Whose a session is: scopes may change from request to request, the person may not.
#[inline]
pub(super) fn owner(principal: &Principal) -> (String, String) {
    (principal.issuer.clone(), principal.subject.clone())
}
