//! Checks of the settings: scopes, authorization servers, combinations of settings.

use std::sync::Arc;

use url::Url;

use super::{Grant, OAuth};
use crate::challenge::TokenType;
use crate::client::record::StoredCredentials;
use crate::client::redirect::Redirect;
use crate::client::site::is_site_of;
use crate::dpop::Dpop;
use crate::error::{AuthError, printable, shown};
use crate::metadata::server::{ServerMetadata, is_same_issuer};
use crate::oauth_client::Credential;
use crate::scope::Scopes;
use crate::token::Tokens;

impl OAuth {
    /// Returns the upper bound for the requested scopes.
    fn scope_bound(&self) -> Option<&Scopes> {
        let is_bound = !self.grant.has_user() && !self.scopes.is_empty();
        self.max_scopes
            .as_ref()
            .or(is_bound.then_some(&self.scopes))
    }

    /// Returns whether a scope may be requested.
    fn allows_scope(&self, scope: &str) -> bool {
        let is_offline = scope == "offline_access" && self.offline_access && self.grant.has_user();
        is_offline || self.scope_bound().is_none_or(|bound| bound.contains(scope))
    }

    /// Returns those of `scopes` that may be requested. If none may, returns the upper bound: without
    /// scopes in the request, the authorization server would choose them.
    pub(crate) fn bounded(&self, scopes: &Scopes) -> Scopes {
        let Some(bound) = self.scope_bound() else {
            return scopes.clone();
        };
        let allowed: Scopes = scopes
            .iter()
            .filter(|scope| self.allows_scope(scope))
            .collect();
        if allowed.is_empty() {
            return bound.clone();
        }
        allowed
    }

    /// # Errors
    ///
    /// Returns [`AuthError::ScopeNotAllowed`] for scopes above the upper bound.
    pub(crate) fn check_scopes(&self, scopes: &Scopes) -> Result<(), AuthError> {
        let refused: Scopes = scopes
            .iter()
            .filter(|scope| !self.allows_scope(scope))
            .collect();
        match self.scope_bound() {
            Some(bound) if !refused.is_empty() => Err(AuthError::ScopeNotAllowed {
                scopes: refused.to_string(),
                allowed: bound.to_string(),
            }),
            _ => Ok(()),
        }
    }

    /// Checks that several servers may share these settings. Without an issuer, a secret would be sent to
    /// every authorization server that they name. A token would be sent to every server.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when they may not.
    pub(crate) fn check_shared(&self) -> Result<(), AuthError> {
        let credential = self.client.as_ref().map(|client| &client.credential);
        if matches!(self.grant, Grant::Token(_)) {
            return Err(AuthError::settings(
                "a token is for one server; set it as the login of that server's client",
            ));
        }
        if matches!(credential, Some(Credential::Secret(_))) && self.issuer.is_none() {
            return Err(AuthError::settings(
                "each server of the group could have the client secret sent to an authorization \
                 server of its own; add .issuer(…)",
            ));
        }
        Ok(())
    }

    /// Checks that an authorization server is the one in the settings.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`] for another one.
    pub(crate) fn check_pin(&self, issuer: &str) -> Result<(), AuthError> {
        let expected = self.issuer.as_deref();
        expected.map_or(Ok(()), |expected| Self::check_expected(expected, issuer))
    }

    /// Checks the token of a grant or a refresh.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::NoDpop`] for a bearer token if the settings require DPoP.
    pub(crate) fn check_token_type(
        &self,
        tokens: &Tokens,
        server: &ServerMetadata,
    ) -> Result<(), AuthError> {
        if self.dpop == Dpop::Required && tokens.token_type != TokenType::Dpop {
            return Err(AuthError::NoDpop {
                issuer: printable(&server.issuer),
            });
        }
        Ok(())
    }

    /// Checks that an endpoint is at its issuer's site. The endpoints of the authorization server that the
    /// program has named may be anywhere.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ForeignEndpoint`] for an endpoint at another site.
    pub(crate) fn check_site(
        &self,
        server: &ServerMetadata,
        endpoint: &'static str,
        url: &Url,
    ) -> Result<(), AuthError> {
        if self.vouches_for_issuer || is_site_of(&server.issuer, url) {
            return Ok(());
        }
        Err(AuthError::ForeignEndpoint {
            issuer: printable(&server.issuer),
            endpoint,
            url: shown(url),
        })
    }

    /// Returns whether this client registers itself.
    pub(crate) fn registers(&self) -> bool {
        self.client.is_none() && self.grant.has_user()
    }

    /// Checks that the settings allow these tokens.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`] for tokens of another authorization server,
    /// [`AuthError::Settings`] for those of another client, and [`AuthError::NoDpop`] for tokens without
    /// the required key.
    pub(crate) fn check_usable(&self, record: &StoredCredentials) -> Result<(), AuthError> {
        self.check_pin(&record.issuer)?;
        let given = self.client.as_ref();
        if given.is_some_and(|given| given.id != record.client_id) {
            let message = "the tokens are those of another client than that of the settings";
            return Err(AuthError::settings(message));
        }
        if self.dpop == Dpop::Required && !record.is_dpop {
            return Err(AuthError::NoDpop {
                issuer: printable(&record.issuer),
            });
        }
        Ok(())
    }

