//! Limits of the authorization client.

use std::time::Duration;

/// Times and sizes that bound every step of a login.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use mcp::auth::Limits;
///
/// let mut limits = Limits::default();
/// limits.login = Duration::from_secs(120);
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Limits {
    /// The timeout of one HTTP request with its response. Default: 15 seconds.
    pub exchange: Duration,
    /// The timeout of finding all metadata. Default: 30 seconds.
    pub discovery: Duration,
    /// The time that a user has to log in. Default: 5 minutes.
    pub login: Duration,
    /// The time to wait for another process that refreshes the same token. Default: 30 seconds.
    pub lock: Duration,
    /// The largest size of a response in bytes. Default: 256 KiB.
    pub body: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            exchange: Duration::from_secs(15),
            discovery: Duration::from_secs(30),
            login: Duration::from_secs(300),
            lock: Duration::from_secs(30),
            body: 256 << 10,
        }
    }
}

/// Number of a resource's authorization servers that are considered.
pub(crate) const MAX_SERVERS: usize = 8;
/// Redirects of a metadata request.
pub(crate) const MAX_REDIRECTS: usize = 3;
/// Bytes of an access token, refresh token or assertion.
pub(crate) const MAX_TOKEN: usize = 16 << 10;
/// Nesting of JSON in responses.
pub(crate) const MAX_DEPTH: usize = 32;
/// Logins for further scopes of one request, and of one method in [`STEP_UP_WINDOW`].
pub(crate) const MAX_STEP_UPS: u32 = 2;
pub(crate) const MAX_STEP_UPS_PER_METHOD: u32 = 3;
pub(crate) const STEP_UP_WINDOW: Duration = Duration::from_secs(600);
