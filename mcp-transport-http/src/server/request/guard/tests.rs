//! Tables of request heads with their status.

use http::HeaderName;
use mcp_core::Fault;

use super::*;
use crate::peer_addr::PeerAddr;
#[cfg(feature = "serve")]
use crate::{connection_scope::ConnectionScope, shutdown::Shutdown};

const LIMIT: usize = 1000;

/// A request head that passes all checks. Each test changes one aspect.
struct Request(Parts);

impl Request {
    fn good() -> Self {
        let request = http::Request::post("/mcp").body(()).unwrap();
        Self(request.into_parts().0)
            .set(names::HOST, "localhost:8000")
            .set(names::CONTENT_TYPE, "application/json")
            .set(names::ACCEPT, "application/json, text/event-stream")
    }

    fn method(mut self, method: Method) -> Self {
        self.0.method = method;
        self
    }

    fn uri(mut self, uri: &'static str) -> Self {
        self.0.uri = Uri::from_static(uri);
        self
    }

    fn set(mut self, name: HeaderName, value: &str) -> Self {
        self.0.headers.insert(name, value.parse().unwrap());
        self
    }

    fn add(mut self, name: HeaderName, value: &str) -> Self {
        self.0.headers.append(name, value.parse().unwrap());
        self
    }

    fn without(mut self, name: HeaderName) -> Self {
        self.0.headers.remove(name);
        self
    }

    fn check(&self, guard: &Guard) -> Result<(), Rejection> {
        guard.check_post(&self.0)
    }

    fn status(&self, guard: &Guard) -> u16 {
        self.check(guard)
            .map_or_else(|rejection| rejection.status.as_u16(), |()| 200)
    }
}

fn guard() -> Guard {
    Guard::new(LIMIT)
}

#[test]
fn host_is_loopback_by_default() {
    // spec: HTTP-S-04
    let table = [
        ("localhost", 200),
        ("LOCALHOST:1", 200),
        ("127.0.0.1:8000", 200),
        ("127.0.0.1:", 200),
        ("[::1]", 200),
        ("[::1]:65535", 200),
        ("evil.example.com", 403),
        ("evil.example.com:8000", 403),
        ("localhost.evil.example.com", 403),
        ("127.0.0.1.evil.example.com", 403),
        ("localhost@evil.example.com", 403),
        ("evil.example.com@localhost", 403),
        ("localhost:80:80", 403),
        ("localhost:65536", 403),
        ("localhost:+1", 403),
        ("localhost.", 403),
        ("[::1", 403),
        ("[::1]x", 403),
        ("::1", 403),
        ("0.0.0.0", 403),
        ("null", 403),
        ("", 403),
    ];
    for (host, status) in table {
        assert_eq!(
            Request::good().set(names::HOST, host).status(&guard()),
            status,
            "{host:?}"
        );
    }
}

#[test]
fn host_missing_or_repeated_is_bad_request() {
    assert_eq!(Request::good().without(names::HOST).status(&guard()), 400);
    let twice = Request::good().add(names::HOST, "localhost:8000");
    assert_eq!(twice.status(&guard()), 400);
}

#[test]
fn authority_in_the_target_is_checked_as_host() {
    let table = [
        ("http://localhost:8000/mcp", None, 200),
        ("http://evil.example.com/mcp", None, 403),
        ("http://evil.example.com/mcp", Some("localhost"), 403),
        ("http://localhost/mcp", Some("evil.example.com"), 403),
        ("http://user@localhost/mcp", None, 403),
    ];
    for (uri, host, status) in table {
        let mut request = Request::good().without(names::HOST).uri(uri);
        if let Some(host) = host {
            request = request.set(names::HOST, host);
        }
        assert_eq!(request.status(&guard()), status, "{uri} {host:?}");
    }
}

