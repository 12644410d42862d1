//! The guard of the pages of this program: only programs of this machine that know the token may use a page. Every
//! request is checked.
//!
//! A page shows and does what its user may, such as calling tools. Other web pages, other machines and other users of this
//! machine must not: the listener is a loopback address, `Host` and `Origin` are those of the page, and
//! each request has the token, in the URL once and in a cookie then.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use subtle::ConstantTimeEq as _;

/// Headers of every response.
const HEADERS: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Separates the page from the page that has opened its window, if there is one.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// The relation of the page that sends a request to the URL of the request. It is `none` if the user has opened the URL.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The checks of every request.
pub(crate) struct Guard {
    port: u16,
    token: String,
    /// The nonce of the style in the page: the browser applies no other inline style.
    nonce: String,
    /// Scripts and styles come from the page only, and frames from the origin of views.
    policy: HeaderValue,
    /// True if the page looks after its opener itself.
    has_opener_check: bool,
}

impl Guard {
    /// Creates a guard with a random token, for the page at a port. `frames` is the port of the origin whose documents the
    /// page shows in frames.
    pub(crate) fn new(port: u16, frames: Option<u16>) -> Result<Self, getrandom::Error> {
        let (token, nonce) = (random()?, random()?);
        let frames = match frames {
            Some(port) => format!("http://127.0.0.1:{port}"),
            None => "'none'".to_owned(),
        };
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src data:; media-src data:; \
             connect-src 'self'; frame-src {frames}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        );
        let none = HeaderValue::from_static("default-src 'none'");
        Ok(Self {
            port,
            token,
            nonce,
            policy: policy.try_into().unwrap_or(none),
            has_opener_check: false,
        })
    }

    /// Omits the opener policy from responses to the user's own navigation: browsers start a process for it, which takes
    /// 40 ms of the first paint. For pages that load themselves again if another page has opened their window; what a
    /// page loads always has the policy.
    pub(crate) fn with_opener_check(mut self) -> Self {
        self.has_opener_check = true;
        self
    }

    /// Returns the URL of the page with the token.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Returns the nonce of the inline style of the page.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    /// The name of the cookie. Browsers share cookies between ports.
    fn cookie(&self) -> String {
        format!("mcp-page-{}", self.port)
    }

    /// Returns the response to a request that is not allowed, or to one that brings the token.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        let hosts = self.hosts();
        if !text(headers, &header::HOST).is_some_and(|host| hosts.iter().any(|it| it == host)) {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Host"));
        }
        let is_ours = |origin: &str| hosts.iter().any(|it| format!("http://{it}") == origin);
        if headers.contains_key(header::ORIGIN)
            && !text(headers, &header::ORIGIN).is_some_and(is_ours)
        {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Origin"));
        }
        if let Some(token) = token_of(request) {
            return Some(match self.is_token(token) {
                true => self.let_in(),
                false => refuse(StatusCode::UNAUTHORIZED, "wrong token"),
            });
        }
        // Other ports of this machine are the same site to a browser, which sends the cookie from there, too.
        let site = text(headers, &SEC_FETCH_SITE);
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Sec-Fetch-Site"));
        }
        if !self.has_cookie(headers) {
            let text = "Open the URL that the command has printed: it contains a token.";
            return Some(refuse(StatusCode::UNAUTHORIZED, text));
        }
        let is_json = text(headers, &header::CONTENT_TYPE) == Some("application/json");
        (request.method() == Method::POST && !is_json)
            .then(|| refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not application/json"))
    }

    fn is_token(&self, token: &str) -> bool {
        token.as_bytes().ct_eq(self.token.as_bytes()).into()
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie();
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let pairs = cookies
            .filter_map(|it| it.to_str().ok())
            .flat_map(|it| it.split(';'))
            .filter_map(|it| it.trim().split_once('='));
        pairs
            .filter(|(key, _)| *key == name)
            .any(|(_, value)| self.is_token(value))
    }

    /// Replaces the token in the URL by a cookie, so that it is in no history.
    fn let_in(&self) -> Response {
        let cookie = format!(
            "{}={}; HttpOnly; SameSite=Strict; Path=/",
            self.cookie(),
            self.token
        );
        let headers = [
            (header::LOCATION, "/".to_owned()),
            (header::SET_COOKIE, cookie),
        ];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Returns 32 random bytes in hexadecimal digits.
fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Checks a request, and adds the headers to its response.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let policy = guard.policy.clone();
    let is_of_user = text(request.headers(), &SEC_FETCH_SITE) == Some("none");
    let has_opener_policy = !(guard.has_opener_check && is_of_user);
    let mut response = match guard.refusal(&request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    if has_opener_policy {
        headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    }
    for (name, value) in HEADERS {
        let headers = response.headers_mut();
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn token_of(request: &Request) -> Option<&str> {
    let is_start = request.method() == Method::GET && request.uri().path() == "/";
    let query = request.uri().query().filter(|_| is_start)?;
    query.strip_prefix("token=")
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn refuse(status: StatusCode, reason: &'static str) -> Response {
    (status, reason).into_response()
}
