//! Logins, and where their tokens are stored.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use mcp::auth::{
    AuthError, Authorizer, CredentialStore, FileStore, KeychainStore, LoginPrompt, LoginSupport,
    LoopbackRedirect, OAuth, Redirect, RedirectSession, Secret, StoreKey, StoreLock,
    StoredCredentials,
};
use mcp::group::EntryOAuth;

use crate::cli::LoginArgs;
use crate::config;
use crate::failure::{Failure, usage};
use crate::output::Output;
use crate::questions;
use crate::remote::Remote;

/// The environment variable that chooses the store: `file` or `keychain`.
const STORE: &str = "MCP_CREDENTIALS";
/// The name of this program in keychains.
const SERVICE: &str = "mcp";

/// Creates the authorizer of commands that must not open a login page: they use a stored token.
/// `None` for servers that get no token: over plain HTTP on another machine.
pub(crate) fn stored(remote: &Remote) -> Result<Option<Authorizer>, Failure> {
    // Without a page there is nothing to confirm.
    let oauth = OAuth::interactive(SERVICE)
        .redirect(NoLogin(remote.login_command()))
        .confirm_login(|_| ready(true));
    authorizer(
        oauth,
        &remote.registration,
        None,
        &remote.url,
        LoginPage::default(),
    )
}

/// Returns true if the server demands a token and names no authorization server.
pub(crate) async fn takes_fixed_tokens(remote: &Remote) -> bool {
    let support = OAuth::interactive(SERVICE).probe(&remote.url).await;
    matches!(support, Ok(LoginSupport::TokenOnly))
}

/// Creates the authorizer of commands whose user can log in. The command line or the server's entry has the client id.
/// `is_open`: the server accepts calls without a token, so that only its metadata can name an authorization server.
pub(crate) async fn interactive(
    remote: &Remote,
    args: &LoginArgs,
    is_open: bool,
    output: &Output,
) -> Result<Option<Authorizer>, Failure> {
    let mut registration = with_flags(remote.registration.clone(), args);
    let secret = match &args.client_secret {
        Some(given) => Some(client_secret(given, output).await?),
        None => None,
    };
    if secret.is_some() {
        registration.client_secret.clone_from(&secret);
    }
    let names_issuer = args.issuer.is_some();
    let mut redirect = LoopbackRedirect::new();
    if let Some(port) = args.port {
        redirect = redirect.port(port);
    }
    let (output, opens_browser) = (*output, !args.no_browser);
    let login_page = LoginPage::default();
    let opened = login_page.clone();
    redirect = redirect.open_with(move |page| {
        opened.open();
        show(page, opens_browser, output)
    });
    let oauth = OAuth::interactive(SERVICE)
        .redirect(redirect)
        .legacy_endpoints(!is_open)
        .confirm_login(move |login| confirm(login, names_issuer, output));
    authorizer(oauth, &registration, secret, &remote.url, login_page)
}

/// Replaces members of an entry by those of the command line.
fn with_flags(mut entry: EntryOAuth, args: &LoginArgs) -> EntryOAuth {
    if args.client_id.is_some() {
        entry.client_secret = None;
    }
    if args.port.is_some() {
        entry.redirect_uri = None;
    }
    if !args.scope.is_empty() {
        entry.scopes.clone_from(&args.scope);
    }
    entry.omit_resource = args.omit_resource || (entry.omit_resource && args.resource.is_none());
    for (flag, member) in [
        (&args.client_id, &mut entry.client_id),
        (&args.redirect_uri, &mut entry.redirect_uri),
        (&args.issuer, &mut entry.issuer),
        (&args.resource, &mut entry.resource),
        (&args.allow_missing_pkce, &mut entry.allow_missing_pkce),
    ] {
        if flag.is_some() {
            member.clone_from(flag);
        }
    }
    entry
}

/// Returns the value of the variable that the command line names, or what the user types. Other users of a machine
/// can read the arguments of a program, so the secret itself is refused there.
async fn client_secret(given: &str, output: &Output) -> Result<String, Failure> {
    if given.is_empty() {
        let typed = questions::secret(output, "Client secret: ").await;
        return typed.ok_or_else(|| {
            Failure::usage(
                "no client secret was typed; without a terminal, pass --client-secret='${NAME}'",
            )
        });
    }
    let name = given
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'));
    let name = name.ok_or_else(|| {
        Failure::usage(
            "--client-secret takes the name of a variable, as in --client-secret='${NAME}' (with single quotes), or \
             no value: other programs can read the arguments of this one",
        )
    })?;
    std::env::var(name).map_err(|_| usage!("--client-secret: the variable {name:?} has no value"))
}

