//! [`LoopbackRedirect`]: the user's browser, and a listener on this machine.
//!
//! Spec: RFC 8252, section 7.3.

use std::convert::Infallible;
use std::fmt;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, REFERRER_POLICY,
};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use mcp_core::BoxFuture;
use parking_lot::Mutex;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use url::Url;

use super::{LoginPage, Redirect, RedirectSession};
use crate::error::AuthError;

type Open = dyn Fn(String) -> BoxFuture<'static, Result<(), AuthError>> + Send + Sync;

/// The host of the redirect URI.
const ADDRESS: &str = "127.0.0.1";
/// The other host, for authorization servers that know this name only.
const LOCALHOST: &str = "localhost";
/// Attempts to find a port that is free on both addresses of `localhost`.
const PORT_ATTEMPTS: usize = 8;
/// Time of one connection to the listener.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of a request head.
const HEAD_LIMIT: usize = 8 << 10;
/// Number of connections that are open at the same time.
const MAX_CONNECTIONS: usize = 16;

/// A redirect to this machine: opens the login page in the user's browser, and listens on
/// 127.0.0.1 until the response of this login arrives. Requests of others are ignored: those without the
/// login's state.
///
/// # Examples
///
/// ```
/// use mcp::auth::{LoopbackRedirect, OAuth};
///
/// // The program shows the URL itself. The authorization server knows this redirect URI.
/// let redirect = LoopbackRedirect::at("http://localhost:8765/oauth/callback")?
///     .open_with(|url: String| async move {
///         println!("Open {url}");
///         Ok(())
///     });
/// let oauth = OAuth::interactive("My Agent").redirect(redirect);
/// # Ok::<(), mcp::auth::AuthError>(())
/// ```
#[derive(Clone)]
pub struct LoopbackRedirect {
    host: &'static str,
    port: u16,
    path: Option<String>,
    open: Arc<Open>,
}

impl Default for LoopbackRedirect {
    fn default() -> Self {
        Self::new()
    }
}

impl LoopbackRedirect {
    /// Creates a redirect to a free port of 127.0.0.1 and the path `/callback`.
    pub fn new() -> Self {
        Self {
            host: ADDRESS,
            port: 0,
            path: None,
            open: Arc::new(|url| Box::pin(open_browser(url))),
        }
    }

    /// Sets the port. Default: a free one, or that of an earlier registration.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Creates a redirect to a URI that the authorization server knows, such as
    /// `http://localhost:8765/callback`. The host is 127.0.0.1 or `localhost`. Without a port, it is a free
    /// one. For `localhost`, the listener is on 127.0.0.1 and on `[::1]`, because browsers use either.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when the URI is not an `http:` URL on this machine.
    pub fn at(uri: &str) -> Result<Self, AuthError> {
        let url = Url::parse(uri).ok().filter(|url| {
            url.scheme() == "http" && url.query().is_none() && url.fragment().is_none()
        });
        let host = match url.as_ref().and_then(Url::host_str) {
            Some(ADDRESS) => Some(ADDRESS),
            Some(LOCALHOST) => Some(LOCALHOST),
            _ => None,
        };
        let (Some(url), Some(host)) = (url, host) else {
            return Err(AuthError::settings(format!(
                "the redirect URI must be like http://127.0.0.1:8765/callback or \
                 http://localhost:8765/callback, got {uri:?}"
            )));
        };
        Ok(Self {
            host,
            port: url.port().unwrap_or(0),
            path: Some(url.path().to_owned()),
            ..Self::new()
        })
    }

    /// Shows the login page with a function of the program. Default: the user's browser.
    #[must_use]
    pub fn open_with<F, R>(mut self, open: F) -> Self
    where
        F: Fn(String) -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), AuthError>> + Send + 'static,
    {
        self.open = Arc::new(move |url| Box::pin(open(url)));
        self
    }
}

