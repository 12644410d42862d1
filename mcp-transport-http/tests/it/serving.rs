//! The start of a server, its paths, and what it logs.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use mcp_transport_http::server::Sessions;
use mcp_transport_http::{Authorization, ProtectedEndpoint, Serve, ServeError, StreamableHttp};
use tokio::net::TcpListener;
use tracing::Level;
use tracing::subscriber::{DefaultGuard, set_default};

use crate::support::{call_text, dual_endpoint, echo, endpoint, head_of, start, within};

/// The log of the current thread.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn start(level: Level) -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_writer(move || writer.clone())
            .without_time()
            .with_ansi(false)
            .finish();
        (log, set_default(subscriber))
    }

    /// Returns the lines since the last call.
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

#[tokio::test]
async fn listener_for_other_machines_without_allowed_hosts_is_an_error() {
    // spec: HTTP-S-04
    for address in ["0.0.0.0:0", "[::]:0"] {
        let Ok(listener) = TcpListener::bind(address).await else {
            // This machine has no IPv6.
            continue;
        };
        let local = listener.local_addr().unwrap();
        let serve = Serve::service(endpoint(echo));
        let error = within(serve.run(listener)).await.unwrap_err();
        let message = error.to_string();
        let start = format!("cannot serve at {local}: ");
        assert!(message.starts_with(&start), "{message}");
        assert!(message.contains("allowed_hosts"), "{message}");
        assert!(matches!(error, ServeError::NoAllowedHosts(address) if address == local));
    }
    let configured = endpoint(echo).allowed_hosts(["localhost"]);
    let stopped = Serve::service(configured).shutdown_on(std::future::ready(()));
    within(stopped.run("0.0.0.0:0")).await.unwrap();
}

/// Credentials that are checked by nobody, or cannot be set up.
struct Key {
    is_valid: bool,
}

impl Authorization for Key {
    type Service = StreamableHttp;

    fn host(&self) -> Option<String> {
        Some("public.example".to_owned())
    }

    fn path(&self) -> Option<String> {
        Some("/public".to_owned())
    }

    fn protect(
        self,
        endpoint: StreamableHttp,
    ) -> Result<ProtectedEndpoint<StreamableHttp>, Box<dyn std::error::Error + Send + Sync>> {
        if !self.is_valid {
            return Err("the key is too short".into());
        }
        Ok(ProtectedEndpoint {
            service: endpoint,
            paths: vec!["/metadata".to_owned()],
        })
    }
}

#[tokio::test]
async fn authorization_sets_host_and_paths_or_is_an_error_at_start() {
    let refused = Serve::service(endpoint(echo)).authorize(Key { is_valid: false });
    let error = within(refused.run("127.0.0.1:0")).await.unwrap_err();
    assert!(matches!(&error, ServeError::Authorization(_)), "{error}");
    assert_eq!(error.to_string(), "the key is too short");

    let server = start(endpoint(echo), |serve| {
        serve.authorize(Key { is_valid: true })
    })
    .await;
    for (path, host, status) in [
        ("/public", "public.example", 200),
        ("/metadata", "public.example", 200),
        ("/mcp", "public.example", 404),
        ("/public", "localhost", 403),
    ] {
        let mut client = server.connect().await;
        let (head, call) = (head_of("t"), call_text("t", false));
        let head = head.replace("/mcp ", &format!("{path} "));
        let head = head.replace("Host: localhost", &format!("Host: {host}"));
        let length = call.len();
        client
            .send(format!("{head}Content-Length: {length}\r\n\r\n{call}"))
            .await;
        assert_eq!(client.head().await.unwrap().status, status, "{host} {path}");
    }
    server.stop().await;
}

#[tokio::test]
async fn path_with_a_slash_at_its_end_reaches_the_endpoint() {
    for own in ["/mcp", "/mcp/"] {
        let server = start(endpoint(echo), |serve| serve.path(own)).await;
        for (path, status) in [("/mcp", 200), ("/mcp/", 200), ("/", 404), ("/mcpx", 404)] {
            let mut client = server.connect().await;
            let (head, call) = (head_of("t"), call_text("t", false));
            let head = head.replace("/mcp ", &format!("{path} "));
            let length = call.len();
            client
                .send(format!("{head}Content-Length: {length}\r\n\r\n{call}"))
                .await;
            assert_eq!(client.head().await.unwrap().status, status, "{own} {path}");
        }
        server.stop().await;
    }
}

