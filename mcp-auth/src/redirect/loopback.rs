//! [`LoopbackRedirect`]: the user's browser, and a listener on this machine.
//!
//! Spec: RFC 8252, section 7.3.

use std::convert::Infallible;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
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
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use url::Url;

use super::{LoginPage, Redirect, RedirectSession};
use crate::error::AuthError;
use crate::key::random_text;

type Open = dyn Fn(String) -> BoxFuture<'static, Result<(), AuthError>> + Send + Sync;

/// Time of one connection to the listener.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of a request head.
const HEAD_LIMIT: usize = 8 << 10;
/// Number of connections that are open at the same time.
const MAX_CONNECTIONS: usize = 16;

/// A redirect to this machine: opens the login page in the user's browser, and listens on
/// 127.0.0.1 until the response of this login arrives. Requests of others are ignored.
///
/// # Examples
///
/// ```
/// use mcp::auth::{LoopbackRedirect, OAuth};
///
/// // The program shows the URL itself. The authorization server knows this port and path.
/// let redirect = LoopbackRedirect::new()
///     .port(8765)
///     .path("/callback")
///     .open_with(|url: String| async move {
///         println!("Open {url}");
///         Ok(())
///     });
/// let oauth = OAuth::interactive("My Agent").redirect(redirect);
/// ```
#[derive(Clone)]
pub struct LoopbackRedirect {
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
    /// Creates a redirect to a free port and a random path.
    pub fn new() -> Self {
        Self {
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

    /// Sets the path. Default: a random one, or that of an earlier registration.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
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
        let port = if self.port == 0 {
            known_port
        } else {
            self.port
        };
        let bind = |port| TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        let listener = match bind(port).await {
            // Another program has the port of the registration now.
            Err(_) if self.port == 0 && port != 0 => bind(0).await,
            bound => bound,
        };
        let failed = |error: std::io::Error| {
            AuthError::Redirect(format!("cannot listen on 127.0.0.1:{port}: {error}"))
        };
        let listener = listener.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let path = match (&self.path, registered) {
            (Some(path), _) => path.clone(),
            (None, Some(url)) => url.path().to_owned(),
            (None, None) => format!("/callback/{}", random_text(16)?),
        };
        Ok(Box::new(LoopbackSession {
            redirect_uri: format!("http://{bound}{path}"),
            host: bound.to_string(),
            path,
            listener,
            open: Arc::clone(&self.open),
        }))
    }
}

struct LoopbackSession {
    redirect_uri: String,
    host: String,
    path: String,
    listener: TcpListener,
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
                accepted = self.listener.accept(), if can_accept => {
                    if let Ok((stream, _)) = accepted {
                        connections.spawn(serve(stream, Arc::clone(&expected)));
                    }
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

async fn serve(stream: tokio::net::TcpStream, expected: Arc<Expected>) {
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
        page(
            StatusCode::OK,
            "The login is complete. You can close this window.",
        )
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
            .field("port", &self.port)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

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
                ("/callback?state=right&code=x".to_owned(), &host),
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
        assert_eq!(uri.rsplit('/').next().unwrap().len(), 22);
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
}
