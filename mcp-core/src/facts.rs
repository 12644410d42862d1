//! What is known about the two sides.

use std::fmt;

use mcp_types::json;
use mcp_types::meta::keys;
use mcp_types::{
    CacheHint, ClientCapabilities, DiscoverResult, Implementation, LoggingLevel, ProtocolVersion,
    RawObject, ServerCapabilities,
};

/// What a server knows about the client of a call. Modern requests bring it along, a legacy
/// session supplies it as state.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientFacts {
    /// The revision that the call speaks.
    pub version: ProtocolVersion,
    /// What the client declared.
    pub capabilities: ClientCapabilities,
    /// The least level of log messages that it wants; none when `None`.
    pub log_level: Option<LoggingLevel>,
    info: Option<RawObject>,
}

impl ClientFacts {
    /// A client that declares nothing but its revision.
    pub fn new(version: ProtocolVersion) -> Self {
        Self {
            version,
            capabilities: ClientCapabilities::default(),
            log_level: None,
            info: None,
        }
    }

    /// Sets what the client declared.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the least level of log messages that it wants.
    #[must_use]
    pub fn log_level(mut self, level: Option<LoggingLevel>) -> Self {
        self.log_level = level;
        self
    }

    /// Sets the text of its identity.
    #[must_use]
    pub fn info(mut self, info: Option<RawObject>) -> Self {
        self.info = info;
        self
    }

    /// The text of its identity.
    pub(crate) fn info_json(&self) -> Option<&RawObject> {
        self.info.as_ref()
    }

    /// Name and version that the client claims; read when asked for. No proof of anything.
    // spec: VER-08
    pub fn client_info(&self) -> Option<Implementation> {
        json::from_str(self.info.as_ref()?.as_str()).ok()
    }
}

/// Who a client is: what it sends with its calls.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientProfile {
    /// Name and version.
    pub info: Implementation,
    /// What it declares.
    pub capabilities: ClientCapabilities,
}

impl ClientProfile {
    /// A name and a version, and no capabilities.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            capabilities: ClientCapabilities::default(),
        }
    }

    /// Sets what it declares.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }
}

/// Who a server is and what it offers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerProfile {
    /// What it offers.
    pub capabilities: ServerCapabilities,
    /// How to use it, for a language model.
    pub instructions: Option<String>,
    /// The revisions that it speaks, newest first.
    pub versions: Vec<ProtocolVersion>,
    /// How long the answer to `server/discover` stays fresh.
    pub cache: CacheHint,
    info: Implementation,
    /// As a member of `_meta`.
    info_member: Box<str>,
}

impl ServerProfile {
    /// A name and a version, and no capabilities.
    pub fn new(info: Implementation) -> Self {
        let info_json = serde_json::to_string(&info).unwrap_or_else(|_| "{}".to_owned());
        let info_member = format!("\"{}\":{info_json}", keys::SERVER_INFO).into();
        Self {
            capabilities: ServerCapabilities::default(),
            instructions: None,
            versions: vec![ProtocolVersion::LATEST],
            cache: CacheHint::default(),
            info,
            info_member,
        }
    }

    /// Sets what it offers.
    #[must_use]
    pub fn capabilities(mut self, capabilities: ServerCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Says how to use it.
    #[must_use]
    pub fn instructions(mut self, instructions: Option<String>) -> Self {
        self.instructions = instructions;
        self
    }

    /// Sets the revisions that it speaks; they are kept newest first.
    #[must_use]
    pub fn versions(mut self, versions: impl IntoIterator<Item = ProtocolVersion>) -> Self {
        self.versions = versions.into_iter().collect();
        self.versions.sort_unstable_by(|a, b| b.cmp(a));
        self
    }

    /// Sets how long the answer to `server/discover` stays fresh.
    #[must_use]
    pub fn cache(mut self, cache: CacheHint) -> Self {
        self.cache = cache;
        self
    }

    /// Name and version.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// Name and version as the member of `_meta` that results have: key and value, as JSON text.
    // spec: META-12
    pub(crate) fn info_member(&self) -> &str {
        &self.info_member
    }

    /// It speaks a revision with sessions.
    pub fn has_legacy_versions(&self) -> bool {
        self.versions.iter().any(|version| !version.is_modern())
    }

    /// The result of `server/discover`.
    // spec: VER-05, VER-06
    pub fn discover(&self) -> DiscoverResult {
        DiscoverResult::new(&self.versions, self.capabilities.clone())
            .instructions(self.instructions.clone())
    }
}

/// Who is behind a call, as a layer has verified it. Put it into the request's extensions.
///
/// Sessions, request states and streams are bound to it, so it must name the same person or
/// program the same way every time: never derive it from the bytes of a token.
#[derive(Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Principal {
    /// Who vouches for the subject.
    pub issuer: String,
    /// Who it is, for that issuer.
    pub subject: String,
    /// What it may do.
    pub scopes: Vec<String>,
}

impl Principal {
    /// A subject of an issuer.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            scopes: Vec::new(),
        }
    }

    /// Sets what it may do.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }
}

/// Leaves out the scopes: they tell an attacker what to go for.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({} at {})", self.subject, self.issuer)
    }
}
