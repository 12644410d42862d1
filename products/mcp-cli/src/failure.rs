//! Command errors, with their exit codes.

use std::borrow::Cow;
use std::path::Path;
use std::{fmt, io};

use mcp::auth::AuthError;
use mcp::client::Error;
use mcp::core::Fault;
use mcp::gateway::RelayError;
use serde::Serialize;

use crate::programs::shell_word;

/// The cure where the server demands a login.
pub(crate) const LOG_IN: &str = "log in with `mcp login` (with `--scope SCOPE` where a scope is missing), or pass a token: --header 'Authorization: Bearer TOKEN'";
/// The cure beside a login.
const TOKEN: &str = "or pass a token: --header 'Authorization: Bearer TOKEN'";
/// The cure where a token lacks scopes.
pub(crate) const SCOPE: &str = "log in with `mcp login --scope SCOPE` for each scope that the server names, or ask its operator for them";
/// The cure where no metadata says where to log in.
pub(crate) const FIXED_TOKEN: &str = "this server takes fixed tokens: pass one with --header 'Authorization: Bearer TOKEN'; its operator has them";
/// The cure where the authorization server registers no client.
const REGISTER: &str = "register a client with the provider (its redirect URI is http://127.0.0.1/callback, or that of --redirect-uri), and pass --client-id ID, with --client-secret if it has one";
/// The cure where the authorization server refuses the resource.
const RESOURCE: &str =
    "pass --omit-resource, or --resource with the name that the provider has for the server";

/// The class of a failure. It decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FailureKind {
    /// The command line or a configuration file is wrong.
    Usage,
    /// The server demands a login, or denies access.
    Login,
    /// The server cannot be reached, or does not answer.
    Unreachable,
    /// The server reported an error.
    Server,
    /// The tool's result is an error.
    Tool,
    /// A comparison found a breaking change.
    Breaking,
    /// A server differs from a recording.
    Different,
    /// A test found an error.
    Findings,
    /// The user cancelled the call.
    Cancelled,
}

impl FailureKind {
    /// The exit code of the process. 2 is reserved for tools without an app. A cancelled command has no
    /// outcome, so it has the code that shells expect after Ctrl-C: 128 + SIGINT.
    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Usage | Self::Breaking | Self::Different | Self::Findings => 1,
            Self::Login => 3,
            Self::Unreachable => 4,
            Self::Server => 5,
            Self::Tool => 6,
            Self::Cancelled => 130,
        }
    }
}

/// The failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    message: String,
}

/// Creates a failure of the command line from a format string.
macro_rules! usage {
    ($($text:tt)+) => {
        $crate::failure::Failure::usage(format!($($text)+))
    };
}
pub(crate) use usage;

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl ToString) -> Self {
        Self {
            kind,
            message: message.to_string(),
        }
    }

    /// Creates a failure of the command line.
    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Creates the failure of a file that cannot be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        usage!("cannot write {}: {error}", path.display())
    }

    /// Creates the failure of a file that cannot be read or used.
    pub(crate) fn unusable(path: &Path, error: impl fmt::Display) -> Self {
        usage!("{}: {error}", path.display())
    }

    /// Creates the failure for a connection attempt.
    pub(crate) fn connect(error: &Error) -> Self {
        let kind = match error {
            _ if error.is_auth() => FailureKind::Login,
            _ => FailureKind::Unreachable,
        };
        Self::new(kind, with_cure(kind, error))
    }
}

impl From<AuthError> for Failure {
    fn from(error: AuthError) -> Self {
        let message = match cure_of(&error) {
            Some(cure) => format!("{error}; {cure}"),
            None => error.to_string(),
        };
        Self::new(FailureKind::Login, message)
    }
}

/// Returns what a user of the command can do about an error of a login.
fn cure_of(error: &AuthError) -> Option<Cow<'static, str>> {
    Some(match error {
        AuthError::NoMetadata { .. } => FIXED_TOKEN.into(),
        AuthError::InsufficientScope { .. } => SCOPE.into(),
        AuthError::NoClient { .. } | AuthError::RegistrationRejected(_) => REGISTER.into(),
        AuthError::PkceUnsupported { issuer } => format!(
            "if you trust this authorization server, pass --allow-missing-pkce {}; PKCE is used nevertheless",
            shell_word(issuer)
        )
        .into(),
        AuthError::Denied(code) | AuthError::TokenRejected(code)
            if code.code == "invalid_target" =>
        {
            RESOURCE.into()
        }
        AuthError::TokenRejected(code) if code.code == "invalid_client" => REGISTER.into(),
        AuthError::ClientIssuer { issuer, .. } | AuthError::NotConfirmed { issuer, .. } => format!(
            "if you trust {issuer}, pass --issuer {}",
            shell_word(issuer)
        )
        .into(),
        AuthError::Keychain(_) => "or set MCP_CREDENTIALS=file".into(),
        AuthError::Timeout { step, .. } if step.contains("login of the user") => {
            "if the page showed an error about the redirect, pass --redirect-uri with a URI that is registered there"
                .into()
        }
        _ => return None,
    })
}

impl From<RelayError> for Failure {
    fn from(error: RelayError) -> Self {
        let kind = match error {
            RelayError::Closed(_) => FailureKind::Unreachable,
            _ => FailureKind::Usage,
        };
        Self::new(kind, error)
    }
}

/// Classifies a call error.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let kind = match &error {
            _ if error.is_cancelled() => FailureKind::Cancelled,
            _ if error.is_auth() => FailureKind::Login,
            _ if error.fault().is_some() || error.input().is_some() => FailureKind::Server,
            _ if error.is_timeout() || error.is_closed() => FailureKind::Unreachable,
            _ => FailureKind::Server,
        };
        if let Some(fault @ Fault::MissingCapability { required }) = error.fault()
            && required.sampling.is_some()
        {
            // The cure of the error is one for programs.
            let message = format!("{fault}; pass `--sample-with COMMAND`");
            return Self::new(kind, message);
        }
        Self::new(kind, with_cure(kind, &error))
    }
}

fn with_cure(kind: FailureKind, error: &Error) -> String {
    if kind != FailureKind::Login {
        return error.to_string();
    }
    let cure = match error.authorization() {
        // It names the command.
        Some(AuthError::Redirect(_)) => TOKEN.into(),
        Some(reason) => cure_of(reason).unwrap_or(LOG_IN.into()),
        None if error.challenge().is_some_and(demands_scope) => SCOPE.into(),
        None => LOG_IN.into(),
    };
    format!("{error}; {cure}")
}

/// Returns true for the challenge of a server whose call needs further scopes.
pub(crate) fn demands_scope(challenge: &str) -> bool {
    challenge.contains("insufficient_scope")
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::FailureKind;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let codes = [
            FailureKind::Usage,
            FailureKind::Login,
            FailureKind::Unreachable,
            FailureKind::Server,
            FailureKind::Tool,
            FailureKind::Breaking,
            FailureKind::Different,
            FailureKind::Findings,
            FailureKind::Cancelled,
        ];
        assert_eq!(
            codes.map(FailureKind::exit_code),
            [1, 3, 4, 5, 6, 1, 1, 1, 130]
        );
    }
}
