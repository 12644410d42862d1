//! `mcp login`, `mcp logout` and `mcp whoami`.

use futures_util::{FutureExt as _, StreamExt as _};
use mcp::auth::{AuthError, AuthEvent, AuthStatus, Authorizer};
use serde_json::{Value, json};

use crate::cli::{LoginArgs, RemoteArgs, TargetArgs};
use crate::config;
use crate::credentials;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn login(args: &LoginArgs, output: &Output) -> Result<(), Failure> {
    let remote = target::remote(&args.remote, output).await?;
    let is_open = !remote.has_token && remote.accepts_calls_without_a_token().await;
    let authorizer = credentials::interactive(&remote, args, is_open, output).await?;
    let authorizer = usable(authorizer)?;
    let mut events = authorizer.events();
    match authorizer.login().await {
        // An authorization server's metadata may be missing as well.
        Err(AuthError::NoMetadata { server })
            if is_open && server == config::public_url(&remote.url) =>
        {
            print_open(output);
            return Ok(());
        }
        outcome => outcome?,
    }
    let next = || events.next().now_or_never().flatten();
    let is_new =
        std::iter::from_fn(next).any(|event| matches!(event, AuthEvent::Authorized { .. }));
    if !is_new && lacks(&authorizer.status(), &args.scope) {
        // The stored token is kept until it expires otherwise.
        authorizer.logout().await?;
        authorizer.login().await?;
    }
    print(&authorizer.status(), output);
    Ok(())
}

/// Returns true if the token in use lacks one of the scopes.
fn lacks(status: &AuthStatus, wanted: &[String]) -> bool {
    let AuthStatus::LoggedIn { scopes, .. } = status else {
        return false;
    };
    wanted.iter().any(|scope| !scopes.contains(scope))
}

/// Says that the server accepts calls without a token, and names no authorization server.
fn print_open(output: &Output) {
    output.answer(
        &json!({ "loggedIn": false, "demandsLogin": false }),
        "this server demands no login: it accepts calls without a token, and names no authorization server",
    );
}

pub(super) async fn logout(args: &RemoteArgs, output: &Output) -> Result<(), Failure> {
    let remote = target::remote(args, output).await?;
    let authorizer = credentials::stored(&remote)?;
    usable(authorizer)?.logout().await?;
    config::forget_lists();
    let url = config::public_url(&remote.url);
    output.answer(
        &json!({ "loggedIn": false }),
        &format!("logged out: this machine has no token for {url}"),
    );
    Ok(())
}

pub(super) async fn whoami(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let status = target::with_client_only(args, output, async |client| {
        // The request shows whether the server still accepts the token.
        client.ping().await?;
        Ok(client.authorizer().map(Authorizer::status))
    });
    print(&status.await?.unwrap_or(AuthStatus::External), output);
    Ok(())
}

fn usable(authorizer: Option<Authorizer>) -> Result<Authorizer, Failure> {
    authorizer.ok_or_else(|| {
        Failure::usage("tokens are sent over https only, or to this machine; check the URL")
    })
}

fn print(status: &AuthStatus, output: &Output) {
    let (document, text) = match status {
        AuthStatus::LoggedIn {
            issuer,
            scopes,
            expires_in,
            refreshable,
            ..
        } => {
            let expiry = match expires_in {
                Some(seconds) => format!("the token expires in {seconds} s"),
                None => "the token has no known end".to_owned(),
            };
            let scopes = scopes.to_string();
            (
                json!({
                    "loggedIn": true, "issuer": issuer, "scopes": scopes,
                    "expiresIn": expires_in, "refreshable": refreshable,
                }),
                format!("logged in at {issuer}; scopes: {scopes}; {expiry}"),
            )
        }
        AuthStatus::LoggedOut => (
            json!({ "loggedIn": false }),
            "not logged in: the server has answered without a token; `mcp login` logs in where it offers that"
                .to_owned(),
        ),
        _ => (
            json!({ "loggedIn": Value::Null }),
            "the token comes from the command line or the configuration".to_owned(),
        ),
    };
    output.answer(&document, &text);
}
