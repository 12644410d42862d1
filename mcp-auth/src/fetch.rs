//! The login's HTTP client: checked URLs, no cookies, bounded sizes and times.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Collected, Limited};
use mcp_core::ChannelError;
use mcp_transport_http::client::{ChannelService, HttpBody, HttpClient};
use mcp_types::JsonObject;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_service::Service;
use url::{Url, form_urlencoded};

use crate::dpop::Nonces;
use crate::egress::EgressRules;
use crate::error::{AuthError, OAuthCode, printable, shown};
use crate::excerpt;
use crate::limits::{Limits, MAX_DEPTH, MAX_REDIRECTS};
use crate::secret::Secret;

/// A response that was read completely.
pub(crate) struct Fetched {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) url: Url,
}

impl Fetched {
    /// Returns whether the failure is temporary: the metadata may exist.
    pub(crate) fn is_transient(&self) -> bool {
        self.status.is_server_error() || matches!(self.status.as_u16(), 408 | 425 | 429)
    }

    /// Returns whether the body is a JSON object.
    pub(crate) fn is_json(&self) -> bool {
        self.body.trim_ascii_start().first() == Some(&b'{')
            && serde_json::from_slice::<serde::de::IgnoredAny>(&self.body).is_ok()
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Malformed`] when it is other JSON, or is nested too deeply.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        // The message of the parser could quote a token.
        self.parse(|error| {
            format!(
                "no valid JSON of this kind (line {}, column {})",
                error.line(),
                error.column()
            )
        })
    }

    /// Reads the body of a document without secrets as JSON. The message names the mistake.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`json`](Self::json).
    pub(crate) fn public_json<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        self.parse(|error| printable(&error.to_string()))
    }

    fn parse<T: DeserializeOwned>(
        &self,
        describe: impl FnOnce(serde_json::Error) -> String,
    ) -> Result<T, AuthError> {
        if depth(&self.body) > MAX_DEPTH {
            return Err(AuthError::malformed(
                &self.url,
                "its JSON is nested too deeply",
            ));
        }
        let read = serde_json::from_slice(&self.body);
        read.map_err(|error| AuthError::malformed(&self.url, describe(error)))
    }

    /// Returns whether the body is a JSON object or a form.
    pub(crate) fn has_members(&self) -> bool {
        self.is_json() || self.is_form()
    }

    fn is_form(&self) -> bool {
        let kind = self.headers.get(CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(FORM.as_bytes()))
    }

    /// Reads the body of a token endpoint: JSON, or a form. Tokens may be in the member `authed_user`.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`json`](Self::json).
    pub(crate) fn members<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        let mut members: JsonObject = if self.is_form() {
            let pairs = form_urlencoded::parse(&self.body).into_owned();
            pairs.map(|(name, value)| (name, value.into())).collect()
        } else {
            self.json()?
        };
        // Slack, for tokens of users.
        if !members.contains_key("access_token")
            && let Some(Value::Object(user)) = members.remove("authed_user")
        {
            members = user;
        }
        // The message of the parser could quote a token.
        serde_json::from_value(Value::Object(members))
            .map_err(|_| AuthError::malformed(&self.url, "a member is missing or of another type"))
    }

    /// The error code of OAuth in the body.
    pub(crate) fn oauth_code(&self) -> Option<OAuthCode> {
        let body: ErrorBody = self.members().ok()?;
        let description = body.error_description.as_deref();
        Some(OAuthCode::new(&body.error, description))
    }

    /// The reason of a response without success: its error code, else its status with an excerpt.
    pub(crate) fn failure(&self) -> OAuthCode {
        let status = || {
            let excerpt = excerpt::of(&self.body);
            OAuthCode::new(&format!("HTTP status {}", self.status), excerpt.as_deref())
        };
        self.oauth_code().unwrap_or_else(status)
    }

    /// Returns the error of a response that is not an answer: nothing is known to be refused.
    pub(crate) fn unexpected(&self) -> AuthError {
        AuthError::unavailable(&self.url, self.failure().to_string())
    }
}

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    error_description: Option<String>,
}

const FORM: &str = "application/x-www-form-urlencoded";

/// A form that grows, together with its request's headers.
#[derive(Clone, Default)]
pub(crate) struct TokenForm {
    pub(crate) headers: HeaderMap,
    pub(crate) fields: Vec<(&'static str, Secret)>,
}

impl TokenForm {
    pub(crate) fn new(grant_type: &str) -> Self {
        let mut form = Self::default();
        form.set("grant_type", grant_type);
        form
    }

    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<Secret>) {
        self.fields.push((name, value.into()));
    }

    /// Sets the resource indicator, if there is one.
    pub(crate) fn set_resource(&mut self, resource: Option<&str>) {
        self.fields
            .extend(resource.map(|resource| ("resource", resource.into())));
    }

    fn encode(&self) -> String {
        let pairs = self.fields.iter();
        form_urlencoded::Serializer::new(String::new())
            .extend_pairs(pairs.map(|(name, value)| (*name, value.expose())))
            .finish()
    }
}

/// Returns the largest nesting of JSON.
pub(crate) fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for &byte in json {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The login's HTTP client.
pub(crate) struct Fetcher {
    http: ChannelService,
    rules: Arc<EgressRules>,
    limits: Limits,
    pub(crate) nonces: Nonces,
}

impl Fetcher {
    /// Creates a fetcher with an HTTP client of its own, which checks the addresses of names.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when TLS cannot be set up.
    pub(crate) fn new(rules: EgressRules, limits: Limits) -> Result<Self, AuthError> {
        let rules = Arc::new(rules);
        let resolver = Arc::clone(&rules);
        let http = HttpClient::builder()
            .check_addresses(move |name, address| resolver.check_address(name, address))
            .connect_timeout(std::time::Duration::from_secs(5))
            .build();
        let http = http.map_err(|error| AuthError::settings(error.to_string()))?;
        Ok(Self::over(ChannelService::new(http), rules, limits))
    }

    /// Creates a fetcher over the host's HTTP client. That client resolves the names.
    pub(crate) fn over(http: ChannelService, rules: Arc<EgressRules>, limits: Limits) -> Self {
        Self {
            http,
            rules,
            limits,
            nonces: Nonces::default(),
        }
    }

    pub(crate) fn check(&self, url: &Url) -> Result<(), AuthError> {
        self.rules.check(url)
    }

    /// Fetches metadata. Follows redirects to the same origin.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when a URL is refused, or when no complete response arrives.
    pub(crate) async fn get(&self, url: &Url) -> Result<Fetched, AuthError> {
        let mut url = url.clone();
        let mut redirects = 0;
        loop {
            let fetched = self
                .send(Method::GET, &url, HeaderMap::new(), Bytes::new())
                .await?;
            if !fetched.status.is_redirection() || redirects == MAX_REDIRECTS {
                return Ok(fetched);
            }
            let location = fetched
                .headers
                .get(LOCATION)
                .and_then(|value| value.to_str().ok());
            let Some(target) = location.and_then(|location| url.join(location).ok()) else {
                return Ok(fetched);
            };
            let is_upgrade = url.scheme() == "http" && target.scheme() == "https";
            if target.origin() != url.origin() && !(is_upgrade && target.host() == url.host()) {
                return Ok(fetched);
            }
            url = target;
            redirects += 1;
        }
    }

    /// Posts a form. Redirects are not followed.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when the URL is refused, or when no complete response arrives.
    pub(crate) async fn post_form(
        &self,
        url: &Url,
        form: &TokenForm,
    ) -> Result<Fetched, AuthError> {
        let mut headers = form.headers.clone();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
        self.send(Method::POST, url, headers, form.encode().into())
            .await
    }

    /// Posts JSON. Redirects are not followed.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when the URL is refused, or when no complete response arrives.
    pub(crate) async fn post_json(&self, url: &Url, body: Bytes) -> Result<Fetched, AuthError> {
        let json = HeaderValue::from_static("application/json");
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
        self.send(Method::POST, url, headers, body).await
    }

    async fn send(
        &self,
        method: Method,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Fetched, AuthError> {
        let exchange = async {
            let response = self.request(method, url, headers, body).await?;
            let (head, body) = response.into_parts();
            Ok(Fetched {
                status: head.status,
                headers: head.headers,
                body: self.read(url, body).await?,
                url: url.clone(),
            })
        };
        self.limited(url, exchange).await
    }

    /// Posts JSON, and returns the response's head. Its body is not read.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError`] when the URL is refused, or when no response arrives.
    #[cfg(feature = "client")]
    pub(crate) async fn post_for_head(
        &self,
        url: &Url,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<http::response::Parts, AuthError> {
        let response = self.request(Method::POST, url, headers, body);
        let response = self.limited(url, response).await?;
        Ok(response.into_parts().0)
    }

    async fn limited<T>(
        &self,
        url: &Url,
        exchange: impl Future<Output = Result<T, AuthError>>,
    ) -> Result<T, AuthError> {
        let limit = self.limits.exchange;
        match tokio::time::timeout(limit, exchange).await {
            Ok(outcome) => outcome,
            Err(_) => Err(AuthError::unavailable(
                url,
                format!("no answer within {} s", limit.as_secs()),
            )),
        }
    }

    /// Sends a request, whose URL is checked first.
    async fn request(
        &self,
        method: Method,
        url: &Url,
        mut headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<HttpBody>, AuthError> {
        self.rules.check(url)?;
        if let Some(value) = headers.get_mut(AUTHORIZATION) {
            value.set_sensitive(true);
        }
        headers
            .entry(ACCEPT)
            .or_insert(HeaderValue::from_static("application/json"));
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        *request.uri_mut() = url
            .as_str()
            .parse()
            .map_err(|_| AuthError::malformed(url, "the URL is invalid"))?;
        let response = self.http.clone().call(request).await;
        response.map_err(|error| AuthError::unreachable(url, error))
    }

    async fn read(&self, url: &Url, body: HttpBody) -> Result<Bytes, AuthError> {
        let limit = self.limits.body;
        let whole = Limited::new(body, limit).collect().await;
        whole
            .map(Collected::to_bytes)
            .map_err(|error| match error.downcast::<ChannelError>() {
                Ok(error) => AuthError::unreachable(url, *error),
                Err(_) => AuthError::TooLarge {
                    url: shown(url),
                    limit,
                },
            })
    }
}

/// Converts a response for the tests of other modules.
#[cfg(test)]
pub(crate) fn fetched(url: &str, response: Response<&'static str>) -> Fetched {
    let (head, body) = response.into_parts();
    Fetched {
        status: head.status,
        headers: head.headers,
        body: Bytes::from_static(body.as_bytes()),
        url: url.parse().unwrap(),
    }
}

#[cfg(test)]
mod tests {
    use http::Response;
    use serde_json::Value;

    use super::{depth, fetched};

    #[test]
    fn depth_ignores_strings() {
        assert_eq!(depth(br#"{"a":["[{\"["],"b":{}}"#), 2);
        assert_eq!(depth("[".repeat(50).as_bytes()), 50);
    }

    #[test]
    fn json_errors_quote_nothing() {
        let wrong = fetched(
            "https://h/token?x=hidden",
            Response::new("{\"access_token\":\"hidden\""),
        );
        let error = wrong.json::<Value>().unwrap_err().to_string();
        assert!(!error.contains("hidden"), "{error}");
        assert!(!wrong.is_json());
        assert!(fetched("https://h/", Response::new(" {\"a\":1}")).is_json());
        assert!(!fetched("https://h/", Response::new("<html>")).is_json());
    }
}
