//! [`AuthError`], and foreign text in its messages.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_core::ChannelError;
use mcp_types::{escape_line, shorten};
use url::Url;

use crate::challenge::Challenge;
use crate::secret::Secret;

/// An authorization error. Messages contain no tokens, codes or secrets. Text from servers is cut after 200
/// characters, and escaped. Scopes are not cut; they consist of visible ASCII characters.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum AuthError {
    /// A setting is invalid.
    #[error("the authorization settings are invalid: {0}")]
    Settings(String),
    /// A URL is not fetched because of its scheme, host or address.
    #[error("the URL {url} is not allowed here: {reason}")]
    Egress {
        /// The URL without its query.
        url: String,
        /// The rule that refuses it.
        reason: String,
    },
    /// A server that authorization needs cannot be reached, or fails temporarily. Stored tokens are kept.
    #[error("the authorization request to {url} failed: {reason}")]
    Unavailable {
        /// The URL without its query.
        url: String,
        /// The failure.
        reason: String,
        /// The HTTP client's error, if no response came. The error of a
        /// [client that the program sets](crate::OAuth::http_client) is its source.
        source: Option<Arc<ChannelError>>,
    },
    /// A response is larger than the limit.
    #[error("the authorization response of {url} is longer than {limit} bytes")]
    TooLarge {
        /// The URL without its query.
        url: String,
        /// The limit in bytes.
        limit: usize,
    },
    /// A response is not what the specification requires.
    #[error("the authorization response of {url} is invalid: {reason}")]
    Malformed {
        /// The URL without its query.
        url: String,
        /// The mistake.
        reason: String,
    },
    /// A step took longer than its limit.
    #[error("authorization took too long: {step} did not end within {seconds} s")]
    Timeout {
        /// The step.
        step: &'static str,
        /// The limit in seconds.
        seconds: u64,
    },
    /// The server requires authorization and names no authorization server.
    #[error("the server {server} requires authorization, but publishes no authorization metadata")]
    NoMetadata {
        /// The server.
        server: String,
    },
    /// The metadata belongs to another server. A login could send a token to the wrong server.
    #[error("the authorization metadata of {server} is for another resource: {resource}")]
    ResourceMismatch {
        /// The server.
        server: String,
        /// The resource in the metadata.
        resource: String,
    },
    /// The metadata of an authorization server names another issuer than expected.
    #[error("the authorization server {expected} names itself {found}; its metadata is not used")]
    MetadataIssuer {
        /// The expected issuer.
        expected: String,
        /// The issuer in the document.
        found: String,
    },
    /// The callback of a login comes from another authorization server, or does not name its own.
    #[error("the login response does not come from the authorization server {expected}")]
    CallbackIssuer {
        /// The expected issuer.
        expected: String,
    },
    /// The authorization server does not announce PKCE with S256.
    #[error("the authorization server {issuer} does not announce PKCE with S256")]
    PkceUnsupported {
        /// The issuer.
        issuer: String,
    },
    /// No client id is known for the authorization server, and it registers none.
    #[error("no client id for the authorization server {issuer}, which offers no registration")]
    NoClient {
        /// The issuer.
        issuer: String,
    },
    /// The MCP server names another authorization server than the one that this client belongs to. Nothing
    /// was sent to the other one.
    #[error("this client is for the authorization server {expected}, the server names {issuer}")]
    ClientIssuer {
        /// The issuer in the settings, or the first one that accepted the client id.
        expected: String,
        /// The issuer that the server names.
        issuer: String,
    },
    /// The authorization server names an endpoint at another site than its own. A hostile server could show
    /// another server's login page, and receive the login's code itself.
    #[error(
        "the authorization server {issuer} names a {endpoint} at another site: {url}; if you trust this \
         authorization server, set .issuer({issuer:?}), or ask the user with .confirm_login(…)"
    )]
    ForeignEndpoint {
        /// The issuer.
        issuer: String,
        /// The kind of the endpoint, such as `token endpoint`.
        endpoint: &'static str,
        /// The URL without its query.
        url: String,
    },
    /// The program did not confirm the login.
    #[error("the login to {server} at {issuer} was not confirmed")]
    NotConfirmed {
        /// The MCP server.
        server: String,
        /// The authorization server.
        issuer: String,
    },
    /// The authorization server refused to register this client.
    #[error("the authorization server refused the registration of this client: {0}")]
    RegistrationRejected(OAuthCode),
    /// The user or the authorization server refused the login.
    #[error("the login was refused: {0}")]
    Denied(OAuthCode),
    /// The login response is incomplete, repeated, or belongs to another login.
    #[error("the login response is invalid: {0}")]
    Callback(String),
    /// The token endpoint refused a request.
    #[error("the authorization server refused the token request: {0}")]
    TokenRejected(OAuthCode),
    /// The server demands scopes that this client has already asked for.
    #[error("the server demands the scopes {required:?}, the token has {granted:?}")]
    InsufficientScope {
        /// The demanded scopes.
        required: String,
        /// The granted scopes.
        granted: String,
    },
    /// The server demands a scope that the settings do not allow. Nothing was requested.
    #[error(
        "the scope {scopes:?} is not among those of this client, {allowed:?}; if it may have it, add it \
         with .scopes(…) or .max_scopes(…)"
    )]
    ScopeNotAllowed {
        /// The scopes that are not allowed.
        scopes: String,
        /// The allowed scopes.
        allowed: String,
    },
    /// The server demanded further scopes too often.
    #[error("the server demanded further scopes {limit} times; no further login is started")]
    StepUpLimit {
        /// The limit.
        limit: u32,
    },
    /// The server refused a request's token with 401, and the client cannot get a better one: the token was just
    /// issued, or the [program manages it](crate::OAuth::token). Such a program can compare it with its stored
    /// token, which may be newer.
    #[error("the server refuses the token{}", refusal(challenge.as_ref()))]
    TokenRefused {
        /// The refused token.
        token: Secret,
        /// The server's challenge.
        challenge: Option<Challenge>,
    },
    /// The login page cannot be shown, or the redirect cannot be received.
    #[error("the login cannot be started: {0}")]
    Redirect(String),
    /// A function of the program did not return a token or an assertion.
    #[error("the program's token source failed: {0}")]
    Source(String),
    /// The store of credentials failed.
    #[error("the store of credentials failed: {0}")]
    Store(String),
    /// The operating system's keychain is missing, or refuses this program.
    #[error(
        "the keychain of this machine cannot be used: {0}; start it, or use another store, such as \
         FileStore"
    )]
    Keychain(String),
    /// A key cannot be read or does not sign.
    #[error("the signing key cannot be used: {0}")]
    Key(String),
    /// The authorization server issued a token without the required proof of possession.
    #[error("the authorization server {issuer} issued no token with proof of possession (DPoP)")]
    NoDpop {
        /// The issuer.
        issuer: String,
    },
    /// The login task ended before the login did.
    #[error("the login was interrupted; try again")]
    Interrupted,
}

