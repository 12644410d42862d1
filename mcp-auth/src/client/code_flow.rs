//! The authorization code flow with PKCE.
//!
//! Spec: RFC 6749, section 4.1; RFC 7636; RFC 9207; RFC 8707.

use url::Url;
use url::form_urlencoded;

use crate::client::record::TokenRequest;
use crate::error::{AuthError, OAuthCode, printable};
use crate::fetch::TokenForm;
use crate::key::{random_text, sha256_base64};
use crate::metadata::server::{S256, lists};
use crate::oauth_client::Client;
use crate::secret::Secret;

/// An authorization request, until its response is there.
pub(crate) struct AuthorizationRequest<'a> {
    pub(crate) url: Url,
    pub(crate) state: String,
    verifier: Secret,
    redirect_uri: &'a str,
    request: &'a TokenRequest<'a>,
}

impl<'a> AuthorizationRequest<'a> {
    /// Builds the authorization request with a new state and verifier.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::PkceUnsupported`] when the server does not announce S256, and
    /// [`AuthError::Malformed`] when its metadata allows no authorization request.
    // spec: AUTH-C-17, AUTH-C-18
    pub(crate) fn new(
        request: &'a TokenRequest<'a>,
        client: &Client,
        redirect_uri: &'a str,
        allows_missing_pkce: bool,
    ) -> Result<Self, AuthError> {
        let (server, scopes) = (request.server, request.scopes);
        let invalid = |reason: &str| AuthError::malformed(&server.token_endpoint, reason);
        let endpoint = server.authorization_endpoint.as_ref();
        let endpoint = endpoint.ok_or_else(|| invalid("authorization_endpoint is missing"))?;
        if lists(&server.response_types_supported, "code") == Some(false) {
            return Err(invalid(
                "the server does not support the response type code",
            ));
        }
        let announced = lists(&server.code_challenge_methods_supported, S256);
        if announced != Some(true) && !allows_missing_pkce {
            return Err(AuthError::PkceUnsupported {
                issuer: printable(&server.issuer),
            });
        }
        let (state, verifier) = (random_text(32)?, random_text(32)?);
        let challenge = sha256_base64(&verifier);
        let scope = scopes.to_string();
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", &client.id),
            ("redirect_uri", redirect_uri),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", S256),
        ];
        parameters.extend(request.resource.map(|resource| ("resource", resource)));
        if !scopes.is_empty() {
            parameters.push(("scope", &scope));
        }
        if scopes.contains("offline_access") {
            parameters.push(("prompt", "consent"));
        }
        let mut url = endpoint.clone();
        if url
            .query_pairs()
            .any(|(name, _)| parameters.iter().any(|(own, _)| *own == name))
        {
            return Err(AuthError::malformed(
                endpoint,
                "it has a parameter of the request",
            ));
        }
        url.query_pairs_mut().extend_pairs(parameters);
        Ok(Self {
            url,
            state,
            verifier: Secret::new(verifier),
            redirect_uri,
            // spec: AUTH-C-21
            request,
        })
    }

    /// Checks the response: state, issuer, error, code, in this order. Returns the form of the token
    /// request.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Callback`] for an incomplete response or one of another login,
    /// [`AuthError::CallbackIssuer`] for one of another server, and [`AuthError::Denied`] when the
    /// login was refused.
    // spec: AUTH-C-20, AUTH-C-22, AUTH-C-24
    pub(crate) fn finish(&self, response: &str) -> Result<TokenForm, AuthError> {
        let response = LoginResponse::parse(response)?;
        let state = Secret::new(self.state.as_str());
        if !response
            .state
            .as_deref()
            .is_some_and(|given| state.matches(given))
        {
            return Err(AuthError::Callback(
                "it belongs to another login".to_owned(),
            ));
        }
        // RFC 9207: the value is compared as it is, without any normalization.
        let server = self.request.server;
        let is_wrong = match response.issuer {
            Some(issuer) => issuer != server.issuer,
            None => server.authorization_response_iss_parameter_supported == Some(true),
        };
        if is_wrong {
            return Err(AuthError::CallbackIssuer {
                expected: printable(&server.issuer),
            });
        }
        if let Some(error) = response.error {
            let code = OAuthCode::new(&error, response.description.as_deref());
            return Err(AuthError::Denied(code));
        }
        let code = response.code.filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| AuthError::Callback("it has no code".to_owned()))?;
        let mut form = TokenForm::new("authorization_code");
        form.set("code", code);
        form.set("redirect_uri", self.redirect_uri);
        form.set("code_verifier", self.verifier.clone());
        form.set_resource(self.request.resource);
        Ok(form)
    }
}

#[derive(Default)]
struct LoginResponse {
    state: Option<String>,
    issuer: Option<String>,
    code: Option<String>,
    error: Option<String>,
    description: Option<String>,
}