// spec: SSE-05
#[test]
fn origin_is_loopback_by_default() {
    // spec: HTTP-S-02, HTTP-S-03
    let table = [
        ("http://localhost", 200),
        ("http://localhost:3000", 200),
        ("HTTPS://LocalHost:1", 200),
        ("http://127.0.0.1:8000", 200),
        ("http://[::1]:8000", 200),
        ("http://evil.example.com", 403),
        ("https://localhost.evil.example.com", 403),
        ("localhost", 403),
        ("null", 403),
        ("", 403),
        ("http://localhost, http://evil.example.com", 403),
    ];
    for (origin, status) in table {
        let request = Request::good().set(names::ORIGIN, origin);
        assert_eq!(request.status(&guard()), status, "{origin:?}");
    }
    let second = Request::good()
        .set(names::ORIGIN, "http://localhost")
        .add(names::ORIGIN, "http://evil.example.com");
    assert_eq!(second.status(&guard()), 403);
}

#[test]
fn allow_lists_replace_the_defaults() {
    let mut guard = guard();
    guard.allow_hosts([
        "MCP.example.com",
        "https://two.example.com/mcp",
        "three.test:8080",
    ]);
    guard.allow_origins([
        "https://app.example.com",
        "http://dev.test:3000",
        "any.test",
        "null",
    ]);
    let hosts = [
        ("mcp.example.com", 200),
        ("mcp.example.com:9000", 200),
        ("two.example.com", 200),
        ("two.example.com:443", 200),
        ("two.example.com:8443", 403),
        ("three.test:8080", 200),
        ("three.test", 403),
        ("localhost", 403),
    ];
    for (host, status) in hosts {
        assert_eq!(
            Request::good().set(names::HOST, host).status(&guard),
            status,
            "{host}"
        );
    }
    let origins = [
        ("https://app.example.com", 200),
        ("https://app.example.com:443", 200),
        ("https://app.example.com:444", 403),
        ("http://app.example.com", 403),
        ("http://dev.test:3000", 200),
        ("http://dev.test", 403),
        ("ftp://any.test:1", 200),
        ("null", 200),
        ("http://localhost", 403),
    ];
    for (origin, status) in origins {
        let request = Request::good()
            .set(names::HOST, "mcp.example.com")
            .set(names::ORIGIN, origin);
        assert_eq!(request.status(&guard), status, "{origin}");
    }
}

#[test]
fn star_allows_every_host_and_origin() {
    let mut guard = guard();
    guard.allow_hosts(["*"]);
    guard.allow_origins(["*"]);
    for host in ["evil.example.com", "?!"] {
        let request = Request::good()
            .set(names::HOST, host)
            .set(names::ORIGIN, "whatever");
        assert_eq!(request.status(&guard), 200);
    }
    assert_eq!(Request::good().without(names::HOST).status(&guard), 200);
}

#[test]
fn forbidden_message_contains_the_value_but_no_setting() {
    let message = |request: Request| match request.check(&guard()).unwrap_err().into_fault().1 {
        Fault::InvalidRequest(message) => message.into_owned(),
        other => panic!("{other}"),
    };
    assert_eq!(
        message(Request::good().set(names::HOST, "mcp.example.com")),
        "Host \"mcp.example.com\" is not served here"
    );
    let long = "x".repeat(10_000);
    let message = message(Request::good().set(names::ORIGIN, &long));
    assert!(message.ends_with("is not served here") && message.len() < 600);
}

#[test]
fn client_on_another_machine_is_rejected_unless_hosts_are_set() {
    // spec: HTTP-S-04
    let mut configured = guard();
    configured.allow_hosts(["localhost"]);
    for (address, status) in [
        ("127.0.0.1", 200),
        ("127.1.2.3", 200),
        ("::1", 200),
        ("::ffff:127.0.0.1", 200),
        ("192.0.2.1", 403),
        ("::ffff:192.0.2.1", 403),
        ("2001:db8::1", 403),
        ("0.0.0.0", 403),
    ] {
        let mut request = Request::good();
        let peer = PeerAddr(address.parse().unwrap());
        request.0.extensions.insert(peer);
        assert_eq!(request.status(&guard()), status, "{address}");
        assert_eq!(request.status(&configured), 200, "{address}");
        // GET and DELETE of sessions have a check of their own.
        let checked = guard().check_host_and_origin(&request.0);
        assert_eq!(checked.is_ok(), status == 200, "{address}");
    }
}

