//! The token endpoint: one function for every grant.
//!
//! Spec: RFC 6749, section 5; RFC 8707; RFC 9449, section 5.

use http::Method;
use serde::Deserialize;

use crate::challenge::TokenType;
use crate::clock;
use crate::dpop::DPOP;
use crate::error::AuthError;
use crate::fetch::{Fetched, Fetcher, TokenForm};
use crate::key::ProofKey;
use crate::lenient;
use crate::limits::MAX_TOKEN;
use crate::metadata::server::ServerMetadata;
use crate::oauth_client::Client;
use crate::scope::Scopes;
use crate::secret::Secret;

/// The tokens in a response.
#[derive(Debug, Clone)]
pub(crate) struct Tokens {
    pub(crate) access: Secret,
    pub(crate) token_type: TokenType,
    pub(crate) refresh: Option<Secret>,
    /// Seconds since 1970.
    pub(crate) expires_at: Option<u64>,
    pub(crate) lifetime: Option<u64>,
    /// The granted scopes, if the server named them.
    pub(crate) scopes: Option<Scopes>,
    pub(crate) issued_type: Option<String>,
}

#[derive(Deserialize)]
struct TokenResponse {
    access_token: Secret,
    token_type: Option<String>,
    refresh_token: Option<Secret>,
    #[serde(default, deserialize_with = "lenient::seconds")]
    expires_in: Option<u64>,
    scope: Option<String>,
    issued_token_type: Option<String>,
}

/// The token endpoint of an authorization server.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) server: &'a ServerMetadata,
    pub(crate) key: Option<&'a ProofKey>,
    /// The scopes that a response may grant.
    pub(crate) requested: &'a Scopes,
}

impl TokenEndpoint<'_> {
    /// Requests tokens for a client.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::TokenRejected`] when the server refuses.
    pub(crate) async fn request(
        &self,
        client: &Client,
        mut form: TokenForm,
    ) -> Result<Tokens, AuthError> {
        client.authenticate(self.server, &mut form)?;
        self.send(&form).await
    }

    /// Sends a complete form. A response that demands a nonce is answered once.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::TokenRejected`] when the server refuses.
    pub(crate) async fn send(&self, form: &TokenForm) -> Result<Tokens, AuthError> {
        let mut fetched = self.post(form).await?;
        let nonces = &self.fetcher.nonces;
        let had_nonce = nonces.update(&fetched.url, &fetched.headers);
        if self.key.is_some() && had_nonce && is_nonce_demand(&fetched) {
            fetched = self.post(form).await?;
            nonces.update(&fetched.url, &fetched.headers);
        }
        read(&fetched, self.requested)
    }

    async fn post(&self, form: &TokenForm) -> Result<Fetched, AuthError> {
        let url = &self.server.token_endpoint;
        let Some(key) = self.key else {
            return self.fetcher.post_form(url, form).await;
        };
        let mut form = form.clone();
        let proof = self.fetcher.nonces.proof(key, &Method::POST, url, None)?;
        form.headers.insert(DPOP, proof);
        self.fetcher.post_form(url, &form).await
    }
}

fn is_nonce_demand(fetched: &Fetched) -> bool {
    let refused = fetched.oauth_code();
    !fetched.status.is_success() && refused.is_some_and(|code| code.code == "use_dpop_nonce")
}

/// Returns the error of a response without tokens. Only an OAuth error in the body is a refusal, whatever the
/// status: other responses may come from something that stands before the authorization server.
pub(crate) fn rejection(fetched: &Fetched) -> AuthError {
    match fetched.oauth_code() {
        Some(code) if code.ends_credentials() => AuthError::TokenRejected(code),
        Some(code) if !fetched.is_transient() && !code.is_temporary() => {
            AuthError::TokenRejected(code)
        }
        _ => fetched.unexpected(),
    }
}

/// Reads a response. Harmless deviations are accepted: a lifetime as text, a missing token type.
pub(crate) fn read(fetched: &Fetched, requested: &Scopes) -> Result<Tokens, AuthError> {
    let invalid = |reason: &str| AuthError::malformed(&fetched.url, reason);
    // Some servers answer errors with status 200, or with a page.
    if !fetched.status.is_success() || fetched.oauth_code().is_some() || !fetched.has_members() {
        return Err(rejection(fetched));
    }
    let response: TokenResponse = fetched.members()?;
    if !is_token(&response.access_token) {
        return Err(invalid(
            "access_token is empty, too long, or no visible ASCII",
        ));
    }
    if response
        .refresh_token
        .as_ref()
        .is_some_and(|token| token.expose().len() > MAX_TOKEN)
    {
        return Err(invalid("refresh_token is too long"));
    }
    let name = response.token_type.unwrap_or_else(|| "bearer".to_owned());
    let token_type = match &*name.to_ascii_lowercase() {
        // `n_a`: the assertion of an identity provider is not an access token. Slack names the owner of a bearer
        // token.
        "bearer" | "n_a" | "user" | "bot" => TokenType::Bearer,
        "dpop" => TokenType::Dpop,
        _ => return Err(invalid("token_type is neither Bearer nor DPoP")),
    };
    let lifetime = response.expires_in;
    Ok(Tokens {
        access: response.access_token,
        token_type,
        refresh: response
            .refresh_token
            .filter(|token| !token.expose().is_empty()),
        expires_at: lifetime.map(|lifetime| clock::unix_now().saturating_add(lifetime)),
        lifetime,
        scopes: response
            .scope
            .as_deref()
            .map(|text| Scopes::granted(text, requested))
            .filter(|scopes| !scopes.is_empty()),
        issued_type: response.issued_token_type,
    })
}

