//! Health checks: `GET /health` and `GET /ready`.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use mcp_core::{BoxFuture, catch_panic};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};
use tower_service::Service;

use crate::headers::names;
use crate::shutdown::Shutdown;

/// The time for which a result of the check is reused: any client can send requests.
const REUSE: Duration = Duration::from_millis(500);

/// Answers to health checks of load balancers and process managers.
///
/// | path | answer |
/// |---|---|
/// | `GET /health` | 200 while the process runs |
/// | `GET /ready` | 200 if the [check](Self::ready) succeeds, 503 otherwise, and while the server shuts down |
///
/// Restart a process by `/health` only: if a database is not available, restarting all nodes does not
/// help. [`Serve::health_checks`](crate::Serve::health_checks) adds both paths. The value is also a service
/// for the routers of other web servers. The answers need no session, no token and no allowed `Host`, and
/// contain no details; errors of the check are in the log.
///
/// # Examples
///
/// In axum:
///
/// ```
/// use mcp::http::{HealthChecks, Shutdown};
/// use mcp::prelude::*;
///
/// let shutdown = Shutdown::new();
/// let health = HealthChecks::new().shutdown_with(shutdown.clone());
/// let endpoint = StreamableHttp::new(Server::new("clock", "1.0.0")).shutdown_with(shutdown);
/// let app: axum::Router = axum::Router::new()
///     .route_service("/mcp", endpoint)
///     .route_service("/health", health.clone())
///     .route_service("/ready", health);
/// ```
#[derive(Clone)]
pub struct HealthChecks {
    check: Option<Check>,
    timeout: Duration,
    shutdown: Option<Shutdown>,
    state: Arc<HealthState>,
}

type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

#[derive(Default)]
struct HealthState {
    is_stopping: AtomicBool,
    /// The check's last result, and its time. The lock is held during a check, so that one runs at
    /// a time.
    last: Mutex<Option<(Instant, bool)>>,
}

impl HealthChecks {
    /// Health checks of a server that is ready until it shuts down.
    pub fn new() -> Self {
        Self {
            check: None,
            timeout: Duration::from_secs(5),
            shutdown: None,
            state: Arc::default(),
        }
    }

    /// Sets the check of `/ready`, such as a database ping. It runs at most twice per second; other
    /// requests get the last result. A panic counts as an error.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::http::HealthChecks;
    ///
    /// async fn ping_the_database() -> Result<(), std::io::Error> {
    ///     Ok(())
    /// }
    /// let health = HealthChecks::new().ready(ping_the_database);
    /// ```
    #[must_use]
    pub fn ready<F, R, E>(mut self, check: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display,
    {
        self.check = Some(Arc::new(move || {
            let check = check();
            Box::pin(async move { check.await.map_err(|error| error.to_string()) })
        }));
        self
    }

    /// Sets the check's maximum time, 5 s by default.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the shutdown from whose start on `/ready` answers 503.
    /// [`Serve`](crate::Serve) sets its own.
    #[must_use]
    pub fn shutdown_with(mut self, shutdown: Shutdown) -> Self {
        self.shutdown = Some(shutdown);
        self
    }

    /// Makes `/ready` answer 503 from now on, for all clones.
    pub(crate) fn stop(&self) {
        self.state.is_stopping.store(true, Ordering::Release);
    }

    /// Returns true if the server is ready for requests.
    async fn is_ready(&self) -> bool {
        let is_draining = self.shutdown.as_ref().is_some_and(Shutdown::is_draining);
        if is_draining || self.state.is_stopping.load(Ordering::Acquire) {
            return false;
        }
        let Some(check) = &self.check else {
            return true;
        };
        let mut last = self.state.last.lock().await;
        if let Some((at, is_ready)) = *last
            && at.elapsed() < REUSE
        {
            return is_ready;
        }
        let is_ready = self.run(check).await;
        *last = Some((Instant::now(), is_ready));
        is_ready
    }

    async fn run(&self, check: &Check) -> bool {
        let check = check.clone();
        let checked = catch_panic(Box::pin(async move { check().await }));
        let reason = match timeout(self.timeout, checked).await {
            Ok(Ok(Ok(()))) => return true,
            Ok(Ok(Err(error))) => error,
            Ok(Err(panic)) => format!("the check panicked: {panic}"),
            Err(_) => format!("no result within {:?}", self.timeout),
        };
        tracing::warn!(reason, "the server is not ready");
        false
    }

    /// Returns the answer to a request, or `None` for other paths.
    pub(crate) async fn respond(
        &self,
        method: &Method,
        path: &str,
    ) -> Option<Response<Full<Bytes>>> {
        let needs_check = match path.rsplit_once('/') {
            Some((_, "health")) => false,
            Some((_, "ready")) => true,
            _ => return None,
        };
        if !matches!(*method, Method::GET | Method::HEAD) {
            let mut response = answer(StatusCode::METHOD_NOT_ALLOWED, "use GET\n");
            let headers = response.headers_mut();
            headers.insert(names::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return Some(response);
        }
        if needs_check && !self.is_ready().await {
            return Some(answer(StatusCode::SERVICE_UNAVAILABLE, "not ready\n"));
        }
        Some(answer(StatusCode::OK, "ok\n"))
    }
}

fn answer(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(names::CONTENT_TYPE, names::TEXT);
    headers.insert(names::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Default for HealthChecks {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> Service<Request<B>> for HealthChecks {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (this, head) = (self.clone(), request.into_parts().0);
        Box::pin(async move {
            let response = this.respond(&head.method, head.uri.path()).await;
            Ok(
                response
                    .unwrap_or_else(|| answer(StatusCode::NOT_FOUND, "use /health or /ready\n")),
            )
        })
    }
}

impl fmt::Debug for HealthChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthChecks")
            .field("has_check", &self.check.is_some())
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
