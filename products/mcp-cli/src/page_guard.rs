//! The guard of this program's pages. It checks every request: only programs on this machine that know the token
//! may use a page.
//!
//! A page shows and does what its user may, such as calling tools. Other web pages, other machines and other users of this
//! machine must not: the listener is a loopback address, `Host` and `Origin` are those of the page, and the path has a
//! random part. The token in the URL works once; a cookie replaces it. Browsers share cookies between ports of a host, so
//! the cookie is limited to the random path, which servers at other ports do not know.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt as _;
use http_body::Body as _;
use parking_lot::Mutex;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::failure::{Failure, usage};
use crate::{local_users, output};

/// Keeps other origins from loading what the page loads.
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Separates the page from the page that has opened its window, if there is one.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Says how the requesting page is related to the URL: `none` if the user has opened it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Checks every request.
pub(crate) struct Guard {
    port: u16,
    /// The page path: `/` and a random part.
    base: String,
    token: Mutex<Token>,
    /// The nonce of the style in the page: the browser applies no other inline style.
    nonce: String,
    /// Scripts and styles come from the page only, and frames from the origin of views.
    policy: HeaderValue,
    /// True if the page looks after its opener itself.
    has_opener_check: bool,
}

/// The token in the URL of the page, and the value of the cookie that replaces it.
struct Token {
    text: String,
    cookie: String,
    is_used: bool,
    /// Ends what was opened with the cookie.
    replaced: CancellationToken,
}

impl Token {
    fn new() -> Result<Self, Failure> {
        Ok(Self {
            text: random()?,
            cookie: random()?,
            is_used: false,
            replaced: CancellationToken::new(),
        })
    }
}

impl Guard {
    /// Creates a guard with a random path and token, for the page at a port. `frames` is the port of the origin whose
    /// documents the page shows in frames.
    pub(crate) fn new(port: u16, frames: Option<u16>) -> Result<Self, Failure> {
        let nonce = random()?;
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
            base: format!("/{}", random()?),
            token: Mutex::new(Token::new()?),
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

    /// Returns the page path, without a slash at the end.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Returns the URL of the page with the token.
    pub(crate) fn url(&self) -> String {
        let token = self.token.lock();
        self.url_with(&token.text)
    }

    fn url_with(&self, token: &str) -> String {
        format!("http://127.0.0.1:{}{}/?token={token}", self.port, self.base)
    }

    /// Returns the nonce of the page's inline style.
    pub(crate) fn nonce(&self) -> &str {
        &self.nonce
    }

    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    /// The cookie name. It has the port, since a user may have several pages open.
    fn cookie_name(&self) -> String {
        format!("mcp-page-{}", self.port)
    }

    /// Returns the response to a request that is not allowed, or to one that brings the token.
    fn refusal(&self, request: &Request) -> Option<Response> {
        let headers = request.headers();
        let hosts = self.hosts();
        let is_host = |wanted: &str| hosts.iter().any(|host| host == wanted);
        if !text(headers, &header::HOST).is_some_and(is_host) {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Host"));
        }
        let is_ours = |origin: &str| origin.strip_prefix("http://").is_some_and(is_host);
        if headers.contains_key(header::ORIGIN)
            && !text(headers, &header::ORIGIN).is_some_and(is_ours)
        {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Origin"));
        }
        // Other ports of this machine are the same site to a browser, which sends the cookie from there, too.
        let site = text(headers, &SEC_FETCH_SITE);
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Some(refuse(StatusCode::FORBIDDEN, "wrong Sec-Fetch-Site"));
        }
        if let Some(token) = self.token_of(request) {
            // The URL was an argument of the browser, which other users of the machine can read.
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
            if peer.is_some_and(|peer| local_users::is_of_another(peer.0, self.port)) {
                return Some(refuse(StatusCode::FORBIDDEN, "another user's connection"));
            }
            return Some(self.let_in(token, self.has_cookie(headers)));
        }
        if !self.has_cookie(headers) {
            let text = "Open the URL that the command has printed: it contains a token.";
            return Some(refuse(StatusCode::UNAUTHORIZED, text));
        }
        let is_json = text(headers, &header::CONTENT_TYPE) == Some("application/json");
        (request.method() == Method::POST && !is_json)
            .then(|| refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not application/json"))
    }

    /// Returns the token that a request for the page brings.
    fn token_of<'a>(&self, request: &'a Request) -> Option<&'a str> {
        let path = request.uri().path().strip_suffix('/')?;
        let is_start = request.method() == Method::GET && is_equal(path, &self.base);
        let query = request.uri().query().filter(|_| is_start)?;
        query.strip_prefix("token=")
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let token = self.token.lock();
        let cookies = headers.get_all(header::COOKIE).into_iter();
        let pairs = cookies
            .filter_map(|cookie| cookie.to_str().ok())
            .flat_map(|cookie| cookie.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        pairs
            .filter(|(key, _)| *key == name)
            .any(|(_, value)| is_equal(value, &token.cookie))
    }

