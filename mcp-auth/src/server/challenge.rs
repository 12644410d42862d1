//! Responses to requests that are not admitted.
//!
//! Spec: RFC 6750, section 3; RFC 9449, section 7.1; RFC 9728, section 5.1.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::jwt::Algorithm;
use crate::challenge::TokenType;
use crate::dpop::{DPOP_NONCE, Dpop};
use crate::scope::Scopes;

/// Seconds after which a client may ask again when tokens cannot be checked.
const RETRY_SECONDS: u64 = 5;

/// Reason why a request is not admitted. Clients receive constant texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The request has no token in a scheme that this server accepts.
    NoToken,
    /// The header cannot be read, or there are several.
    Malformed,
    /// The token is not valid, in the scheme in which it was sent.
    InvalidToken(TokenType),
    InvalidProof,
    /// The proof needs a nonce.
    UseNonce,
    /// The token lacks scopes.
    InsufficientScope(TokenType, Scopes),
    /// The token cannot be checked now.
    Unavailable,
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Malformed => StatusCode::BAD_REQUEST,
            Self::InsufficientScope(..) => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::UNAUTHORIZED,
        }
    }

    /// Returns the reason in metrics.
    pub(super) fn reason(&self) -> &'static str {
        self.error().0.unwrap_or("no_token")
    }

    /// The error code, a text for developers, and the scheme that the error is about.
    fn error(&self) -> (Option<&'static str>, &'static str, Option<TokenType>) {
        match self {
            Self::NoToken => (None, "this server needs an access token", None),
            Self::Malformed => (
                Some("invalid_request"),
                "the Authorization header is malformed",
                None,
            ),
            Self::InvalidToken(scheme) => (
                Some("invalid_token"),
                "the access token is not valid for this server",
                Some(*scheme),
            ),
            Self::InvalidProof => (
                Some("invalid_dpop_proof"),
                "the DPoP proof is not valid for this request",
                Some(TokenType::Dpop),
            ),
            Self::UseNonce => (
                Some("use_dpop_nonce"),
                "the DPoP proof needs the nonce of this response",
                Some(TokenType::Dpop),
            ),
            Self::InsufficientScope(scheme, _) => (
                Some("insufficient_scope"),
                "the access token lacks a scope",
                Some(*scheme),
            ),
            Self::Unavailable => (
                Some("temporarily_unavailable"),
                "the access token cannot be checked at the moment",
                None,
            ),
        }
    }
}

/// The constant parts of a resource's challenges.
#[derive(Debug)]
pub(super) struct Challenges {
    pub(super) policy: Dpop,
    /// The metadata's URL.
    pub(super) metadata: Option<String>,
    /// Scopes that a client without a token should ask for.
    pub(super) scopes: Scopes,
}

