//! The two sides of a connection: their identity and capabilities.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use mcp_types::meta::keys;
use mcp_types::{
    CacheHint, ClientCapabilities, DiscoverResult, Implementation, LoggingLevel, ProtocolVersion,
    RawObject, ServerCapabilities,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::extension::{self, Extension, InvalidSettings};

/// The client of a call, as the server knows it. A modern request carries these facts, and a legacy
/// session stores them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClientContext {
    /// The call's revision.
    pub version: ProtocolVersion,
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The least severe level of log messages that the client wants. `None`: no log messages.
    pub log_level: Option<LoggingLevel>,
    /// The client's identity, as JSON.
    pub info: Option<RawObject>,
}

impl ClientContext {
    /// The size of the identity and the capabilities together, as JSON, of a client that the server
    /// keeps longer than one call (a session, a subscription): 16 KiB.
    pub(crate) const MAX_BYTES: usize = 16 * 1024;
    /// The number of JSON values in the capabilities of such a client: 256. A parsed value takes much
    /// more memory than its JSON.
    pub(crate) const MAX_VALUES: usize = 256;

    /// A client without capabilities.
    pub fn new(version: ProtocolVersion) -> Self {
        Self {
            version,
            capabilities: ClientCapabilities::default(),
            log_level: None,
            info: None,
        }
    }

    /// Checks that a client may be kept longer than one call.
    pub(crate) fn check_size(&self) -> Result<(), ClientTooLarge> {
        check_client_size(self.info.as_ref(), &self.capabilities)
    }

    /// Returns the settings that the client declares for an extension, or `None` when it does not
    /// declare the extension.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidSettings`] when the settings do not have the type that the extension defines.
    pub fn extension<E: Extension>(&self) -> Result<Option<E::ClientSettings>, InvalidSettings> {
        extension::read_settings(&self.capabilities.extensions, E::ID)
    }

    /// Returns the name and version that the client claims. They prove nothing. Parses the JSON on each
    /// call.
    // spec: VER-08
    pub fn client_info(&self) -> Option<Implementation> {
        serde_json::from_str(self.info.as_ref()?.as_str()).ok()
    }
}

/// A client whose identity and capabilities are larger than `MAX_BYTES` or `MAX_VALUES` allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClientTooLarge {
    #[error(
        "client info and capabilities have {0} bytes of JSON; they can have {max} together",
        max = ClientContext::MAX_BYTES
    )]
    Bytes(usize),
    #[error(
        "the client capabilities have {0} JSON values; they can have {max}",
        max = ClientContext::MAX_VALUES
    )]
    Values(usize),
}

/// Checks the size of a client. See `ClientContext::MAX_BYTES`.
pub(crate) fn check_client_size(
    info: Option<&RawObject>,
    capabilities: &ClientCapabilities,
) -> Result<(), ClientTooLarge> {
    // Capabilities come from JSON, and can be written as JSON again.
    let json = serde_json::to_vec(capabilities).unwrap_or_default();
    let bytes = info.map_or(0, |info| info.as_str().len()) + json.len();
    if bytes > ClientContext::MAX_BYTES {
        return Err(ClientTooLarge::Bytes(bytes));
    }
    let values = serde_json::to_value(capabilities).map_or(0, |value| count_values(&value));
    if values > ClientContext::MAX_VALUES {
        return Err(ClientTooLarge::Values(values));
    }
    Ok(())
}

pub(crate) fn count_values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count_values).sum(),
        Value::Object(members) => members.values().map(count_values).sum(),
        _ => 0,
    }
}

/// The identity and the capabilities of a client, which it sends to servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientProfile {
    /// Name and version.
    pub info: Implementation,
    /// The capabilities that the client declares.
    pub capabilities: ClientCapabilities,
}

impl ClientProfile {
    /// A client without capabilities.
    pub fn new(info: Implementation) -> Self {
        Self {
            info,
            capabilities: ClientCapabilities::default(),
        }
    }
}

/// The identity and the capabilities of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerProfile {
    /// The server's capabilities.
    pub capabilities: ServerCapabilities,
    /// Instructions for the language model that uses the server.
    pub instructions: Option<String>,
    /// The revisions that the server offers, newest first.
    pub versions: Vec<ProtocolVersion>,
    /// The time for which clients may cache the result of `server/discover`.
    pub cache: CacheHint,
    info: Implementation,
    /// The identity as a member of `_meta`: key and value, as JSON.
    info_member: Box<str>,
}

impl ServerProfile {
    /// A server without capabilities, which offers the latest revision.
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

