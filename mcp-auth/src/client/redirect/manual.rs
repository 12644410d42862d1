//! [`ManualRedirect`]: a function of the program shows the page and returns the response.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use mcp_core::BoxFuture;

use super::{LoginPage, Redirect, RedirectSession};
use crate::error::AuthError;

type Show = dyn Fn(String) -> BoxFuture<'static, Result<String, AuthError>> + Send + Sync;

/// A redirect that the program receives itself: by a custom URI scheme, by a web server of its own,
/// or by a user who copies the URL from a browser's address bar on another machine.
///
/// # Examples
///
/// ```
/// use mcp::auth::{AuthError, ManualRedirect, OAuth};
///
/// let paste = ManualRedirect::new("http://127.0.0.1:8765/callback", |url: String| async move {
///     println!("Open {url}\nand paste the address of the page that does not load:");
///     let mut line = String::new();
///     std::io::stdin().read_line(&mut line).map_err(|error| AuthError::Redirect(error.to_string()))?;
///     Ok::<_, AuthError>(line)
/// });
/// let oauth = OAuth::interactive("My Agent").redirect(paste);
/// ```
#[derive(Clone)]
pub struct ManualRedirect {
    redirect_uri: String,
    show: Arc<Show>,
}

impl ManualRedirect {
    /// Creates a redirect from its URI and a function, which receives the URL of the login page and
    /// returns the URL that the browser was sent to.
    pub fn new<F, R>(redirect_uri: impl Into<String>, show: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<String, AuthError>> + Send + 'static,
    {
        Self {
            redirect_uri: redirect_uri.into(),
            show: Arc::new(move |url| Box::pin(show(url))),
        }
    }
}

#[async_trait]
impl Redirect for ManualRedirect {
    async fn prepare(&self, _: Option<&str>) -> Result<Box<dyn RedirectSession>, AuthError> {
        Ok(Box::new(self.clone()))
    }

    fn with_uri(&self, uri: &str) -> Result<Arc<dyn Redirect>, AuthError> {
        Ok(Arc::new(Self {
            redirect_uri: uri.to_owned(),
            show: Arc::clone(&self.show),
        }))
    }
}

#[async_trait]
impl RedirectSession for ManualRedirect {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    async fn run(self: Box<Self>, login: LoginPage<'_>) -> Result<String, AuthError> {
        (self.show)(login.url.to_owned()).await
    }
}

impl fmt::Debug for ManualRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualRedirect")
            .field("redirect_uri", &self.redirect_uri)
            .finish_non_exhaustive()
    }
}
