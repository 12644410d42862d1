//! The identity behind a call.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

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

/// Omits the scopes, which would show an attacker the worthwhile targets.
impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Principal({} at {})", self.subject, self.issuer)
    }
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
