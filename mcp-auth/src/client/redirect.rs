//! The login redirect: how the user sees the login page, and how its response comes back.

mod loopback;
mod manual;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::AuthError;

pub use loopback::LoopbackRedirect;
pub use manual::ManualRedirect;

/// A way to show a login page and to receive its response.
///
/// [`LoopbackRedirect`] opens the browser and listens on this machine; [`ManualRedirect`] leaves
/// both to a function of the program. Implement the trait for a custom URI scheme.
#[async_trait]
pub trait Redirect: Send + Sync + 'static {
    /// Prepares one login. `registered` is an earlier registration's redirect URI, which the
    /// session should use again.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Redirect`] when no response could be received.
    async fn prepare(
        &self,
        registered: Option<&str>,
    ) -> Result<Box<dyn RedirectSession>, AuthError>;

    /// Returns this redirect with another URI, for [`OAuth::redirect_uri`](crate::OAuth::redirect_uri).
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when responses to the URI cannot be received, as by default.
    fn with_uri(&self, uri: &str) -> Result<Arc<dyn Redirect>, AuthError> {
        Err(AuthError::settings(format!(
            "the redirect of this program cannot receive responses at {uri:?}"
        )))
    }
}

/// One prepared login.
#[async_trait]
pub trait RedirectSession: Send {
    /// The redirect URI for the authorization request.
    fn redirect_uri(&self) -> &str;

    /// Shows the login page and waits for the response: the URL to which the authorization server
    /// redirected, or its query. Stray requests are not a response.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Redirect`] when the page cannot be shown.
    async fn run(self: Box<Self>, login: LoginPage<'_>) -> Result<String, AuthError>;
}

/// The login page of an authorization server.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct LoginPage<'a> {
    /// The page's URL. It is `https:`, or `http:` on this machine.
    pub url: &'a str,
    pub(crate) state: &'a str,
}

impl LoginPage<'_> {
    /// Returns whether a query is this login's response.
    pub fn is_response(&self, query: &str) -> bool {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        let state = pairs.find(|(name, _)| name == "state");
        let expected = crate::secret::Secret::new(self.state);
        state.is_some_and(|(_, value)| expected.matches(&value))
    }
}

/// Omits the URL, whose query identifies the login.
impl fmt::Debug for LoginPage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginPage").finish_non_exhaustive()
    }
}
