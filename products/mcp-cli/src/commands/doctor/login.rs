//! The steps of authorization, without secrets.

use futures_util::{FutureExt as _, Stream, StreamExt as _};
use http::StatusCode;
use http::header::WWW_AUTHENTICATE;
use mcp::auth::{AuthEvent, AuthStatus, Authorizer};

use super::http::value;
use super::report::{Report, Step};
use super::watch::Exchange;
use crate::failure::{FIXED_TOKEN, FailureKind, LOG_IN, SCOPE, demands_scope};
use crate::remote::Remote;

/// Largest number of events that are shown.
const MAX_EVENTS: usize = 32;

/// Describes the server's challenge, and what the client did about it.
pub(super) fn examine(
    remote: &Remote,
    events: Option<impl Stream<Item = AuthEvent> + Unpin>,
    exchanges: &[Exchange],
    takes_fixed_tokens: bool,
    report: &mut Report,
) {
    let is_refusal =
        |status: &StatusCode| matches!(*status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let challenge = exchanges
        .iter()
        .find(|exchange| is_refusal(&exchange.status));
    let is_refused = exchanges
        .last()
        .is_some_and(|exchange| is_refusal(&exchange.status));
    let mut lines = Vec::new();
    if let Some(exchange) = challenge {
        let header = value(&exchange.headers, &WWW_AUTHENTICATE);
        lines.push(if header.is_empty() {
            format!("{}, without a WWW-Authenticate header", exchange.status)
        } else {
            format!("{}, {header}", exchange.status)
        });
    }
    lines.extend(
        events
            .into_iter()
            .flat_map(received)
            .map(|event| describe(&event)),
    );
    if remote.has_token {
        lines.push("the request has the token of the command line or the configuration".to_owned());
    } else if remote.login.is_none() {
        lines.push("no token is sent: the URL is neither https nor on this machine".to_owned());
    }
    if let Some(AuthStatus::LoggedIn {
        issuer,
        scopes,
        expires_in,
        ..
    }) = remote.login.as_ref().map(Authorizer::status)
    {
        let expiry = expires_in.map_or("no known end".to_owned(), |seconds| {
            format!("{seconds} s left")
        });
        lines.push(format!("token of {issuer}, scopes: {scopes}, {expiry}"));
    }
    report.add(match (is_refused, lines.is_empty()) {
        (true, _) => {
            let challenge = exchanges
                .last()
                .map(|last| value(&last.headers, &WWW_AUTHENTICATE));
            let cure = if challenge.is_some_and(|challenge| demands_scope(&challenge)) {
                SCOPE
            } else if remote.has_token {
                "replace the token: the server refuses it"
            } else if takes_fixed_tokens {
                FIXED_TOKEN
            } else {
                LOG_IN
            };
            Step::failed("login", FailureKind::Login, lines.join("\n"), cure)
        }
        (false, true) => Step::ok(
            "login",
            "the server demands none to connect and to list its tools",
        ),
        (false, false) => Step::ok("login", lines.join("\n")),
    });
}

/// Returns the events that have happened.
fn received(mut events: impl Stream<Item = AuthEvent> + Unpin) -> Vec<AuthEvent> {
    let next = || events.next().now_or_never().flatten();
    std::iter::from_fn(next).take(MAX_EVENTS).collect()
}

fn describe(event: &AuthEvent) -> String {
    match event {
        AuthEvent::Challenged { status } => format!("the server demands a login (status {status})"),
        AuthEvent::Fetched { document } => format!("read {}", document.url),
        AuthEvent::Discovered { issuer } => {
            format!("the metadata names the authorization server {issuer}")
        }
        AuthEvent::Registered { issuer } => format!("this client is registered at {issuer}"),
        AuthEvent::LoginStarted { issuer, page, .. } => {
            format!("the login page of {issuer} is {page}")
        }
        AuthEvent::Authorized { scopes, .. } => format!("a token was issued, scopes: {scopes}"),
        AuthEvent::Refreshed { .. } => "the token was refreshed".to_owned(),
        AuthEvent::Restored => "the stored token is used".to_owned(),
        AuthEvent::LoggedOut => "the token was removed".to_owned(),
        AuthEvent::Failed { message } => message.clone(),
        _ => "a further step".to_owned(),
    }
}
