//! Headers that other SDKs, proxies and careless clients send a little differently.

use super::*;
use crate::server::Sessions;

/// Returns a request with further values of a header.
fn with(
    peer: &Peer,
    method: Method,
    message: &Value,
    (name, values): (&str, &[&str]),
) -> Request<Full<Bytes>> {
    let mut request = peer.request(method, message.to_string());
    let name: http::HeaderName = name.parse().unwrap();
    for value in values {
        let value = value.parse().unwrap();
        request.headers_mut().append(name.clone(), value);
    }
    request
}

#[tokio::test(start_paused = true)]
async fn empty_session_id_is_absent() {
    // spec: SESS-06
    let (endpoint, _) = endpoint();
    let peer = Peer::new(&endpoint);
    let empty = ("mcp-session-id", &[""][..]);
    let opened = with(&peer, Method::POST, &initialize("2025-11-25"), empty);
    let got = peer.call(opened).await;
    assert_eq!(got.status, 200);
    assert!(got.header("mcp-session-id").is_some());
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let request = with(&peer, method, &tool(1, "echo"), empty);
        assert_eq!(peer.call(request).await.refusal().await, (400, -32000));
    }
    let with_sse = Peer::new(&endpoint.sessions(Sessions::in_memory().http_sse()));
    let request = with(&with_sse, Method::GET, &json!(null), empty);
    assert!(with_sse.call(request).await.is_stream());
}

#[tokio::test(start_paused = true)]
async fn two_different_version_headers_are_refused() {
    // spec: HTTP-SM-11
    let (endpoint, tools) = endpoint();
    let open = Peer::open(&endpoint).await;
    let new = Peer::new(&endpoint);
    let stateless = Peer::new(&endpoint.clone().sessions(Sessions::stateless()));
    let versions = |both: [&'static str; 2]| ("mcp-protocol-version", both);
    for both in [
        ["2025-11-25", "2025-06-18"],
        ["2025-06-18", "2026-07-28"],
        ["2026-07-28", "2025-11-25"],
        ["2025-11-25", ""],
    ] {
        let (name, both) = versions(both);
        for (peer, method, message) in [
            (&open, Method::POST, tool(1, "echo")),
            (&open, Method::POST, initialized()),
            (&open, Method::POST, json!([tool(1, "echo")])),
            (&open, Method::GET, json!(null)),
            (&open, Method::DELETE, json!(null)),
            (&new, Method::POST, initialize("2025-11-25")),
            (&stateless, Method::POST, tool(1, "echo")),
        ] {
            let mut request = with(peer, method.clone(), &message, (name, &[]));
            request.headers_mut().remove(name);
            for version in both {
                let version = version.parse().unwrap();
                request.headers_mut().append(name, version);
            }
            let got = peer.call(request).await;
            assert_eq!(got.status, 400, "{method} {message} {both:?}");
            let error = got.json().await["error"].clone();
            assert_eq!(error["code"], -32020, "{error}");
            let text = error["message"].as_str().unwrap();
            assert!(both.iter().all(|version| text.contains(version)), "{text}");
        }
    }
    assert_eq!(endpoint.session_count(), 1);
    assert_eq!(tools.waiting(), (0, 0));
    // A proxy that doubles the header changes nothing.
    let (name, both) = versions(["2025-11-25"; 2]);
    let mut request = with(&open, Method::POST, &tool(1, "echo"), (name, &[]));
    request.headers_mut().remove(name);
    for version in both {
        let version = version.parse().unwrap();
        request.headers_mut().append(name, version);
    }
    assert_eq!(open.call(request).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn charset_other_than_utf8_is_415_that_names_it() {
    // spec: HTTP-S-10
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    for (media_type, foreign) in [
        ("application/json; charset=iso-8859-1", "iso-8859-1"),
        ("application/json;x=y; CHARSET=\"UTF-16\"", "UTF-16"),
        ("application/json; charset=", ""),
    ] {
        let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
        let value = media_type.parse().unwrap();
        request.headers_mut().insert(names::CONTENT_TYPE, value);
        let got = peer.call(request).await;
        assert_eq!(got.status, 415, "{media_type}");
        let error = got.json().await["error"].clone();
        let expected = format!("the charset must be UTF-8, not \"{foreign}\"");
        assert!(
            error["message"].as_str().unwrap().contains(&expected),
            "{error}"
        );
    }
    for media_type in [
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
        "application/json; charset=utf8",
        "application/json; charsets=x",
    ] {
        let mut request = peer.request(Method::POST, tool(1, "echo").to_string());
        let value = media_type.parse().unwrap();
        request.headers_mut().insert(names::CONTENT_TYPE, value);
        assert_eq!(peer.call(request).await.status, 200, "{media_type}");
    }
}

#[tokio::test(start_paused = true)]
async fn encoded_body_is_415_with_the_accepted_encoding() {
    let (endpoint, _) = endpoint();
    let peer = Peer::open(&endpoint).await;
    let gzip = ("content-encoding", &["gzip"][..]);
    let request = with(&peer, Method::POST, &tool(1, "echo"), gzip);
    let got = peer.call(request).await;
    assert_eq!(got.header("accept-encoding").as_deref(), Some("identity"));
    assert_eq!(got.refusal().await, (415, -32600));
}