/// The settings that decide which token a login obtains, and who receives it, beside `omitResource`.
fn deciding(oauth: &EntryOAuth) -> [(&'static str, &Option<String>); 4] {
    [
        ("issuer", &oauth.issuer),
        ("resource", &oauth.resource),
        ("redirectUri", &oauth.redirect_uri),
        ("allowMissingPkce", &oauth.allow_missing_pkce),
    ]
}

/// Returns true if settings decide which token a login obtains, or who receives it.
pub(crate) fn decides_about_tokens(oauth: &EntryOAuth) -> bool {
    oauth.omit_resource || deciding(oauth).iter().any(|(_, value)| value.is_some())
}

/// Describes the settings of a login, without its secret.
pub(crate) fn login_settings(oauth: &EntryOAuth) -> String {
    let texts = [
        ("clientId", &oauth.client_id),
        ("tokenEndpointAuthMethod", &oauth.auth_method),
        ("account", &oauth.account),
    ];
    let texts = texts.into_iter().chain(deciding(oauth));
    let texts = texts.filter_map(|(name, value)| {
        let value = value.as_ref()?;
        Some(format!("{name} {value:?}"))
    });
    let omitted = oauth.omit_resource.then(|| "omitResource".to_owned());
    let scopes = (!oauth.scopes.is_empty()).then(|| format!("scopes {:?}", oauth.scopes));
    let all: Vec<_> = texts.chain(omitted).chain(scopes).collect();
    if all.is_empty() {
        return String::new();
    }
    format!(", and to log in with {}", all.join(", "))
}

/// Names the parties of a login before its page opens. Asks the user if they have several owners, as far
/// as their domains tell. A user who has named the issuer on the command line has answered: no other one is used. The
/// issuer of a file is not the user's answer.
async fn confirm(login: LoginPrompt, names_issuer: bool, output: Output) -> bool {
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
    if names_issuer {
        return true;
    }
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
    remote: &Remote,
    show: impl Fn(String) + Send + Sync + 'static,
) -> Result<Option<Authorizer>, Failure> {
    let login_page = LoginPage::default();
    let opened = login_page.clone();
    let redirect = LoopbackRedirect::new().open_with(move |page| {
        opened.open();
        show(page);
        ready(Ok(()))
    });
    let oauth = OAuth::interactive(SERVICE).redirect(redirect);
    authorizer(oauth, &remote.registration, None, &remote.url, login_page)
}

/// `secret`: the client secret of the command line, which other commands do not get.
fn authorizer(
    oauth: OAuth,
    registration: &EntryOAuth,
    secret: Option<String>,
    url: &str,
    login_page: LoginPage,
) -> Result<Option<Authorizer>, Failure> {
    let Some(folder) = config::data_folder() else {
        let reason = "no folder for tokens is known; set HOME";
        return Err(Failure::usage(reason));
    };
    let folder = folder.join("mcp/credentials");
    let secret = secret.map(Secret::new);
    let oauth = registration.apply(oauth);
    let store: Box<dyn CredentialStore> = match std::env::var(STORE).as_deref() {
        Err(_) | Ok("file") => Box::new(FileStore::new(folder)),
        Ok("keychain") => Box::new(KeychainStore::new(SERVICE, folder)),
        Ok(other) => {
            return Err(usage!(
                "{STORE} is {other:?}; set it to `file` or `keychain`"
            ));
        }
    };
    let oauth = oauth.store(Completing {
        store,
        secret,
        login_page,
    });
    match oauth.authorizer(url) {
        Ok(authorizer) => Ok(Some(authorizer)),
        Err(AuthError::Egress { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// True when a login page was opened: the user may log in with another account, whose lists are other ones.
#[derive(Clone, Default)]
struct LoginPage(Arc<AtomicBool>);

impl LoginPage {
    fn open(&self) {
        self.0.store(true, Ordering::Relaxed);
        config::forget_lists();
    }

    /// Removes the lists that other programs have stored with the former account since the page was opened.
    fn saved(&self) {
        if self.0.swap(false, Ordering::Relaxed) {
            config::forget_lists();
        }
    }
}

/// A store that keeps a typed client secret beside the tokens, so that other commands can refresh them.
struct Completing {
    store: Box<dyn CredentialStore>,
    secret: Option<Secret>,
    login_page: LoginPage,
}

#[async_trait]
impl CredentialStore for Completing {
    async fn load(&self, key: &StoreKey) -> Result<Option<Secret>, AuthError> {
        self.store.load(key).await
    }

    async fn save(&self, key: &StoreKey, record: &Secret) -> Result<(), AuthError> {
        if key.server().is_none() {
            return self.store.save(key, record).await;
        }
        if self.secret.is_none() {
            self.store.save(key, record).await?;
        } else {
            let mut credentials = StoredCredentials::try_from(record)?;
            credentials.client_secret.clone_from(&self.secret);
            self.store
                .save(key, &Secret::try_from(&credentials)?)
                .await?;
        }
        self.login_page.saved();
        Ok(())
    }

    async fn remove(&self, key: &StoreKey) -> Result<(), AuthError> {
        self.store.remove(key).await
    }

    async fn lock(&self, key: &StoreKey, timeout: Duration) -> Result<StoreLock, AuthError> {
        self.store.lock(key, timeout).await
    }
}

/// Refuses every login, and names the command that logs in.
#[derive(Debug, Clone)]
struct NoLogin(String);

#[async_trait]
impl Redirect for NoLogin {
    async fn prepare(&self, _: Option<&str>) -> Result<Box<dyn RedirectSession>, AuthError> {
        let reason = format!("the server demands one; run `{}`", self.0);
        Err(AuthError::Redirect(reason))
    }

    fn with_uri(&self, _: &str) -> Result<Arc<dyn Redirect>, AuthError> {
        Ok(Arc::new(self.clone()))
    }
}