/// Opens a URL in the browser. Starting the browser may block, so it has a thread of its own.
async fn open_browser(url: String) -> Result<(), AuthError> {
    let opened = tokio::task::spawn_blocking(move || webbrowser::open(&url)).await;
    let failed = "no browser could be opened; give the program another redirect";
    match opened {
        Ok(Ok(())) => Ok(()),
        _ => Err(AuthError::Redirect(failed.to_owned())),
    }
}

#[async_trait]
impl Redirect for LoopbackRedirect {
    async fn prepare(
        &self,
        registered: Option<&str>,
    ) -> Result<Box<dyn RedirectSession>, AuthError> {
        let registered = registered.and_then(|uri| Url::parse(uri).ok());
        let known_port = registered.as_ref().and_then(Url::port).unwrap_or(0);
        let listeners = match self.port {
            // Another program may have the port of the registration now.
            0 if known_port != 0 => match self.bind(known_port).await {
                Err(_) => self.bind(0).await,
                bound => bound,
            },
            port => self.bind(port).await,
        };
        let failed = |error: std::io::Error| {
            let (host, port) = (self.host, self.port);
            AuthError::Redirect(format!("cannot listen on {host}:{port}: {error}"))
        };
        let listeners = listeners.map_err(failed)?;
        let port = listeners.0.local_addr().map_err(failed)?.port();
        let path = match (&self.path, registered) {
            (Some(path), _) => path.clone(),
            (None, Some(url)) => url.path().to_owned(),
            (None, None) => "/callback".to_owned(),
        };
        let host = format!("{}:{port}", self.host);
        Ok(Box::new(LoopbackSession {
            redirect_uri: format!("http://{host}{path}"),
            host,
            path,
            listeners,
            open: Arc::clone(&self.open),
        }))
    }

    fn with_uri(&self, uri: &str) -> Result<Arc<dyn Redirect>, AuthError> {
        let open = Arc::clone(&self.open);
        Ok(Arc::new(Self {
            open,
            ..Self::at(uri)?
        }))
    }
}

/// The listener on 127.0.0.1, and that on `[::1]` for `localhost`.
type Listeners = (TcpListener, Option<TcpListener>);

impl LoopbackRedirect {
    async fn bind(&self, port: u16) -> std::io::Result<Listeners> {
        let mut attempts = 0;
        loop {
            let four = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
            if self.host == ADDRESS {
                return Ok((four, None));
            }
            attempts += 1;
            let bound = four.local_addr()?.port();
            match TcpListener::bind((Ipv6Addr::LOCALHOST, bound)).await {
                Ok(six) => return Ok((four, Some(six))),
                // A free port on one address may be in use on the other one.
                Err(error) if error.kind() == ErrorKind::AddrInUse => {
                    if port != 0 || attempts == PORT_ATTEMPTS {
                        return Err(error);
                    }
                }
                // A machine without IPv6.
                Err(_) => return Ok((four, None)),
            }
        }
    }
}

struct LoopbackSession {
    redirect_uri: String,
    host: String,
    path: String,
    listeners: Listeners,
    open: Arc<Open>,
}

#[async_trait]
impl RedirectSession for LoopbackSession {
    fn redirect_uri(&self) -> &str {
        &self.redirect_uri
    }

    async fn run(self: Box<Self>, login: LoginPage<'_>) -> Result<String, AuthError> {
        let open = (self.open)(login.url.to_owned());
        let receive = self.receive(login);
        let opened = async {
            match open.await {
                Ok(()) => std::future::pending().await,
                Err(error) => error,
            }
        };
        tokio::select! {
            response = receive => response,
            error = opened => Err(error),
        }
    }
}

impl LoopbackSession {
    async fn accept(&self) -> std::io::Result<TcpStream> {
        let (four, six) = &self.listeners;
        let accepted = match six {
            None => four.accept().await,
            Some(six) => tokio::select! {
                accepted = four.accept() => accepted,
                accepted = six.accept() => accepted,
            },
        };
        accepted.map(|(stream, _)| stream)
    }