    /// # Errors
    ///
    /// Returns [`AuthError::ClientIssuer`] when `issuer` is another one than `expected`.
    pub(crate) fn check_expected(expected: &str, issuer: &str) -> Result<(), AuthError> {
        if is_same_issuer(expected, issuer) {
            return Ok(());
        }
        // spec: AUTH-C-15
        Err(AuthError::ClientIssuer {
            expected: printable(expected),
            issuer: printable(issuer),
        })
    }

    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when a setting is invalid or would be ignored.
    pub(crate) fn check(&self) -> Result<(), AuthError> {
        if let Some(url) = &self.metadata_url {
            check_metadata_url(url)?;
        }
        if let Some(issuer) = &self.issuer {
            check_issuer(issuer)?;
        }
        if let Some(method) = &self.auth_method {
            self.check_auth_method(method)?;
        }
        self.login_redirect()?;
        if let Err(AuthError::ScopeNotAllowed { scopes, .. }) = self.check_scopes(&self.scopes) {
            return Err(AuthError::settings(format!(
                ".scopes(…) has {scopes:?}, which .max_scopes(…) does not allow"
            )));
        }
        if self.confirm.is_some() && !self.grant.has_user() {
            return Err(AuthError::settings(
                ".confirm_login(…) is for logins of a user; remove it, and set .issuer(…)",
            ));
        }
        match &self.grant {
            Grant::Enterprise(_) if self.client.is_none() => Err(AuthError::settings(
                "an enterprise login needs a client id; add .client_secret(…)",
            )),
            // Without an issuer, an MCP server could name its own authorization server and receive the platform token.
            Grant::Workload(_) if self.issuer.is_none() => Err(AuthError::settings(
                "a workload needs the authorization server that receives its platform token; add \
                 .issuer(…)",
            )),
            Grant::Token(_) => self.check_unused(),
            _ => Ok(()),
        }
    }

    fn check_auth_method(&self, method: &str) -> Result<(), AuthError> {
        let credential = self.client.as_ref().map(|client| &client.credential);
        let is_known = matches!(method, "client_secret_basic" | "client_secret_post");
        if is_known && matches!(credential, Some(Credential::Secret(_))) {
            return Ok(());
        }
        Err(AuthError::settings(format!(
            ".auth_method(…) is `client_secret_basic` or `client_secret_post`, for a client with a secret; \
             got {method:?}"
        )))
    }

    /// Returns the redirect of logins, at the URI of the settings.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when the redirect cannot receive responses there.
    pub(crate) fn login_redirect(&self) -> Result<Arc<dyn Redirect>, AuthError> {
        match &self.redirect_uri {
            Some(uri) => self.redirect.with_uri(uri),
            None => Ok(Arc::clone(&self.redirect)),
        }
    }

    /// Checks that no setting would be ignored. With [`token`](Self::token), the program obtains the
    /// tokens, so settings for obtaining them have no effect.
    fn check_unused(&self) -> Result<(), AuthError> {
        let unused = [
            (self.issuer.is_some(), "issuer"),
            (self.client.is_some(), "client_id"),
            (self.dpop != Dpop::Off, "dpop"),
            (self.max_scopes.is_some(), "max_scopes"),
        ];
        match unused.iter().find(|(is_set, _)| *is_set) {
            Some((_, name)) => Err(AuthError::settings(format!(
                ".{name}(…) has no effect on a token that the program manages; remove it"
            ))),
            None => Ok(()),
        }
    }
}

fn check_issuer(issuer: &str) -> Result<(), AuthError> {
    let url = Url::parse(issuer).ok();
    match url.filter(|url| matches!(url.scheme(), "http" | "https")) {
        Some(_) => Ok(()),
        None => Err(AuthError::settings(format!(
            "the issuer {issuer:?} must be a URL, such as https://login.example.com"
        ))),
    }
}

fn check_metadata_url(text: &str) -> Result<(), AuthError> {
    let url = Url::parse(text).ok().filter(|url| {
        // Parsing removes dot segments, so a path with them is not the same afterwards.
        url.as_str() == text
            && url.scheme() == "https"
            && url.path() != "/"
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none()
    });
    let message = "the client metadata URL must be https with a path, without fragment and user";
    url.map(|_| ()).ok_or_else(|| AuthError::settings(message))
}

#[cfg(test)]
mod tests {
    use super::check_metadata_url;

    #[test]
    fn client_metadata_url_is_checked() {
        assert!(check_metadata_url("https://app.example/client.json").is_ok());
        for url in [
            "http://app.example/client.json",
            "https://app.example/",
            "https://app.example",
            "https://app.example/a/../client.json",
            "https://app.example/client.json#f",
            "https://u@app.example/client.json",
            "client.json",
        ] {
            assert!(check_metadata_url(url).is_err(), "{url}");
        }
    }
}
