//! The client at an authorization server: its id, and its authentication at the token endpoint.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use serde::{Deserialize, Serialize};
use serde_json::json;
use url::form_urlencoded;

use crate::clock;
use crate::error::AuthError;
use crate::fetch::TokenForm;
use crate::key::{PrivateKey, random_text};
use crate::metadata::server::{ServerMetadata, lists};
use crate::secret::Secret;

/// The origin of a client id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ClientKind {
    /// The program or its user has it from the authorization server.
    PreRegistered,
    /// The URL of a document that describes the client.
    MetadataDocument,
    /// The authorization server registered the client by itself.
    Dynamic,
}

/// A client of one authorization server.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) kind: ClientKind,
    pub(crate) credential: Credential,
    /// The method that the registration set.
    pub(crate) method: Option<String>,
}

/// The proof of a client that it is the one with its id.
#[derive(Debug, Clone)]
pub(crate) enum Credential {
    None,
    Secret(Secret),
    Key(PrivateKey),
}

// Authentication methods of token endpoints.
const NONE: &str = "none";
const BASIC: &str = "client_secret_basic";
const POST: &str = "client_secret_post";

impl From<Option<Secret>> for Credential {
    fn from(secret: Option<Secret>) -> Self {
        secret.map_or(Self::None, Self::Secret)
    }
}

impl Client {
    /// A client whose id the program or its user has from the authorization server.
    pub(crate) fn given(id: impl Into<String>, credential: Credential) -> Self {
        Self {
            id: id.into(),
            kind: ClientKind::PreRegistered,
            credential,
            method: None,
        }
    }

    /// Adds this client's authentication to a token request.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Key`] when the key does not sign, or when the server does not accept its
    /// algorithm.
    pub(crate) fn authenticate(
        &self,
        server: &ServerMetadata,
        form: &mut TokenForm,
    ) -> Result<(), AuthError> {
        match (&self.credential, self.method(server)) {
            (Credential::Secret(secret), BASIC) => {
                form.headers.insert(AUTHORIZATION, basic(&self.id, secret)?);
            }
            (Credential::Secret(secret), POST) => {
                form.set("client_id", self.id.as_str());
                form.set("client_secret", secret.clone());
            }
            (Credential::Key(key), method) if method != NONE => {
                // The assertion names the client.
                let assertion = self.assertion(key, server)?;
                form.set("client_assertion_type", ASSERTION_TYPE);
                form.set("client_assertion", assertion);
            }
            _ => form.set("client_id", self.id.as_str()),
        }
        Ok(())
    }

    /// Selects the method of a secret: that of the registration, else the first of the server that fits.
    fn method(&self, server: &ServerMetadata) -> &'static str {
        if matches!(self.credential, Credential::None) {
            return NONE;
        }
        let known = [NONE, BASIC, POST].into_iter();
        let mut registered = known.filter(|name| self.method.as_deref() == Some(name));
        // The registration asked for this method.
        let is_registered = self.kind == ClientKind::Dynamic;
        registered.next().unwrap_or_else(|| {
            if is_registered && server.supports_method(POST) {
                POST
            } else if server.supports_method(BASIC) {
                BASIC
            } else if server.supports_method(POST) {
                POST
            } else if is_registered && server.supports_method(NONE) {
                // The server registers public clients, and gave a secret nevertheless.
                NONE
            } else {
                BASIC
            }
        })
    }

    fn assertion(&self, key: &PrivateKey, server: &ServerMetadata) -> Result<Secret, AuthError> {
        let algorithm = key.algorithm;
        let accepted = &server.token_endpoint_auth_signing_alg_values_supported;
        if lists(accepted, algorithm) == Some(false) {
            let message = format!("the authorization server does not accept {algorithm}");
            return Err(AuthError::Key(message));
        }
        let now = clock::unix_now();
        let claims = json!({
            "iss": self.id,
            "sub": self.id,
            "aud": server.issuer,
            "iat": now,
            "exp": now + 60,
            "jti": random_text(16)?,
        });
        key.sign(json!({"typ": "JWT"}), &claims)
    }
}

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// Id and secret are encoded like values of a form: RFC 6749, section 2.3.1.
pub(crate) fn basic(id: &str, secret: &Secret) -> Result<HeaderValue, AuthError> {
    let encode = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = format!("{}:{}", encode(id), encode(secret.expose()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))
        .map_err(|_| AuthError::settings("the client secret is invalid"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The stored form of a client. Secrets and keys of pre-registered clients are not stored.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ClientRecord {
    pub(crate) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) secret: Option<Secret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) redirect_uri: Option<String>,
    /// Seconds since 1970 at which the secret expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<u64>,
    /// The origin of the token endpoint when the client was registered.
    #[serde(default)]
    pub(crate) token_origin: String,
    /// The last login with this registration ended without a code, so the authorization server may have
    /// forgotten it.
    #[serde(default)]
    pub(crate) is_doubtful: bool,
}

impl ClientRecord {
    /// Returns whether another login may use the registration.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_doubtful && self.expires_at.is_none_or(|at| at > clock::unix_now())
    }
}

