//! `mcp login`, `mcp logout` and `mcp whoami`.

use mcp::auth::{AuthStatus, Authorizer};
use mcp::prelude::*;
use serde_json::{Value, json};

use super::support::close;
use crate::cli::{LoginArgs, RemoteArgs, TargetArgs};
use crate::credentials;
use crate::failure::Failure;
use crate::output::Output;
use crate::target;

pub(super) async fn login(args: &LoginArgs, output: &Output) -> Result<(), Failure> {
    let url = target::url_only(&args.remote, output).await?;
    let authorizer = usable(credentials::interactive(&url, args, output)?)?;
    output.note("waiting for the login in the browser");
    authorizer
        .login()
        .await
        .map_err(|error| credentials::failure(&error))?;
    print(&authorizer.status(), output);
    Ok(())
}

pub(super) async fn logout(args: &RemoteArgs, output: &Output) -> Result<(), Failure> {
    let url = target::url_only(args, output).await?;
    let authorizer = usable(credentials::stored(&url)?)?;
    authorizer
        .logout()
        .await
        .map_err(|error| credentials::failure(&error))?;
    print(&authorizer.status(), output);
    Ok(())
}

pub(super) async fn whoami(args: &TargetArgs, output: &Output) -> Result<(), Failure> {
    let client = target::connect_only(args, output).await?;
    // The request shows whether the server still accepts the token.
    let pinged = client.ping().await;
    let status = client.auth_status();
    close(&client).await;
    pinged?;
    print(&status.unwrap_or(AuthStatus::External), output);
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
            "not logged in; the server demands no login, or the token is removed".to_owned(),
        ),
        _ => (
            json!({ "loggedIn": Value::Null }),
            "the token comes from the command line or the configuration".to_owned(),
        ),
    };
    if output.json {
        output.document(&document);
    } else {
        output.text(&text);
    }
}