/// Returns whether a text can be an access token in a header.
pub(crate) fn is_token(token: &Secret) -> bool {
    let text = token.expose();
    !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::{TokenType, read};
    use crate::error::AuthError;
    use crate::fetch::fetched;
    use crate::scope::Scopes;

    fn tokens(body: &'static str) -> Result<super::Tokens, AuthError> {
        let requested = Scopes::parse("repo gist");
        read(&fetched("https://h/token", Response::new(body)), &requested)
    }

    #[test]
    fn read_accepts_harmless_deviations() {
        for (body, lifetime) in [
            (r#"{"access_token":"a","expires_in":3600}"#, Some(3600)),
            (
                r#"{"access_token":"a","expires_in":"3600","token_type":"bearer"}"#,
                Some(3600),
            ),
            (
                r#"{"access_token":"a","expires_in":3600.5,"extra":{}}"#,
                Some(3600),
            ),
            (r#"{"access_token":"a","expires_in":null,"scope":""}"#, None),
            (
                r#"{"access_token":"a","expires_in":-1,"refresh_token":""}"#,
                None,
            ),
        ] {
            let tokens = tokens(body).unwrap();
            assert_eq!(tokens.lifetime, lifetime, "{body}");
            assert_eq!(tokens.token_type, TokenType::Bearer);
            assert!(tokens.refresh.is_none() && tokens.scopes.is_none());
        }
    }

    #[test]
    fn read_refuses_unusable_tokens_without_quoting_them() {
        for body in [
            r#"{"access_token":""}"#,
            r#"{"access_token":"hidden\nx"}"#,
            r#"{"access_token":"hidden","token_type":"mac"}"#,
            r#"{"access_token":7}"#,
        ] {
            let error = tokens(body).unwrap_err();
            assert!(
                matches!(error, AuthError::Malformed { .. }),
                "{body}: {error}"
            );
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }

    #[test]
    fn read_refuses_tokens_over_16_kib() {
        for (name, longest) in [("access_token", 16 << 10), ("refresh_token", 16 << 10)] {
            for (length, is_accepted) in [(longest, true), (longest + 1, false)] {
                let mut body = serde_json::json!({"access_token": "a"});
                body[name] = "a".repeat(length).into();
                let read = tokens(body.to_string().leak());
                assert_eq!(read.is_ok(), is_accepted, "{name} of {length} bytes");
            }
        }
    }

    #[test]
    fn read_splits_requested_scopes_at_commas() {
        for (scope, expected) in [
            ("repo,gist", "repo gist"),
            ("repo,admin", "repo,admin"),
            ("repo gist,admin", "repo gist,admin"),
        ] {
            let body = format!(r#"{{"access_token":"a","scope":"{scope}"}}"#);
            let scopes = tokens(body.leak()).unwrap().scopes.unwrap();
            assert_eq!(scopes.to_string(), expected);
        }
    }

    #[test]
    fn read_accepts_forms_and_user_tokens() {
        let form = Response::builder().header("content-type", "application/x-www-form-urlencoded");
        let form = form
            .body("access_token=a&expires_in=60&token_type=bearer")
            .unwrap();
        let read = read(&fetched("https://h/token", form), &Scopes::default()).unwrap();
        assert_eq!((read.access.expose(), read.lifetime), ("a", Some(60)));
        let nested = r#"{"ok":true,"authed_user":{"access_token":"u","token_type":"user"}}"#;
        assert_eq!(tokens(nested).unwrap().access.expose(), "u");
    }

    #[test]
    fn read_tells_rejection_from_temporary_failure() {
        let response = |status: u16, body| {
            let response = Response::builder().status(status).body(body).unwrap();
            read(&fetched("https://h/token", response), &Scopes::default()).unwrap_err()
        };
        let rejected = response(
            400,
            r#"{"error":"invalid_grant","error_description":"a\nb"}"#,
        );
        assert!(
            matches!(&rejected, AuthError::TokenRejected(code) if code.code == "invalid_grant")
        );
        assert!(rejected.to_string().contains("a\\nb"), "{rejected}");
        for status in [408, 425, 429, 500, 503] {
            assert!(response(status, "").is_transient(), "{status}");
        }
        // Something else than the authorization server has answered.
        for (status, body) in [
            (403, "<html>"),
            (404, ""),
            (302, "{}"),
            (200, "<html>"),
            (200, ""),
        ] {
            assert!(response(status, body).is_transient(), "{status} {body}");
        }
        let limited = response(400, r#"{"error":"temporarily_unavailable"}"#);
        assert!(limited.is_transient());
        for status in [200, 302, 403, 404, 500] {
            let rejected = response(status, r#"{"error":"invalid_grant"}"#);
            assert!(matches!(rejected, AuthError::TokenRejected(_)), "{status}");
        }
        let rejected = response(200, r#"{"error":"access_denied"}"#);
        assert!(matches!(rejected, AuthError::TokenRejected(_)));
    }
}
