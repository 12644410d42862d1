//! Logins, and where their tokens are stored.

use std::future::ready;

use async_trait::async_trait;
use mcp::auth::{
    AuthError, Authorizer, FileStore, KeychainStore, LoginPrompt, LoopbackRedirect, OAuth,
    Redirect, RedirectSession,
};
use mcp::group::EntryOAuth;

use crate::cli::LoginArgs;
use crate::config;
use crate::failure::{Failure, usage};
use crate::output::Output;
use crate::questions;

/// The environment variable that chooses the store: `file` or `keychain`.
const STORE: &str = "MCP_CREDENTIALS";
/// The name of this program in keychains.
const SERVICE: &str = "mcp";

/// Creates the authorizer of commands that must not open a login page: they use a stored token.
/// `None` for servers that get no token: over plain HTTP on another machine.
pub(crate) fn stored(url: &str) -> Result<Option<Authorizer>, Failure> {
    authorizer(OAuth::interactive(SERVICE).redirect(NoLogin), url)
}

/// Creates the authorizer of commands whose user can log in. The command line or the server's entry has the client id.
/// `is_open`: the server accepts calls without a token, so that only its metadata can name an authorization server.
pub(crate) fn interactive(
    url: &str,
    registration: Option<EntryOAuth>,
    args: &LoginArgs,
    is_open: bool,
    output: &Output,
) -> Result<Option<Authorizer>, Failure> {
    let mut redirect = LoopbackRedirect::new();
    if let Some(port) = args.port {
        redirect = redirect.port(port);
    }
    let (output, opens_browser) = (*output, !args.no_browser);
    redirect = redirect.open_with(move |page| show(page, opens_browser, output));
    let mut oauth = OAuth::interactive(SERVICE)
        .redirect(redirect)
        .legacy_endpoints(!is_open)
        .confirm_login(move |login| confirm(login, output));
    let registration = registration.unwrap_or_default();
    let scopes = if args.scope.is_empty() {
        &registration.scopes
    } else {
        &args.scope
    };
    oauth = oauth.scopes(scopes);
    let secret = registration.client_secret;
    let secret = secret.filter(|_| args.client_id.is_none());
    let id = args.client_id.clone().or(registration.client_id);
    oauth = match (id, secret) {
        (Some(id), Some(secret)) => oauth.client_secret(id, secret),
        (Some(id), None) => oauth.client_id(id),
        (None, _) => oauth,
    };
    authorizer(oauth, url)
}

/// Names the parties of a login before its page opens. Asks the user if they have several owners, as far
/// as their domains tell.
async fn confirm(login: LoginPrompt, output: Output) -> bool {
    let LoginPrompt {
        server,
        issuer,
        login_host,
        token_endpoint,
        ..
    } = &login;
    output.note(&format!(
        "logging in to {server}\n  authorization server: {issuer}\n  login page at: {login_host}"
    ));
    let reason = if login.is_other_endpoint {
        format!(
            "{issuer} is not the owner of the login page at {login_host} or of the token endpoint \
             {token_endpoint}. A hostile authorization server could receive your login at {login_host}."
        )
    } else if login.is_other_issuer && questions::can_ask() {
        format!("The authorization server {issuer} has another domain than {server}.")
    } else {
        return true;
    };
    if !questions::can_ask() {
        output.question(&format!(
            "{reason} Run `mcp login` in a terminal to confirm it.\n"
        ));
        return false;
    }
    questions::agrees(&output, &format!("{reason} Log in?")).await
}

/// Prints the address of the login page, and opens the browser.
async fn show(page: String, opens_browser: bool, output: Output) -> Result<(), AuthError> {
    output.question(&format!("Log in at {page}\n"));
    if opens_browser && !questions::open_browser(page).await {
        output.note("no browser could be started; open the address yourself");
    }
    Ok(())
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
            return Err(usage!(
                "{STORE} is {other:?}; set it to `file` or `keychain`"
            ));
        }
    };
    match oauth.authorizer(url) {
        Ok(authorizer) => Ok(Some(authorizer)),
        Err(AuthError::Egress { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Refuses every login.
#[derive(Debug)]
struct NoLogin;

#[async_trait]
impl Redirect for NoLogin {
    async fn prepare(&self, _: Option<&str>) -> Result<Box<dyn RedirectSession>, AuthError> {
        let reason = "this command opens no login page";
        Err(AuthError::Redirect(reason.to_owned()))
    }
}
