//! Logins, and where their tokens are stored.

use std::future::ready;

use async_trait::async_trait;
use mcp::auth::{
    AuthError, Authorizer, FileStore, KeychainStore, LoopbackRedirect, OAuth, Redirect,
    RedirectSession,
};

use crate::cli::LoginArgs;
use crate::config;
use crate::failure::{Failure, FailureKind};
use crate::output::Output;

/// The environment variable that chooses the store: `file` or `keychain`.
const STORE: &str = "MCP_CREDENTIALS";
/// The name of this program in keychains.
const SERVICE: &str = "mcp";

/// Creates the authorizer of commands that must not open a login page: they use a stored token.
/// `None` for servers that get no token: over plain HTTP on another machine.
pub(crate) fn stored(url: &str) -> Result<Option<Authorizer>, Failure> {
    authorizer(OAuth::interactive(SERVICE).redirect(NoLogin), url)
}

/// Creates the authorizer of commands whose user can log in.
pub(crate) fn interactive(
    url: &str,
    args: &LoginArgs,
    output: &Output,
) -> Result<Option<Authorizer>, Failure> {
    let mut redirect = LoopbackRedirect::new();
    if let Some(port) = args.port {
        redirect = redirect.port(port);
    }
    if args.no_browser {
        let output = *output;
        redirect = redirect.open_with(move |page| {
            output.question(&format!("Log in at {page}\n"));
            ready(Ok(()))
        });
    }
    let mut oauth = OAuth::interactive(SERVICE).redirect(redirect);
    if !args.scope.is_empty() {
        oauth = oauth.scopes(&args.scope);
    }
    if let Some(id) = &args.client_id {
        oauth = oauth.client_id(id);
    }
    authorizer(oauth, url)
}

/// Creates the authorizer of a login whose page `show` shows.
pub(crate) fn with_page(
    url: &str,
    show: impl Fn(String) + Send + Sync + 'static,
) -> Result<Option<Authorizer>, Failure> {
    let redirect = LoopbackRedirect::new().open_with(move |page| {
        show(page);
        ready(Ok(()))
    });
    authorizer(OAuth::interactive(SERVICE).redirect(redirect), url)
}

fn authorizer(oauth: OAuth, url: &str) -> Result<Option<Authorizer>, Failure> {
    let Some(folder) = config::data_folder() else {
        let reason = "no folder for tokens is known; set HOME";
        return Err(Failure::usage(reason));
    };
    let folder = folder.join("mcp/credentials");
    let oauth = match std::env::var(STORE).as_deref() {
        Err(_) | Ok("file") => oauth.store(FileStore::new(folder)),
        Ok("keychain") => oauth.store(KeychainStore::new(SERVICE, folder)),
        Ok(other) => {
            let reason = format!("{STORE} is {other:?}; set it to `file` or `keychain`");
            return Err(Failure::usage(reason));
        }
    };
    match oauth.authorizer(url) {
        Ok(authorizer) => Ok(Some(authorizer)),
        Err(AuthError::Egress { .. }) => Ok(None),
        Err(error) => Err(failure(&error)),
    }
}

/// Converts an error of authorization.
pub(crate) fn failure(error: &AuthError) -> Failure {
    Failure::new(FailureKind::Login, error.to_string())
}

/// Refuses every login.
#[derive(Debug)]
struct NoLogin;

#[async_trait]
impl Redirect for NoLogin {
    async fn prepare(&self, _: Option<&str>) -> Result<Box<dyn RedirectSession>, AuthError> {
        let cure = "log in first with `mcp login`, or pass a token with --header";
        Err(AuthError::Redirect(cure.to_owned()))
    }
}