    /// Serves connections until one of them carries the response.
    async fn receive(&self, login: LoginPage<'_>) -> Result<String, AuthError> {
        let expected = Arc::new(Expected {
            host: self.host.clone(),
            path: self.path.clone(),
            state: login.state.to_owned(),
            query: Mutex::default(),
        });
        let mut connections = JoinSet::new();
        loop {
            let can_accept = connections.len() < MAX_CONNECTIONS;
            tokio::select! {
                Ok(stream) = self.accept(), if can_accept => {
                    connections.spawn(serve(stream, Arc::clone(&expected)));
                }
                Some(_) = connections.join_next() => {
                    if let Some(query) = expected.query.lock().take() {
                        return Ok(query);
                    }
                }
            }
        }
    }
}

/// The request that ends the wait.
struct Expected {
    host: String,
    path: String,
    state: String,
    query: Mutex<Option<String>>,
}

async fn serve(stream: TcpStream, expected: Arc<Expected>) {
    let answer = |request: Request<Incoming>| {
        let response = expected.answer(&request);
        async move { Ok::<_, Infallible>(response) }
    };
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(stream), service_fn(answer));
    let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection).await;
}

impl Expected {
    fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let query = request.uri().query().unwrap_or_default();
        let login = LoginPage {
            url: "",
            state: &self.state,
        };
        let has_host = request
            .headers()
            .get(HOST)
            .is_some_and(|host| host == self.host.as_str());
        let is_response = request.method() == Method::GET
            && request.uri().path() == self.path
            && has_host
            && login.is_response(query);
        if !is_response {
            return page(StatusCode::NOT_FOUND, "Not found.");
        }
        self.query.lock().get_or_insert_with(|| query.to_owned());
        let is_error =
            url::form_urlencoded::parse(query.as_bytes()).any(|(name, _)| name == "error");
        let text = if is_error {
            "The authorization server refused the login. The program shows the reason. You can close this window."
        } else {
            "The login is complete. You can close this window."
        };
        page(StatusCode::OK, text)
    }
}

/// A fixed page, which repeats nothing of the request.
fn page(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, "text/plain; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (CONNECTION, "close"),
    ] {
        response
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    response
}

