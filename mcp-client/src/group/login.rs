//! The login that the servers of a group share.

#[cfg(feature = "auth")]
use mcp_auth::OAuth;

#[cfg(feature = "http")]
use super::config::EntryOAuth;
use crate::connect::ClientBuilder;
#[cfg(feature = "auth")]
use crate::connect::Login;

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
    let oauth = Box::new(entry.apply(*oauth));
    // A registration belongs to its server, so it is not shared.
    if is_shared && entry.client_id.is_none() {
        Login::Group(oauth)
    } else {
        Login::Settings(oauth)
    }
}

#[cfg(all(feature = "auth", feature = "http"))]
impl EntryOAuth {
    /// Adds the members to the settings of logins. Programs that connect to an entry themselves call it; a group
    /// does so for the servers of its file.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::auth::OAuth;
    /// use mcp::group::EntryOAuth;
    ///
    /// let mut entry = EntryOAuth::default();
    /// entry.client_id = Some("my-agent".to_owned());
    /// entry.redirect_uri = Some("http://localhost:8765/callback".to_owned());
    /// let oauth = entry.apply(OAuth::interactive("My Agent"));
    /// ```
    pub fn apply(&self, oauth: OAuth) -> OAuth {
        let mut oauth = oauth.scopes(&self.scopes);
        oauth = match (&self.client_id, &self.client_secret) {
            (Some(id), Some(secret)) => oauth.client_secret(id, secret.clone()),
            (Some(id), None) => oauth.client_id(id),
            (None, _) => oauth,
        };
        type Set = fn(OAuth, String) -> OAuth;
        let settings: [(_, Set); 6] = [
            (&self.auth_method, OAuth::auth_method),
            (&self.issuer, OAuth::expected_issuer),
            (&self.resource, OAuth::resource),
            (&self.allow_missing_pkce, OAuth::allow_missing_pkce),
            (&self.redirect_uri, OAuth::redirect_uri),
            (&self.account, OAuth::account),
        ];
        for (member, set) in settings {
            if let Some(value) = member {
                oauth = set(oauth, value.clone());
            }
        }
        if self.omit_resource {
            oauth.omit_resource()
        } else {
            oauth
        }
    }
}
