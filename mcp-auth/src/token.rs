//! The token endpoint: one function for every grant.
//!
//! Spec: RFC 6749, section 5; RFC 8707; RFC 9449, section 5.

use http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::challenge::TokenType;
use crate::client::Client;
use crate::clock;
use crate::dpop::DPOP;
use crate::error::AuthError;
use crate::fetch::{Fetched, Fetcher, TokenForm};
use crate::key::ProofKey;
use crate::limits::MAX_TOKEN;
use crate::metadata::server::ServerMetadata;
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
    expires_in: Option<Value>,
    scope: Option<String>,
    issued_token_type: Option<String>,
}

/// The token endpoint of an authorization server.
pub(crate) struct TokenEndpoint<'a> {
    pub(crate) fetcher: &'a Fetcher,
    pub(crate) server: &'a ServerMetadata,
    pub(crate) key: Option<&'a ProofKey>,
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
        read(&fetched)
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

/// The error of a response without success.
pub(crate) fn rejection(fetched: &Fetched) -> AuthError {
    if fetched.is_transient() {
        return fetched.transient_error();
    }
    AuthError::TokenRejected(fetched.failure())
}

/// Reads a response. Harmless deviations are accepted: a lifetime as text, a missing token type.
pub(crate) fn read(fetched: &Fetched) -> Result<Tokens, AuthError> {
    let invalid = |reason: &str| AuthError::malformed(&fetched.url, reason);
    if !fetched.status.is_success() {
        return Err(rejection(fetched));
    }
    // Some servers answer errors with status 200.
    if let Some(code) = fetched.oauth_code() {
        return Err(AuthError::TokenRejected(code));
    }
    let response: TokenResponse = fetched.json()?;
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
    let token_type = match response.token_type.as_deref() {
        None => TokenType::Bearer,
        // The assertion of an identity provider is not an access token.
        Some(name) if name.eq_ignore_ascii_case("n_a") => TokenType::Bearer,
        Some(name) if name.eq_ignore_ascii_case("bearer") => TokenType::Bearer,
        Some(name) if name.eq_ignore_ascii_case("dpop") => TokenType::Dpop,
        Some(_) => return Err(invalid("token_type is neither Bearer nor DPoP")),
    };
    let lifetime = response.expires_in.as_ref().and_then(seconds);
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
            .map(Scopes::parse)
            .filter(|scopes| !scopes.is_empty()),
        issued_type: response.issued_token_type,
    })
}

/// Returns whether a text can be an access token in a header.
pub(crate) fn is_token(token: &Secret) -> bool {
    let text = token.expose();
    !text.is_empty() && text.len() <= MAX_TOKEN && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn seconds(value: &Value) -> Option<u64> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number
        .filter(|&number| number > 0.0)
        .map(|number| number as u64)
}

#[cfg(test)]
mod tests {
    use http::Response;

    use super::{TokenType, read};
    use crate::error::AuthError;
    use crate::fetch::fetched;

    fn tokens(body: &'static str) -> Result<super::Tokens, AuthError> {
        read(&fetched("https://h/token", Response::new(body)))
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
            r#"["hidden"]"#,
            "",
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
    fn read_tells_rejection_from_temporary_failure() {
        let response = |status: u16, body| {
            let response = Response::builder().status(status).body(body).unwrap();
            read(&fetched("https://h/token", response)).unwrap_err()
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
        assert!(!response(403, "<html>").is_transient());
        let rejected = response(200, r#"{"error":"access_denied"}"#);
        assert!(matches!(rejected, AuthError::TokenRejected(_)));
    }
}