impl fmt::Debug for LoopbackRedirect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoopbackRedirect")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn get(host: &str, target: &str, host_header: &str) -> String {
        let mut stream = TcpStream::connect(host).await.unwrap();
        let head = format!("GET {target} HTTP/1.1\r\nhost: {host_header}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut response = String::new();
        let _ = stream.read_to_string(&mut response).await;
        response
    }

    #[tokio::test]
    async fn stray_requests_do_not_end_the_wait() {
        let (seen, opened) = tokio::sync::oneshot::channel();
        let seen = Mutex::new(Some(seen));
        let redirect = LoopbackRedirect::new().open_with(move |url| {
            if let Some(seen) = seen.lock().take() {
                let _ = seen.send(url);
            }
            std::future::ready(Ok(()))
        });
        let session = redirect.prepare(None).await.unwrap();
        let uri = Url::parse(session.redirect_uri()).unwrap();
        let host = format!("127.0.0.1:{}", uri.port().unwrap());
        let path = uri.path().to_owned();
        let browser = async {
            assert_eq!(opened.await.unwrap(), "https://h/authorize");
            for (target, host_header) in [
                (format!("{path}?state=other&code=x"), host.as_str()),
                (format!("{path}?code=x"), &host),
                ("/other?state=right&code=x".to_owned(), &host),
                (format!("{path}?state=right&code=x"), "evil.example"),
                ("/favicon.ico".to_owned(), &host),
            ] {
                let response = get(&host, &target, host_header).await;
                assert!(response.starts_with("HTTP/1.1 404"), "{target}: {response}");
            }
            // Other programs cannot end the login either, however often they try.
            for _ in 0..60 {
                let response = get(&host, &path, &host).await;
                assert!(response.starts_with("HTTP/1.1 404"), "{response}");
            }
            let huge = get(&host, &format!("{path}?{}", "a".repeat(20_000)), &host).await;
            assert!(!huge.starts_with("HTTP/1.1 200"), "{huge}");
            let right = get(&host, &format!("{path}?state=right&code=secret"), &host).await;
            assert!(right.starts_with("HTTP/1.1 200"), "{right}");
            assert!(right.contains("cache-control: no-store") && !right.contains("secret"));
        };
        let login = LoginPage {
            url: "https://h/authorize",
            state: "right",
        };
        let (query, ()) = tokio::join!(session.run(login), browser);
        assert_eq!(query.unwrap(), "state=right&code=secret");
    }

    #[tokio::test]
    async fn registered_redirect_uri_is_used_again() {
        let first = LoopbackRedirect::new().prepare(None).await.unwrap();
        let uri = first.redirect_uri().to_owned();
        assert!(uri.ends_with("/callback"), "{uri}");
        drop(first);
        let second = LoopbackRedirect::new().prepare(Some(&uri)).await.unwrap();
        assert_eq!(second.redirect_uri(), uri);
        let third = LoopbackRedirect::new().prepare(Some(&uri)).await.unwrap();
        assert_ne!(third.redirect_uri(), uri);
    }

    #[tokio::test]
    async fn browser_that_does_not_open_ends_the_login() {
        let redirect = LoopbackRedirect::new()
            .open_with(|_| std::future::ready(Err(AuthError::Redirect("no display".to_owned()))));
        let session = redirect.prepare(None).await.unwrap();
        let login = LoginPage {
            url: "https://h/authorize",
            state: "s",
        };
        let error = session.run(login).await.unwrap_err();
        assert_eq!(error.to_string(), "the login cannot be started: no display");
    }

    /// Runs a login at a redirect URI, and returns the page that the browser shows at `address`.
    async fn page_at(uri: &str, address: &str, query: &str) -> String {
        let redirect = LoopbackRedirect::at(uri).unwrap();
        let redirect = redirect.open_with(|_| std::future::ready(Ok(())));
        let session = redirect.prepare(None).await.unwrap();
        let uri = Url::parse(session.redirect_uri()).unwrap();
        let port = uri.port().unwrap();
        let target = format!("{}?state=s&{query}", uri.path());
        let name = format!("{}:{port}", uri.host_str().unwrap());
        let host = format!("{address}:{port}");
        let login = LoginPage {
            url: "https://h/authorize",
            state: "s",
        };
        let (response, page) = tokio::join!(session.run(login), get(&host, &target, &name));
        response.unwrap();
        page
    }

    #[tokio::test]
    async fn localhost_listens_on_both_addresses() {
        for address in ["127.0.0.1", "[::1]"] {
            let page = page_at("http://localhost/cb", address, "code=secret").await;
            assert!(page.contains("complete"), "{address}: {page}");
        }
    }

    #[tokio::test]
    async fn page_for_a_refused_login_does_not_say_complete() {
        let uri = "http://127.0.0.1/callback";
        let page = page_at(uri, "127.0.0.1", "error=access_denied").await;
        assert!(page.contains("refused"), "{page}");
        assert!(!page.contains("complete"), "{page}");
    }

    #[test]
    fn redirect_uri_on_another_machine_is_refused() {
        for uri in [
            "https://127.0.0.1:1/callback",
            "http://192.168.1.1:1/callback",
            "http://localhost.evil.example/callback",
            "http://[::1]:1/callback",
            "http://127.0.0.1:1/callback?a=b",
            "callback",
        ] {
            let error = LoopbackRedirect::at(uri).unwrap_err().to_string();
            assert!(error.contains("http://127.0.0.1:8765/callback"), "{error}");
        }
    }
}