#[cfg(feature = "serve")]
#[tokio::test]
async fn client_address_is_taken_from_the_connection() {
    for (peer, status) in [("127.0.0.1:4711", 200), ("192.0.2.1:4711", 403)] {
        let scope = ConnectionScope {
            shutdown: Shutdown::new(),
            peer: Some(peer.parse().unwrap()),
        };
        let checked = scope.run(async {
            let mut forwarded = Request::good();
            let local = PeerAddr("127.0.0.1".parse().unwrap());
            forwarded.0.extensions.insert(local);
            // The address that a layer passes takes precedence.
            assert_eq!(forwarded.status(&guard()), 200);
            Request::good().status(&guard())
        });
        assert_eq!(checked.await, status, "{peer}");
    }
}

#[test]
fn method_other_than_post_is_not_allowed() {
    // spec: COMPAT-05
    for method in [
        Method::GET,
        Method::DELETE,
        Method::PUT,
        Method::OPTIONS,
        Method::HEAD,
    ] {
        let request = Request::good().method(method);
        let rejection = request.check(&guard()).unwrap_err();
        assert_eq!(rejection.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(rejection.header(&names::ALLOW), Some(&names::ALLOW_POST));
    }
    // The host is checked first: a foreign page does not get the list of methods.
    let foreign = Request::good()
        .method(Method::GET)
        .set(names::HOST, "evil.test");
    assert_eq!(foreign.status(&guard()), 403);
}

#[test]
fn content_type_other_than_json_is_unsupported() {
    // spec: HTTP-S-10
    let table = [
        ("application/json", 200),
        ("Application/JSON", 200),
        ("application/json; charset=utf-8", 200),
        ("application/json;charset=UTF-8", 200),
        ("application/json ; x=y", 200),
        ("application/jsonp", 415),
        ("application/json-seq", 415),
        ("text/json", 415),
        ("text/plain", 415),
        ("", 415),
    ];
    for (value, status) in table {
        let request = Request::good().set(names::CONTENT_TYPE, value);
        assert_eq!(request.status(&guard()), status, "{value:?}");
    }
    assert_eq!(
        Request::good()
            .without(names::CONTENT_TYPE)
            .status(&guard()),
        415
    );
    let twice = Request::good().add(names::CONTENT_TYPE, "text/plain");
    assert_eq!(twice.status(&guard()), 415);
    let packed = Request::good().set(names::CONTENT_ENCODING, "gzip");
    assert_eq!(packed.status(&guard()), 415);
}

#[test]
fn allowed_entry_that_matches_nothing_is_reported() {
    let unmatched = |list: AllowList| match list {
        AllowList::Any => panic!("the list allows everything"),
        AllowList::Entries { unmatched, .. } => unmatched,
    };
    let matched = [
        "https://app.example.com",
        "https://app.example.com/",
        "https://app.example.com:8443",
        "http://localhost",
        "app.example.com",
        "app.example.com:8443",
        "http://[::1]:3000",
        "chrome-extension://abcdefgh",
        "null",
        "xn--bcher-kva.example",
    ];
    assert_eq!(unmatched(AllowList::of_origins(matched)), [""; 0]);
    assert_eq!(unmatched(AllowList::new(matched)), [""; 0]);
    let malformed = [
        "",
        "https://",
        "https://*.example.com",
        "*.example.com",
        "https://bücher.example",
        "https://user@example.com",
        "https://app.example.com:port",
        "::1",
        ":8000",
    ];
    assert_eq!(unmatched(AllowList::of_origins(malformed)), malformed);
    assert_eq!(unmatched(AllowList::new(malformed)), malformed);
    let no_origins = [
        "wss://app.example.com",
        "file://home",
        "http://[0:0:0:0:0:0:0:1]",
        "http://[::1",
    ];
    assert_eq!(unmatched(AllowList::of_origins(no_origins)), no_origins);
}

#[test]
fn start_warns_about_entries_that_match_nothing() {
    use std::io::Read as _;

    let (mut log, writer) = std::io::pipe().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(std::sync::Mutex::new(writer));
    tracing::subscriber::with_default(subscriber.finish(), || {
        let mut guard = guard();
        guard.allow_origins(["https://app.example.com", "https://*.example.com\n"]);
        guard.allow_hosts(["mcp.example.com", "user@example.com"]);
    });
    let mut text = String::new();
    log.read_to_string(&mut text).unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, setting, entry) in [
        (lines[0], "allowed_origins", "https://*.example.com"),
        (lines[1], "allowed_hosts", "user@example.com"),
    ] {
        assert!(
            line.contains("WARN") && line.contains("matches nothing"),
            "{line}"
        );
        assert!(line.contains(setting) && line.contains(entry), "{line}");
    }
}

