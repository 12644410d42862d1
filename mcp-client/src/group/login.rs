//! The login that the servers of a group share.

#[cfg(feature = "auth")]
use mcp_auth::OAuth;

#[cfg(feature = "http")]
use super::config::EntryOAuth;
use crate::builder::ClientBuilder;
#[cfg(feature = "auth")]
use crate::login::Login;

/// The login of servers whose client has none. Empty without the feature `auth`.
#[derive(Debug, Clone, Default)]
pub(super) struct GroupLogin {
    #[cfg(feature = "auth")]
    pub(super) oauth: Option<Box<OAuth>>,
}

impl GroupLogin {
    /// Returns the client with its own login, or with that of the group.
    pub(super) fn apply(&self, client: ClientBuilder) -> ClientBuilder {
        #[cfg(feature = "auth")]
        if let (None, Some(oauth)) = (&client.login, &self.oauth) {
            let login = Some(Login::Group(oauth.clone()));
            return ClientBuilder { login, ..client };
        }
        client
    }
}

/// Returns a client whose login is for a file's servers: commands among them get no token.
pub(super) fn for_file(client: ClientBuilder) -> ClientBuilder {
    #[cfg(feature = "auth")]
    if let Some(Login::Settings(oauth)) = client.login {
        let login = Some(Login::Group(oauth));
        return ClientBuilder { login, ..client };
    }
    client
}

/// Adds the registration of an entry to its client's login.
#[cfg(feature = "http")]
pub(super) fn with_registration(client: ClientBuilder, entry: &EntryOAuth) -> ClientBuilder {
    #[cfg(feature = "auth")]
    if let Some(login) = client.login {
        let login = Some(registered(login, entry));
        return ClientBuilder { login, ..client };
    }
    tracing::warn!(
        client_id = entry.client_id,
        "the `oauth` of an entry is ignored: the client has no login; add `.oauth(…)` to the group"
    );
    client
}

#[cfg(all(feature = "auth", feature = "http"))]
fn registered(login: Login, entry: &EntryOAuth) -> Login {
    let (oauth, is_shared) = match login {
        Login::Settings(oauth) => (oauth, false),
        Login::Group(oauth) => (oauth, true),
        other => return other,
    };
    let oauth = oauth.scopes(&entry.scopes);
    match (&entry.client_id, &entry.client_secret) {
        // The registration belongs to this server, so it is not shared.
        (Some(id), Some(secret)) => {
            Login::Settings(Box::new(oauth.client_secret(id, secret.clone())))
        }
        (Some(id), None) => Login::Settings(Box::new(oauth.client_id(id))),
        _ if is_shared => Login::Group(Box::new(oauth)),
        _ => Login::Settings(Box::new(oauth)),
    }
}
