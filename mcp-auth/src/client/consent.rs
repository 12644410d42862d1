//! [`LoginPrompt`]: a login that the program confirms before it starts.

use std::sync::Arc;

use mcp_core::BoxFuture;
use url::{Position, Url};

use crate::client::site::is_site_of;
use crate::error::{printable, shown};
use crate::metadata::server::ServerMetadata;

/// A function of the program that confirms a login.
pub(crate) type ConfirmLogin = Arc<dyn Fn(LoginPrompt) -> BoxFuture<'static, bool> + Send + Sync>;

/// A login that is about to start, for [`OAuth::confirm_login`](crate::OAuth::confirm_login). Server
/// text is escaped, and URLs have no query.
///
/// A site is a registrable domain with its subdomains, such as `example.com`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginPrompt {
    /// The MCP server.
    pub server: String,
    /// The authorization server that the MCP server names.
    pub issuer: String,
    /// The host of the page where the user logs in.
    pub login_host: String,
    /// The endpoint that receives the login's code.
    pub token_endpoint: String,
    /// The authorization server is at another site than the MCP server. This is common.
    pub is_other_issuer: bool,
    /// The login page or the token endpoint is at another site than the authorization server. A hostile
    /// authorization server names the login page of a bank, and a token endpoint of its own that receives
    /// the code. Some large providers also use several sites.
    pub is_other_endpoint: bool,
}

impl LoginPrompt {
    pub(crate) fn new(mcp_server: &Url, server: &ServerMetadata, page: &Url) -> Self {
        Self {
            server: shown(mcp_server),
            issuer: printable(&server.issuer),
            login_host: printable(&page[Position::BeforeHost..Position::AfterPort]),
            token_endpoint: shown(&server.token_endpoint),
            is_other_issuer: !is_site_of(&server.issuer, mcp_server),
            is_other_endpoint: !is_site_of(&server.issuer, page)
                || !is_site_of(&server.issuer, &server.token_endpoint),
        }
    }
}