impl LoginResponse {
    /// Reads a URL or a query. A repeated parameter is an error.
    fn parse(text: &str) -> Result<Self, AuthError> {
        let text = text.trim();
        let query = match Url::parse(text) {
            Ok(url) => url.query().unwrap_or_default().to_owned(),
            Err(_) => text.trim_start_matches('?').to_owned(),
        };
        let mut response = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let slot = match &*name {
                "state" => &mut response.state,
                "iss" => &mut response.issuer,
                "code" => &mut response.code,
                "error" => &mut response.error,
                "error_description" => &mut response.description,
                _ => continue,
            };
            if slot.replace(value.into_owned()).is_some() {
                return Err(AuthError::Callback(format!("it has {name} twice")));
            }
        }
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::server::ServerMetadata;
    use crate::oauth_client::Credential;
    use crate::scope::Scopes;

    fn server(sends_issuer: bool) -> ServerMetadata {
        let mut server = ServerMetadata::at_origin(&Url::parse("https://h").unwrap());
        server.authorization_response_iss_parameter_supported = Some(sends_issuer);
        server
    }

    fn build<'a>(
        server: &'a ServerMetadata,
        scopes: &str,
    ) -> Result<AuthorizationRequest<'a>, AuthError> {
        let client = Client::given("client", Credential::None);
        let request = Box::leak(Box::new(TokenRequest {
            server,
            resource: Some("https://h/mcp"),
            scopes: Box::leak(Box::new(Scopes::parse(scopes))),
            requires_dpop: false,
            is_legacy: false,
            previous: None,
        }));
        AuthorizationRequest::new(request, &client, "http://127.0.0.1:1/callback", false)
    }

    // spec: AUTH-C-17
    #[test]
    fn request_has_each_parameter_once_and_keeps_the_query() {
        let mut server = server(false);
        server.authorization_endpoint = Some("https://h/authorize?tenant=1".parse().unwrap());
        let login = build(&server, "a offline_access").unwrap();
        let names: Vec<String> = login
            .url
            .query_pairs()
            .map(|(name, _)| name.into_owned())
            .collect();
        assert_eq!(
            names,
            [
                "tenant",
                "response_type",
                "client_id",
                "redirect_uri",
                "state",
                "code_challenge",
                "code_challenge_method",
                "resource",
                "scope",
                "prompt"
            ]
        );
        let methods = login.url.query_pairs();
        let method = methods.filter(|(name, _)| name == "code_challenge_method");
        let method: Vec<_> = method.map(|(_, value)| value.into_owned()).collect();
        assert_eq!(method, ["S256"]);
        let scopeless = build(&server, "").unwrap();
        assert!(!scopeless.url.as_str().contains("scope"));
        server.authorization_endpoint = Some("https://h/authorize?state=1".parse().unwrap());
        assert!(matches!(
            build(&server, ""),
            Err(AuthError::Malformed { .. })
        ));
    }

    // spec: AUTH-C-18
    #[test]
    fn request_without_announced_pkce_is_refused() {
        let mut server = server(false);
        server.code_challenge_methods_supported = None;
        assert!(matches!(
            build(&server, ""),
            Err(AuthError::PkceUnsupported { .. })
        ));
    }

    // spec: AUTH-C-20, AUTH-C-22, AUTH-C-24
    #[test]
    fn finish_checks_state_issuer_and_error_in_this_order() {
        // spec: AUTH-C-21
        let check = |sends_issuer: bool, query: &str| {
            let server = server(sends_issuer);
            let login = build(&server, "").unwrap();
            login
                .finish(&query.replace("STATE", &login.state))
                .map(|form| form.fields.len())
        };
        assert_eq!(
            check(true, "state=STATE&iss=https%3A%2F%2Fh&code=c").unwrap(),
            5
        );
        assert_eq!(
            check(false, "http://127.0.0.1:1/callback?state=STATE&code=c").unwrap(),
            5
        );
        assert_eq!(check(false, "state=STATE&iss=https://h&code=c").unwrap(), 5);
        for (sends_issuer, query) in [
            (true, "state=STATE&code=c"),
            (true, "state=STATE&code=c&iss=https://h/"),
            (false, "state=STATE&code=c&iss=https://evil.example"),
            (
                false,
                "state=STATE&error=x&error_description=hidden&iss=https://evil.example",
            ),
        ] {
            let error = check(sends_issuer, query).unwrap_err();
            assert!(
                matches!(error, AuthError::CallbackIssuer { .. }),
                "{query}: {error}"
            );
            assert!(!error.to_string().contains("evil") && !error.to_string().contains("hidden"));
        }
        for query in [
            "code=c",
            "state=other&code=c",
            "state=STATE&code=c&code=d",
            "state=STATE&state=STATE&code=c",
            "state=STATE",
            "state=STATE&code=",
        ] {
            let error = check(false, query).unwrap_err();
            assert!(matches!(error, AuthError::Callback(_)), "{query}: {error}");
        }
        let denied = check(false, "state=STATE&error=access_denied").unwrap_err();
        assert!(matches!(denied, AuthError::Denied(_)));
    }
}
