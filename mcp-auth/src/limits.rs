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
/// let limits = Limits::default().login(Duration::from_secs(120));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub(crate) exchange: Duration,
    pub(crate) discovery: Duration,
    pub(crate) login: Duration,
    pub(crate) lock: Duration,
    pub(crate) body: usize,
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

impl Limits {
    /// Sets the timeout of one HTTP request with its response. Default: 15 seconds.
    #[must_use]
    pub fn exchange(mut self, timeout: Duration) -> Self {
        self.exchange = timeout;
        self
    }

    /// Sets the timeout of finding all metadata. Default: 30 seconds.
    #[must_use]
    pub fn discovery(mut self, timeout: Duration) -> Self {
        self.discovery = timeout;
        self
    }

    /// Sets the time that a user has to log in. Default: 5 minutes.
    #[must_use]
    pub fn login(mut self, timeout: Duration) -> Self {
        self.login = timeout;
        self
    }

    /// Sets the time to wait for another process that refreshes the same token. Default: 30 seconds.
    #[must_use]
    pub fn lock(mut self, timeout: Duration) -> Self {
        self.lock = timeout;
        self
    }

    /// Sets the largest size of a response in bytes. Default: 256 KiB.
    #[must_use]
    pub fn body(mut self, bytes: usize) -> Self {
        self.body = bytes;
        self
    }
}

/// Number of authorization servers of a resource that are considered.
pub(crate) const MAX_SERVERS: usize = 8;
/// Number of redirects of a metadata request.
pub(crate) const MAX_REDIRECTS: usize = 3;
/// Bytes of an access token, of a refresh token and of an assertion.
pub(crate) const MAX_TOKEN: usize = 16 << 10;
/// Nesting of JSON in responses.
pub(crate) const MAX_DEPTH: usize = 32;
/// Logins for further scopes of one request, and of one method in [`STEP_UP_WINDOW`].
pub(crate) const MAX_STEP_UPS: u32 = 2;
pub(crate) const MAX_STEP_UPS_PER_METHOD: u32 = 3;
pub(crate) const STEP_UP_WINDOW: Duration = Duration::from_secs(600);