    /// Replaces the token in the URL by a cookie, so that it is in no history. A used token lets only the browser in that
    /// has the cookie. Another one may be the user's, and the first that of somebody who has read the URL: the cookie ends,
    /// and the command prints a new URL.
    fn let_in(&self, token: &str, has_cookie: bool) -> Response {
        let mut known = self.token.lock();
        if !is_equal(token, &known.text) {
            return refuse(StatusCode::UNAUTHORIZED, "wrong token");
        }
        if known.is_used && !has_cookie {
            if let Ok(token) = Token::new() {
                let url = self.url_with(&token.text);
                known.replaced.cancel();
                *known = token;
                output::status(&format!(
                    "the URL was opened a second time; a new one: {url}"
                ));
            }
            let text = "This URL works once. The command has printed a new one.";
            return refuse(StatusCode::UNAUTHORIZED, text);
        }
        known.is_used = true;
        let page = format!("{}/", self.base);
        let cookie = format!(
            "{}={}; HttpOnly; SameSite=Strict; Path={page}",
            self.cookie_name(),
            known.cookie
        );
        let headers = [(header::LOCATION, page), (header::SET_COOKIE, cookie)];
        (StatusCode::SEE_OTHER, headers).into_response()
    }
}

/// Compares two secrets in constant time.
pub(crate) fn is_equal(left: &str, right: &str) -> bool {
    left.as_bytes().ct_eq(right.as_bytes()).into()
}

/// Returns 32 random bytes in hexadecimal digits.
pub(crate) fn random() -> Result<String, Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| usage!("no random numbers: {error}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Listens at a port of this machine; 0 selects a free one. Returns the port, too.
pub(crate) async fn listen(port: u16) -> Result<(TcpListener, u16), Failure> {
    let failed = |error: io::Error| usage!("cannot listen at 127.0.0.1:{port}: {error}");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
    let listener = listener.map_err(failed)?;
    let port = listener.local_addr().map_err(failed)?.port();
    Ok((listener, port))
}

/// Runs a request whose access ends: so does its response. `None`: it has ended before the response.
pub(crate) async fn run_until(
    ended: &CancellationToken,
    request: Request,
    next: Next,
) -> Option<Response> {
    let response = tokio::select! {
        biased;
        () = ended.cancelled() => return None,
        response = next.run(request) => response,
    };
    let ended = ended.clone().cancelled_owned();
    Some(response.map(|body| match body.size_hint().exact() {
        Some(_) => body,
        None => Body::from_stream(body.into_data_stream().take_until(ended)),
    }))
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
    let replaced = guard.token.lock().replaced.clone();
    let mut response = match guard.refusal(&request) {
        Some(refusal) => refusal,
        None => run_until(&replaced, request, next)
            .await
            .unwrap_or_else(|| refuse(StatusCode::UNAUTHORIZED, "the cookie was replaced")),
    };
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    if has_opener_policy {
        headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    }
    add_headers(headers);
    response
}

/// Adds the headers of all responses.
pub(crate) fn add_headers(headers: &mut HeaderMap) {
    let nosniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    let no_referrer = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, no_referrer);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// Returns a file of a page. The end of its name says its type.
pub(crate) fn file(name: &str, content: impl IntoResponse) -> Response {
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        _ => "text/html; charset=utf-8",
    };
    ([(header::CONTENT_TYPE, kind)], content).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn refuse(status: StatusCode, reason: &'static str) -> Response {
    (status, reason).into_response()
}