#[test]
fn refused_preflight_names_the_cure() {
    let mut guard = guard();
    guard.allow_origins(["https://app.example.com"]);
    let preflight = |origin: &str| {
        Request::good()
            .method(Method::OPTIONS)
            .set(names::ORIGIN, origin)
            .set(names::ACCESS_CONTROL_REQUEST_METHOD, "POST")
    };
    let refused = preflight("https://app.example.com")
        .check(&guard)
        .unwrap_err();
    assert_eq!(refused.status, 405);
    assert!(
        refused.fault.to_string().contains("CORS layer"),
        "{}",
        refused.fault
    );
    assert_eq!(preflight("https://evil.example").status(&guard), 403);
    // Another OPTIONS is not a preflight.
    let plain = Request::good().method(Method::OPTIONS).check(&guard);
    assert!(!plain.unwrap_err().fault.to_string().contains("CORS"));
}

#[test]
fn accept_without_json_and_events_is_not_acceptable() {
    // spec: HTTP-S-10
    let table = [
        ("application/json, text/event-stream", 200),
        ("text/event-stream, application/json", 200),
        ("text/event-stream,application/json", 200),
        ("Application/Json , TEXT/event-stream", 200),
        ("application/json;q=0.5, text/event-stream;q=0.1", 200),
        (
            "application/json; charset=utf-8, text/event-stream; q=1.000",
            200,
        ),
        ("*/*", 200),
        ("text/html, */*;q=0.1", 200),
        ("application/*, text/*", 200),
        ("application/*, text/event-stream", 200),
        ("application/json, */*;q=0, text/*;q=0.001", 200),
        ("application/json", 406),
        ("text/event-stream", 406),
        ("application/*", 406),
        ("text/html", 406),
        ("application/json;q=0, text/event-stream", 406),
        ("application/json; Q=0.000, text/event-stream", 406),
        ("application/json;q=0, */*", 406),
        ("text/*;q=0, */*", 406),
        ("text/event-stream, */*;q=0", 406),
        ("application/jsonx, text/event-streams", 406),
        ("*", 406),
        ("", 406),
        (",,;;q=,", 406),
    ];
    for (value, status) in table {
        let request = Request::good().set(names::ACCEPT, value);
        assert_eq!(request.status(&guard()), status, "{value:?}");
    }
    assert_eq!(Request::good().without(names::ACCEPT).status(&guard()), 200);
    let lines = Request::good()
        .set(names::ACCEPT, "text/event-stream")
        .add(names::ACCEPT, "application/*");
    assert_eq!(lines.status(&guard()), 200);
}

#[test]
fn content_length_over_the_limit_is_too_large() {
    let length = |value: &str| {
        Request::good()
            .set(names::CONTENT_LENGTH, value)
            .check(&guard())
    };
    for value in ["1000", "0", "x"] {
        assert!(length(value).is_ok(), "{value}");
    }
    for value in ["1001", "18446744073709551615"] {
        let rejection = length(value).unwrap_err();
        assert_eq!(rejection.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert!(rejection.fault.to_string().contains("1000"));
    }
    assert!(Request::good().check(&guard()).is_ok());
    let twice = Request::good()
        .add(names::CONTENT_LENGTH, "10")
        .add(names::CONTENT_LENGTH, "10");
    assert_eq!(twice.status(&guard()), 400);
}
