//! Authorization of the server, for black-box tests:
//! `--authorize ISSUER_URL [--introspect] [--dpop accepted|required] [--resource URL]`.
//!
//! All tools need the scope `mcp:use`, and `test_simple_text` also needs `mcp:write`. `test_whoami` returns
//! the caller. With `--introspect` the server asks the issuer about each token, as the client
//! `resource-server` with the secret in the variable `INTROSPECTION_SECRET` (default: `interop-resource`).

use mcp::auth::{AuthError, Dpop, Introspection, ResourceServer};
use mcp::core::Principal;
use mcp::prelude::*;
use serde_json::json;

const USE: &str = "mcp:use";
const WRITE: &str = "mcp:write";

/// The options of the command line.
pub(crate) struct Options {
    issuer: String,
    introspects: bool,
    dpop: Dpop,
    resource: Option<String>,
}

impl Options {
    /// Reads the options. Returns `None` without `--authorize`.
    ///
    /// # Errors
    ///
    /// Returns an error when an option has no value, or a wrong one.
    pub(crate) fn read(arguments: &[String]) -> Result<Option<Self>, AuthError> {
        let invalid = |message: String| AuthError::Settings(message);
        let value = |name: &str| {
            let index = arguments.iter().position(|argument| argument == name);
            let value = index.map(|index| arguments.get(index + 1).cloned());
            match value {
                None => Ok(None),
                Some(Some(value)) => Ok(Some(value)),
                Some(None) => Err(invalid(format!("{name} needs a value"))),
            }
        };
        let Some(issuer) = value("--authorize")? else {
            return Ok(None);
        };
        let dpop = match value("--dpop")?.as_deref() {
            None => Dpop::Off,
            Some("accepted") => Dpop::Optional,
            Some("required") => Dpop::Required,
            Some(other) => return Err(invalid(format!("--dpop {other} is unknown"))),
        };
        Ok(Some(Self {
            issuer,
            introspects: arguments.iter().any(|argument| argument == "--introspect"),
            dpop,
            resource: value("--resource")?,
        }))
    }

    /// Returns the settings of the server at `url`.
    pub(crate) fn resource_server(&self, url: &str) -> ResourceServer {
        let resource = self.resource.as_deref().unwrap_or(url);
        let server = ResourceServer::new(resource)
            .issuer(&self.issuer)
            .scopes([USE, WRITE])
            .suggested_scopes([USE])
            .dpop(self.dpop);
        if !self.introspects {
            return server;
        }
        let secret = std::env::var("INTROSPECTION_SECRET");
        let secret = secret.unwrap_or_else(|_| "interop-resource".to_owned());
        server.introspection(Introspection::new("resource-server", secret))
    }
}

/// Adds `test_whoami`, and the scopes of all tools.
pub(crate) fn protect_tools(server: Server) -> Server {
    let whoami = Tool::new("test_whoami")
        .description("Returns subject and scopes of the caller")
        .handler(whoami);
    server
        .tool(whoami)
        .tool_scopes(|tool| match tool.name.as_str() {
            "test_simple_text" => vec![USE, WRITE],
            _ => vec![USE],
        })
}

fn whoami(Identity(who): Identity<Principal>) -> String {
    let caller = json!({
        "subject": who.subject,
        "issuer": who.issuer,
        "client": who.client,
        "scopes": who.scopes,
    });
    caller.to_string()
}
