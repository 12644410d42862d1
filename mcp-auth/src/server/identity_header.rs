//! [`IdentityHeader`]: a request's caller, for services behind this server.
//!
//! Spec: RFC 7519, RFC 9493.

use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use mcp_core::Principal;
use mcp_transport_http::headers::names::LAST_EVENT_ID;
use serde_json::json;

use crate::clock;
use crate::error::AuthError;
use crate::key::{PrivateKey, random_text};

/// Seconds for which a token is valid.
const LIFETIME: u64 = 60;

/// Headers that the connection or the protocol uses.
const RESERVED: [&str; 11] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "te",
    "transfer-encoding",
    "upgrade",
];

/// A header that names a request's caller: a signed JSON Web Token, valid for 60 seconds. For services in the same
/// network that trust this program instead of an authorization server. Other services need a
/// [`TokenExchange`](super::TokenExchange).
///
/// | claim | value |
/// |---|---|
/// | `iss`, `aud` | the issuer and the audience of the settings |
/// | `sub`, `sub_id` | the caller's subject; in `sub_id` with its issuer, in the format `iss_sub` |
/// | `client_id` | the caller's OAuth client, if it is known |
/// | `iat`, `exp`, `jti` | issue time, expiry, a random id |
///
/// The service checks the signature, `iss`, `aud` and `exp`. Use it only in a network that nobody else can read: whoever
/// records the header can use it for 60 seconds.
///
/// # Examples
///
/// ```no_run
/// use mcp::auth::{IdentityHeader, PrivateKey};
/// use mcp::gateway::GatewayServer;
///
/// # fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let key = PrivateKey::from_pem(&std::fs::read_to_string("gateway.pem")?)?;
/// let identity = IdentityHeader::new("X-Caller", key, "https://gateway.internal", "crm")?;
/// let crm = GatewayServer::new("crm", |client| client.connect("http://crm.internal/mcp"))
///     .forward_identity(identity);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct IdentityHeader(Arc<HeaderSettings>);

#[derive(Debug)]
struct HeaderSettings {
    name: HeaderName,
    key: PrivateKey,
    issuer: String,
    audience: String,
}

impl IdentityHeader {
    /// Creates the header `name`. `issuer` is this program, `audience` the service.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when `name` is not a header name, or has a meaning for the connection or the
    /// protocol.
    pub fn new(
        name: &str,
        key: PrivateKey,
        issuer: impl Into<String>,
        audience: impl Into<String>,
    ) -> Result<Self, AuthError> {
        let invalid =
            || AuthError::settings(format!("{name:?} cannot be the header of an identity"));
        let name = HeaderName::try_from(name).map_err(|_| invalid())?;
        let text = name.as_str();
        let is_reserved = RESERVED.contains(&text) || name == LAST_EVENT_ID;
        if is_reserved || text.starts_with("mcp-") || text.starts_with("proxy-") {
            return Err(invalid());
        }
        Ok(Self(Arc::new(HeaderSettings {
            name,
            key,
            issuer: issuer.into(),
            audience: audience.into(),
        })))
    }

    /// Returns the header name.
    pub fn name(&self) -> &HeaderName {
        &self.0.name
    }

    /// Returns the header value for a caller.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the system has no random numbers.
    pub fn value(&self, caller: &Principal) -> Result<HeaderValue, AuthError> {
        let HeaderSettings {
            key,
            issuer,
            audience,
            ..
        } = &*self.0;
        let (now, subject) = (clock::unix_now(), &caller.subject);
        let mut claims = json!({
            "iss": issuer,
            "aud": audience,
            "sub": subject,
            "sub_id": {"format": "iss_sub", "iss": caller.issuer, "sub": subject},
            "iat": now,
            "exp": now + LIFETIME,
            "jti": random_text(16)?,
        });
        if let Some(client) = &caller.client {
            claims["client_id"] = json!(client);
        }
        let token = key.sign(json!({"typ": "JWT"}), &claims)?;
        let value = HeaderValue::try_from(token.expose());
        let mut value = value.map_err(|error| AuthError::settings(error.to_string()))?;
        value.set_sensitive(true);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use mcp_core::Principal;
    use ring::rand::SystemRandom;
    use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
    use serde_json::{Value, json};

    use super::{IdentityHeader, LIFETIME};
    use crate::key::PrivateKey;

    fn key() -> (PrivateKey, Vec<u8>) {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        let pair = Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap();
        let body = STANDARD.encode(pkcs8.as_ref());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\n");
        let key = PrivateKey::from_pem(&pem).unwrap().key_id("one");
        (key, pair.public_key().as_ref().to_vec())
    }

    #[test]
    fn token_names_the_caller_for_a_minute() {
        let (key, public) = key();
        let header = IdentityHeader::new("X-Caller", key, "gateway", "crm").unwrap();
        assert_eq!(header.name(), "x-caller");
        let caller = Principal::new("https://login", "ada").client("editor");
        let value = header.value(&caller).unwrap();
        assert!(value.is_sensitive());
        let (input, signature) = value.to_str().unwrap().rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let public = UnparsedPublicKey::new(&ED25519, public);
        public.verify(input.as_bytes(), &signature).unwrap();
        let parts = input.split('.').map(|part| {
            let json = URL_SAFE_NO_PAD.decode(part).unwrap();
            serde_json::from_slice::<Value>(&json).unwrap()
        });
        let parts: Vec<_> = parts.collect();
        assert_eq!(
            parts[0],
            json!({"typ": "JWT", "alg": "EdDSA", "kid": "one"})
        );
        let claims = &parts[1];
        for (name, expected) in [
            ("iss", json!("gateway")),
            ("aud", json!("crm")),
            ("sub", json!("ada")),
            (
                "sub_id",
                json!({"format": "iss_sub", "iss": "https://login", "sub": "ada"}),
            ),
            ("client_id", json!("editor")),
        ] {
            assert_eq!(claims[name], expected);
        }
        let time = |name: &str| claims[name].as_u64().unwrap();
        assert_eq!(time("exp") - time("iat"), LIFETIME);
        assert_ne!(header.value(&caller).unwrap(), value);
    }

    #[test]
    fn protocol_headers_are_refused() {
        for name in ["Authorization", "Host", "Mcp-Session-Id", "a b", ""] {
            let error = IdentityHeader::new(name, key().0, "gateway", "crm").unwrap_err();
            assert!(error.to_string().contains(name), "{error}");
        }
    }
}