impl AuthError {
    /// Returns whether a later attempt may succeed without a change by the user.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. } | Self::Timeout { .. } | Self::Interrupted
        )
    }

    pub(crate) fn settings(message: impl Into<String>) -> Self {
        Self::Settings(message.into())
    }

    pub(crate) fn timeout(step: &'static str, limit: Duration) -> Self {
        Self::Timeout {
            step,
            seconds: limit.as_secs(),
        }
    }

    pub(crate) fn malformed(url: &Url, reason: impl Into<String>) -> Self {
        Self::Malformed {
            url: shown(url),
            reason: reason.into(),
        }
    }

    pub(crate) fn unavailable(url: &Url, reason: impl Into<String>) -> Self {
        Self::Unavailable {
            url: shown(url),
            reason: reason.into(),
            source: None,
        }
    }

    /// Converts an error of the HTTP client. Its causes are part of the message.
    pub(crate) fn unreachable(url: &Url, error: ChannelError) -> Self {
        let mut reason = printable(&error.to_string());
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            reason.push_str(": ");
            reason.push_str(&printable(&cause.to_string()));
            source = cause.source();
        }
        Self::Unavailable {
            url: shown(url),
            reason,
            source: Some(Arc::new(error)),
        }
    }
}

/// Returns the error code of the challenge in brackets, or nothing.
fn refusal(challenge: Option<&Challenge>) -> String {
    let code = challenge.and_then(|challenge| challenge.error.as_deref());
    code.map_or_else(String::new, |code| format!(" ({})", printable(code)))
}

/// An OAuth error code and its description from the authorization server, both escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OAuthCode {
    /// The code, such as `invalid_grant`.
    pub code: String,
    /// The description, or an empty string. Tell users that the authorization server wrote it.
    pub description: String,
}

impl OAuthCode {
    pub(crate) fn new(code: &str, description: Option<&str>) -> Self {
        Self {
            code: printable(code),
            description: description.map(printable).unwrap_or_default(),
        }
    }
}

#[cfg_attr(
    not(feature = "client"),
    expect(unused, reason = "rules of the client")
)]
impl OAuthCode {
    /// Returns whether the code ends the refresh token or the registration.
    pub(crate) fn ends_credentials(&self) -> bool {
        ["invalid_grant", "bad_refresh_token", "invalid_client"].contains(&&*self.code)
    }

    /// Returns whether the same request may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        ["temporarily_unavailable", "server_error"].contains(&&*self.code)
    }

    /// Returns whether the authorization server may not know the client.
    pub(crate) fn is_unknown_client(&self) -> bool {
        matches!(self.code.as_str(), "invalid_client" | "unauthorized_client")
    }
}

impl fmt::Display for OAuthCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        match self.description.as_str() {
            "" => Ok(()),
            description => write!(f, " ({description})"),
        }
    }
}

/// Largest number of characters that a message quotes from foreign text.
const SHOWN: usize = 200;

/// Returns the first 200 characters of foreign text on one line, escaped by [`escape_line`].
pub(crate) fn printable(text: &str) -> String {
    escape_line(&shorten(text, SHOWN)).into_owned()
}

/// Returns the text of a [bare] URL.
pub(crate) fn shown(url: &Url) -> String {
    printable(bare(url).as_str())
}

/// Returns a URL without credentials, query and fragment.
pub(crate) fn bare(url: &Url) -> Url {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use mcp_core::ChannelError;

    use super::{AuthError, OAuthCode, printable, shown};

    #[test]
    fn foreign_text_is_one_short_line() {
        assert_eq!(
            printable("a\r\nb\u{1b}[31m\u{202e}"),
            "a\\r\\nb\\u{1b}[31m\\u{202e}"
        );
        assert_eq!(printable(&"ä".repeat(500)).chars().count(), 201);
        let code = OAuthCode::new("access_denied", Some("no\nway"));
        assert_eq!(code.to_string(), "access_denied (no\\nway)");
    }

    #[test]
    fn text_from_an_http_client_is_one_short_line() {
        let text = format!("bad\n{}", "x".repeat(500));
        let url = "https://h/".parse().unwrap();
        let message = AuthError::unreachable(&url, ChannelError::Malformed(text)).to_string();
        assert!(message.contains("bad\\nx"), "{message}");
        assert!(message.chars().count() < 300, "{message}");
    }

    #[test]
    fn shown_url_has_no_secrets() {
        let url = "https://u:hidden@h/a?code=hidden#hidden".parse().unwrap();
        assert_eq!(shown(&url), "https://h/a");
    }
}