impl Challenges {
    /// Returns the response to a request that is not admitted.
    // spec: AUTH-S-02, AUTH-S-03, AUTH-S-07, AUTH-S-08
    pub(super) fn response(&self, refusal: &Refusal, nonce: Option<String>) -> Response<Bytes> {
        let (code, description, _) = refusal.error();
        let code = code.map_or_else(String::new, |code| format!(r#""error":"{code}","#));
        let body = format!(r#"{{{code}"error_description":"{description}"}}"#);
        let mut response = Response::new(body.into());
        *response.status_mut() = refusal.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match refusal {
            Refusal::Unavailable => {
                headers.insert(RETRY_AFTER, HeaderValue::from(RETRY_SECONDS));
            }
            _ => self.add(headers, refusal),
        }
        set_nonce(headers, nonce);
        response
    }

    /// Replaces the challenges of a response.
    pub(super) fn add(&self, headers: &mut HeaderMap, refusal: &Refusal) {
        headers.remove(WWW_AUTHENTICATE);
        let schemes: &[TokenType] = match self.policy {
            Dpop::Off => &[TokenType::Bearer],
            Dpop::Optional => &[TokenType::Bearer, TokenType::Dpop],
            Dpop::Required => &[TokenType::Dpop],
        };
        let (code, description, about) = refusal.error();
        // An error can only stand in the challenge of a scheme that the server offers.
        let about = about.filter(|about| schemes.contains(about));
        for &scheme in schemes {
            let mut parameters = Vec::new();
            if let Some(code) = code
                && about.is_none_or(|about| about == scheme)
            {
                parameters.push(format!(r#"error="{code}""#));
                parameters.push(format!(r#"error_description="{description}""#));
            }
            if let Some(url) = &self.metadata {
                parameters.push(format!(r#"resource_metadata="{url}""#));
            }
            let scopes = match refusal {
                Refusal::InsufficientScope(_, scopes) => scopes,
                _ => &self.scopes,
            };
            if !scopes.is_empty() {
                parameters.push(format!(r#"scope="{scopes}""#));
            }
            let name = match scheme {
                TokenType::Bearer => "Bearer",
                TokenType::Dpop => {
                    let names = Algorithm::DEFAULT.map(Algorithm::name).join(" ");
                    parameters.push(format!(r#"algs="{names}""#));
                    "DPoP"
                }
            };
            let challenge = format!("{name} {}", parameters.join(", "));
            if let Ok(challenge) = HeaderValue::try_from(challenge.trim_end()) {
                headers.append(WWW_AUTHENTICATE, challenge);
            }
        }
    }
}

/// Adds a nonce for the client's next proofs.
pub(super) fn set_nonce(headers: &mut HeaderMap, nonce: Option<String>) {
    if let Some(nonce) = nonce.and_then(|nonce| HeaderValue::try_from(nonce).ok()) {
        headers.insert(DPOP_NONCE, nonce);
    }
}

#[cfg(test)]
mod tests {
    use http::header::WWW_AUTHENTICATE;

    use super::*;
    use crate::challenge::Challenge;

    fn headers(policy: Dpop, refusal: &Refusal) -> HeaderMap {
        let challenges = Challenges {
            policy,
            metadata: Some("https://mcp.example/.well-known/x".to_owned()),
            scopes: Scopes::parse("mcp:use"),
        };
        challenges
            .response(refusal, Some("n".to_owned()))
            .into_parts()
            .0
            .headers
    }

    #[test]
    fn client_parser_reads_what_the_server_writes() {
        let refusal = Refusal::InsufficientScope(TokenType::Bearer, Scopes::parse("a b"));
        let headers = headers(Dpop::Optional, &refusal);
        let challenge = Challenge::select(&headers, false).unwrap();
        assert!(challenge.is_insufficient_scope());
        assert_eq!(challenge.scope, Some(Scopes::parse("a b")));
        let url = "https://mcp.example/.well-known/x";
        assert_eq!(challenge.resource_metadata.as_deref(), Some(url));
        let other = Challenge::select(&headers, true).unwrap();
        assert_eq!((other.scheme, other.error), (TokenType::Dpop, None));
    }

    #[test]
    fn schemes_follow_the_policy() {
        for (policy, refusal, expected) in [
            (
                Dpop::Off,
                Refusal::NoToken,
                &["Bearer resource_metadata="][..],
            ),
            (
                Dpop::Required,
                Refusal::NoToken,
                &["DPoP resource_metadata="],
            ),
            (
                Dpop::Required,
                Refusal::InvalidToken(TokenType::Bearer),
                &[r#"DPoP error="invalid_token", "#],
            ),
            (
                Dpop::Optional,
                Refusal::UseNonce,
                &[
                    "Bearer resource_metadata=",
                    r#"DPoP error="use_dpop_nonce", "#,
                ],
            ),
        ] {
            let headers = headers(policy, &refusal);
            let lines = headers.get_all(WWW_AUTHENTICATE).iter();
            let lines: Vec<_> = lines.map(|line| line.to_str().unwrap()).collect();
            assert_eq!(lines.len(), expected.len());
            for (line, start) in lines.iter().zip(expected) {
                assert!(line.starts_with(start), "{line}");
            }
        }
    }
}