#[tokio::test]
async fn start_is_logged_with_name_and_url() {
    let (log, _guard) = Log::start(Level::INFO);
    let server = start(endpoint(echo), |serve| serve.path("/tools")).await;
    server.assert_not_found().await;
    let addr = server.addr;
    let log = log.take();
    let line = format!("serving test 1.0.0 at http://{addr}/tools");
    assert!(log.contains("INFO") && log.contains(&line), "{log}");
    assert_eq!(log.lines().count(), 1, "{log}");
    server.stop().await;
}

#[tokio::test]
async fn refused_requests_are_logged_with_status_and_reason() {
    let endpoint = dual_endpoint(echo)
        .body_limit(10_000)
        .sessions(Sessions::in_memory().max(0));
    let server = start(endpoint, |serve| serve).await;
    let (log, _guard) = Log::start(Level::DEBUG);
    let (head, call) = (head_of("t"), call_text("t", false));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let legacy = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    let no_session =
        head.replace("POST", "GET").replace("Mcp-Method", "X") + "Mcp-Session-Id: none\r\n";
    let large = " ".repeat(10_001);
    for (head, body, status, reason) in [
        (head.clone(), "{", 400, "invalid JSON"),
        (head.replace("/mcp ", "/other "), &*call, 404, "/other"),
        (no_session, "", 404, "session not found"),
        (
            head.replace("POST", "PUT"),
            &*call,
            405,
            "PUT is not served",
        ),
        (
            head.replace("Accept: application/json, ", "Accept: "),
            &*call,
            406,
            "Accept must allow",
        ),
        (head.clone(), &*large, 413, "larger than the limit"),
        (
            head.replace("Content-Type: application/json", "Content-Type: text/plain"),
            &*call,
            415,
            "Content-Type must be",
        ),
        (
            head.replace("Host: localhost", "Host: example.com"),
            &*call,
            403,
            "is not served here",
        ),
        (legacy.to_owned(), initialize, 503, "as many sessions"),
        (head.replace(": t\r", ": u\r"), &*call, 400, "mcp-name says"),
    ] {
        let mut client = server.connect().await;
        let length = body.len();
        client
            .send(format!("{head}Content-Length: {length}\r\n\r\n{body}"))
            .await;
        assert_eq!(client.head().await.unwrap().status, status, "{head}");
        let log = log.take();
        let mut lines = log.lines();
        let line = lines.find(|line| line.contains(&format!("status={status}")));
        let line = line.unwrap_or_else(|| panic!("{status}: {log}"));
        assert!(line.contains("DEBUG") && line.contains(reason), "{line}");
    }
    // A call that is answered leaves no event.
    server.assert_serving().await;
    assert!(!log.take().contains("refused"));
    server.stop().await;
}

#[tokio::test]
async fn setting_for_a_foreign_host_is_in_the_log_alone() {
    let server = start(endpoint(echo), |serve| serve).await;
    let (log, _guard) = Log::start(Level::WARN);
    let call = call_text("t", false);
    for (from, to, setting) in [
        ("Host: localhost", "Host: example.com", "allowed_hosts"),
        (
            "Host: localhost",
            "Host: localhost\r\nOrigin: https://example.com",
            "allowed_origins",
        ),
    ] {
        let mut client = server.connect().await;
        let (head, length) = (head_of("t").replace(from, to), call.len());
        client
            .send(format!("{head}Content-Length: {length}\r\n\r\n{call}"))
            .await;
        let (head, body) = client.response().await.unwrap();
        assert_eq!(head.status, 403);
        assert!(body.contains("is not served here"), "{body}");
        assert!(!body.contains("allowed"), "{body}");
        assert!(log.take().contains(setting));
    }
    server.stop().await;
}