    /// Returns the name and version.
    pub fn info(&self) -> &Implementation {
        &self.info
    }

    /// Returns the member of `_meta` that every result has: key and value, as JSON.
    // spec: META-12
    pub(crate) fn info_member(&self) -> &str {
        &self.info_member
    }

    /// Returns the result of `server/discover`.
    // spec: VER-05, VER-06
    pub(crate) fn discover(&self) -> DiscoverResult {
        let mut result = DiscoverResult::default();
        result.supported_versions = self.versions.iter().map(ToString::to_string).collect();
        result.capabilities.clone_from(&self.capabilities);
        result.instructions.clone_from(&self.instructions);
        result
    }
}

/// The verified identity behind a call. A layer inserts it into the request's extensions.
///
/// Sessions, request states and streams are bound to it. It must therefore name the same person or
/// program in the same way every time: do not derive it from the bytes of a token.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Principal {
    /// The issuer that vouches for the subject.
    pub issuer: String,
    /// The person or program, as the issuer names it.
    pub subject: String,
    /// The OAuth client that acts for the subject, as the issuer names it. `None`: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// The scopes that the issuer has granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The end of the authorization, such as a token's `exp`. Streams of the caller end then.
    /// `None`: no end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<SystemTime>,
}

impl Principal {
    /// A principal without scopes and without an end of its authorization.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
            scopes: Vec::new(),
            expires_at: None,
        }
    }

    /// Sets the OAuth client that acts for the subject. Sessions, tasks and request states of one client
    /// are then unknown to another client of the same subject.
    #[must_use]
    pub fn client(mut self, client: impl Into<String>) -> Self {
        self.client = Some(client.into());
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn scopes(mut self, scopes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the end of the authorization. Over HTTP, event streams of the caller end at this time:
    /// GET streams, subscriptions, and calls that are answered with an event stream. The client opens
    /// them again with a new token.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use mcp::Principal;
    ///
    /// // The claim `exp` of a token: seconds since 1970.
    /// let exp = 1_900_000_000;
    /// let expires_at = UNIX_EPOCH + Duration::from_secs(exp);
    /// let caller = Principal::new("https://issuer.example", "ada").expires_at(expires_at);
    /// assert_eq!(caller.expires_at, Some(expires_at));
    /// ```
    #[must_use]
    pub fn expires_at(mut self, time: SystemTime) -> Self {
        self.expires_at = Some(time);
        self
    }
}

/// The scopes that a refused call needs. The HTTP transport inserts it into the extensions of its
/// response with the status 403, so that a layer with the authorization's settings can complete the
/// challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "names a list")]
pub struct RequiredScopes {
    /// All scopes of the call, also those that the caller has.
    pub scopes: Vec<String>,
}

/// The caller that a value belongs to: issuer, subject and OAuth client of a [`Principal`]. All callers without a
/// principal are one anonymous caller. The key of what a program keeps for its callers, such as sessions and
/// counters.
///
/// Scopes and the end of the authorization do not matter: they change with each token. Clones are cheap.
///
/// # Examples
///
/// ```
/// use mcp::Principal;
/// use mcp::core::CallerKey;
///
/// let ada = Principal::new("https://login.example.com", "ada");
/// let first = CallerKey::new(Some(&ada));
/// // The next token has other scopes.
/// assert_eq!(first, CallerKey::new(Some(&ada.clone().scopes(["files"]))));
/// assert_ne!(first, CallerKey::new(Some(&ada.client("app"))));
/// assert!(CallerKey::new(None).principal().is_none());
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallerKey(Option<Arc<Principal>>);

impl CallerKey {
    /// Creates the key for a request's caller. `None`: a request without a verified identity.
    pub fn new(principal: Option<&Principal>) -> Self {
        Self(principal.map(|principal| {
            let mut key = Principal::new(&*principal.issuer, &*principal.subject);
            key.client.clone_from(&principal.client);
            Arc::new(key)
        }))
    }

    /// Returns true if this is the key for a request's caller.
    // spec: SESS-11, TASK-22
    pub fn matches(&self, principal: Option<&Principal>) -> bool {
        match (self.principal(), principal) {
            (None, None) => true,
            (Some(own), Some(other)) => {
                own.issuer == other.issuer
                    && own.subject == other.subject
                    && own.client == other.client
            }
            _ => false,
        }
    }

    /// Returns the principal, without scopes and without an end. `None` for the anonymous caller.
    pub fn principal(&self) -> Option<&Principal> {
        self.0.as_deref()
    }
}

/// Omits the scopes, which would show an attacker the worthwhile targets.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({} at {})", self.subject, self.issuer)
    }
}
