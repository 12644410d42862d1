//! A server over HTTP, with its headers and its login.

use std::fmt;
use std::path::Path;

use mcp::HttpChannel;
use mcp::auth::Authorizer;
use mcp::group::EntryOAuth;

use crate::config;
use crate::failure::Failure;
use crate::programs::shell_word;

/// A server over HTTP.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// The user gives a token. Then no stored one is used.
    pub(crate) has_token: bool,
    /// The login, which clones share. `None` also for servers that get no token.
    pub(crate) login: Option<Authorizer>,
    /// The registration for logins, from a configuration file and the command line.
    pub(crate) registration: EntryOAuth,
    /// The words that name the server for `mcp login`.
    words: String,
    /// The channel with the headers, and without the login.
    pub(crate) channel: HttpChannel,
}

impl Remote {
    /// Creates a server with headers, without a login. `mcp login` finds it by `name` in the file `config`, else by its URL.
    ///
    /// # Errors
    ///
    /// Returns an error if the URL or a header is invalid.
    pub(crate) fn new(
        url: &str,
        headers: &[(String, String)],
        registration: EntryOAuth,
        name: Option<&str>,
        config: Option<&Path>,
    ) -> Result<Self, Failure> {
        let mut words = shell_word(&name.map_or_else(|| config::public_url(url), str::to_owned));
        if let Some(file) = config.filter(|_| name.is_some()) {
            let file = shell_word(&file.to_string_lossy());
            words.push_str(&format!(" --config {file}"));
        }
        if let Some(account) = &registration.account {
            words.push_str(&format!(" --account {}", shell_word(account)));
        }
        let mut channel = HttpChannel::new(url).map_err(Failure::usage)?;
        let mut has_token = false;
        for (name, value) in headers {
            let name = name.trim();
            has_token |= name.eq_ignore_ascii_case("authorization");
            channel = channel.header(name, value.trim()).map_err(Failure::usage)?;
        }
        Ok(Self {
            url: url.to_owned(),
            has_token,
            login: None,
            registration,
            words,
            channel,
        })
    }

    /// Returns the command that logs in at the server.
    pub(crate) fn login_command(&self) -> String {
        format!("mcp login {}", self.words)
    }

    /// Opens a channel with the login. `wrap` may wrap the HTTP client below the login.
    pub(crate) fn open(&self, wrap: impl FnOnce(HttpChannel) -> HttpChannel) -> HttpChannel {
        let channel = wrap(self.channel.clone());
        match &self.login {
            Some(login) => channel.map_service(|http| login.service(http)),
            None => channel,
        }
    }
}

/// Shows no header, and no query of the URL: they may be secrets.
impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &config::public_url(&self.url))
            .finish_non_exhaustive()
    }
}
