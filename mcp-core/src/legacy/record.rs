//! What of a session can be written down, so that another process can continue it.

use mcp_types::{ClientCapabilities, LoggingLevel, ProtocolVersion, RawObject};
use serde::{Deserialize, Serialize};

use crate::{ClientFacts, Principal};

/// What of a session can be written down. Running calls and open questions cannot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// The revision that it speaks.
    pub version: ProtocolVersion,
    /// What the client declared.
    pub capabilities: ClientCapabilities,
    /// Who the client says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_info: Option<RawObject>,
    /// The least level of log messages that the client wants.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LoggingLevel>,
    /// The resources whose changes the client wants to hear of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<String>,
    /// Issuer and subject of whoever opened it.
    // spec: SESS-11
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<(String, String)>,
    /// The client has said that the handshake is done.
    #[serde(default)]
    pub ready: bool,
}

impl SessionRecord {
    /// Whoever opened it.
    pub fn principal(&self) -> Option<Principal> {
        let (issuer, subject) = self.owner.as_ref()?;
        Some(Principal::new(issuer, subject))
    }

    pub(super) fn facts(&self) -> ClientFacts {
        ClientFacts::new(self.version)
            .capabilities(self.capabilities.clone())
            .log_level(self.log_level)
            .info(self.client_info.clone())
    }
}

/// Whose a session is: scopes may change from request to request, the person may not.
pub(super) fn owner(principal: &Principal) -> (String, String) {
    (principal.issuer.clone(), principal.subject.clone())
}