impl From<&ClientRecord> for Client {
    fn from(record: &ClientRecord) -> Self {
        Self {
            id: record.id.clone(),
            kind: ClientKind::Dynamic,
            credential: record.secret.clone().into(),
            method: record.method.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use url::Url;

    use super::*;

    fn server(methods: &[&str]) -> ServerMetadata {
        let mut server = ServerMetadata::at_origin(&Url::parse("https://h").unwrap());
        let methods = methods.iter().map(|&name| name.to_owned());
        server.token_endpoint_auth_methods_supported = Some(methods.collect());
        server
    }

    fn client(kind: ClientKind, credential: Credential, method: Option<&str>) -> Client {
        Client {
            id: "a b:c".to_owned(),
            kind,
            credential,
            method: method.map(str::to_owned),
        }
    }

    fn fields(form: &TokenForm) -> Vec<&str> {
        form.fields.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn method_comes_from_registration_then_from_server() {
        let secret = || Credential::Secret("s".into());
        let (given, dynamic) = (ClientKind::PreRegistered, ClientKind::Dynamic);
        for (kind, credential, registered, supported, expected) in [
            (given, secret(), None, &["client_secret_basic"][..], BASIC),
            (given, secret(), None, &["client_secret_post"], POST),
            (given, secret(), None, &["none"], BASIC),
            (dynamic, secret(), None, &["none"], NONE),
            (
                dynamic,
                secret(),
                Some("none"),
                &["client_secret_basic"],
                NONE,
            ),
            (
                dynamic,
                secret(),
                Some("client_secret_post"),
                &["client_secret_basic"],
                POST,
            ),
            (
                dynamic,
                Credential::None,
                Some("client_secret_post"),
                &["none"],
                NONE,
            ),
        ] {
            let client = client(kind, credential, registered);
            assert_eq!(
                client.method(&server(supported)),
                expected,
                "{client:?} {supported:?}"
            );
        }
    }

    #[test]
    fn basic_encodes_like_a_form() {
        let mut form = TokenForm::default();
        let client = client(
            ClientKind::PreRegistered,
            Credential::Secret("ä%".into()),
            None,
        );
        client
            .authenticate(&server(&["client_secret_basic"]), &mut form)
            .unwrap();
        let value = form.headers[AUTHORIZATION]
            .to_str()
            .unwrap()
            .strip_prefix("Basic ")
            .unwrap();
        let pair = STANDARD.decode(value).unwrap();
        assert_eq!(pair, b"a+b%3Ac:%C3%A4%25");
        assert!(form.headers[AUTHORIZATION].is_sensitive());
        assert!(fields(&form).is_empty());
    }

    #[test]
    fn public_client_sends_its_id_alone() {
        let mut form = TokenForm::default();
        let client = client(
            ClientKind::Dynamic,
            Credential::Secret("s".into()),
            Some("none"),
        );
        client.authenticate(&server(&["none"]), &mut form).unwrap();
        assert_eq!(fields(&form), ["client_id"]);
        assert!(form.headers.is_empty());
    }
}
