//! Content security policies.

use mcp::apps::{Csp, content_security_policy};

// spec: APP-10
#[test]
fn document_without_csp_is_blocked_from_everything() {
    let header = content_security_policy(None).unwrap();
    assert_eq!(
        header,
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; font-src 'self' data:; media-src 'self' data:; connect-src 'none'; \
         frame-src 'none'; object-src 'none'; form-action 'none'; base-uri 'self'"
    );
}

// spec: APP-10
#[test]
fn declared_domains_are_in_their_directives() {
    let csp = Csp::new()
        .connect("https://api.example.com")
        .connect("wss://live.example.com:8443")
        .load("https://*.cdn.example")
        .frame("https://video.example")
        .base_uri("https://base.example");
    let header = content_security_policy(Some(&csp)).unwrap();
    for expected in [
        "; connect-src https://api.example.com wss://live.example.com:8443;",
        "script-src 'self' 'unsafe-inline' https://*.cdn.example;",
        "img-src 'self' data: https://*.cdn.example;",
        "; frame-src https://video.example;",
        "; base-uri https://base.example",
    ] {
        assert!(header.contains(expected), "{expected} in {header}");
    }
}

#[test]
fn entry_that_is_no_source_is_refused() {
    for entry in [
        "https://a.example; script-src *",
        "https://a.example;",
        "https://a.example, https://b.example",
        "https://a.example https://b.example",
        "https://a.example\tx",
        "https://a.example\r\nset-cookie: a=b",
        "'unsafe-eval'",
        "'self'",
        "https://a.example'",
        "https://\"a.example\"",
        "*",
        "https://*",
        "https://*.com",
        "https://*.*.example",
        "https://a.*.example",
        "https:",
        "https://",
        "data:",
        "blob:",
        "http://a.example",
        "ftp://a.example",
        "javascript://a.example",
        "self",
        "none",
        "a.example",
        "",
        "https://user@a.example",
        "https://a.example/path",
        "https://a.example?x",
        "https://a.example:",
        "https://a.example:*",
        "https://a.example:+1",
        "https://a.example:70000",
        "https://ä.example",
        "https://a..example",
    ] {
        for csp in [
            Csp::new().connect(entry),
            Csp::new().load(entry),
            Csp::new().frame(entry),
            Csp::new().base_uri(entry),
        ] {
            let refused = content_security_policy(Some(&csp)).unwrap_err();
            assert!(refused.to_string().contains("is refused"), "{entry}");
        }
    }
}

#[test]
fn websocket_is_for_connections_only() {
    assert!(content_security_policy(Some(&Csp::new().load("wss://a.example"))).is_err());
    let name = format!("https://{}.example", "a".repeat(300));
    assert!(content_security_policy(Some(&Csp::new().load(name))).is_err());
    let mut csp = Csp::new();
    for number in 0..65 {
        csp = csp.load(format!("https://a{number}.example"));
    }
    assert!(content_security_policy(Some(&csp)).is_err());
}
