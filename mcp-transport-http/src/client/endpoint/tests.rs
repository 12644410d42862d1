//! URLs: accepted, refused, shown.

use super::Endpoint;

fn parse(text: &str) -> Endpoint {
    Endpoint::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn what_is_sent_and_what_is_shown() {
    for (text, sent, shown) in [
        (
            "http://localhost:8000",
            "http://localhost:8000/",
            "http://localhost:8000/",
        ),
        (
            "https://example.com/mcp",
            "https://example.com/mcp",
            "https://example.com/mcp",
        ),
        (
            " https://example.com/mcp#top ",
            "https://example.com/mcp",
            "https://example.com/mcp",
        ),
        (
            "https://me:hidden@example.com/mcp?key=hidden",
            "https://example.com/mcp?key=hidden",
            "https://example.com/mcp",
        ),
        (
            "https://zürich.example/ü",
            "https://xn--zrich-kva.example/%C3%BC",
            "https://xn--zrich-kva.example/%C3%BC",
        ),
        (
            "http://[::1]:1/a%20b",
            "http://[::1]:1/a%20b",
            "http://[::1]:1/a%20b",
        ),
    ] {
        let endpoint = parse(text);
        assert_eq!(endpoint.uri.to_string(), sent);
        assert_eq!(&*endpoint.shown, shown);
    }
}

#[test]
fn userinfo_becomes_a_header() {
    assert_eq!(parse("http://example.com").authorization, None);
    for (userinfo, expected) in [
        ("aladdin:opensesame", "Basic YWxhZGRpbjpvcGVuc2VzYW1l"),
        ("a%40b:", "Basic YUBiOg=="),
        (":x", "Basic Ong="),
    ] {
        let value = parse(&format!("http://{userinfo}@example.com"))
            .authorization
            .unwrap();
        assert_eq!(value, expected);
        assert!(value.is_sensitive());
    }
}

#[test]
fn refusals_say_why_and_keep_the_secret() {
    for (text, reason) in [
        ("example.com/mcp", "the URL is invalid"),
        ("", "the URL is invalid"),
        ("http://u:hidden@", "the URL is invalid"),
        ("http://u:hidden@h:99999/", "the URL is invalid"),
        ("ftp://u:hidden@example.com", "begins with ftp:"),
        ("file:///etc/hidden", "begins with file:"),
    ] {
        let error = Endpoint::parse(text).err().unwrap().to_string();
        assert!(error.contains(reason), "{text}: {error}");
        assert!(!error.contains("hidden"), "{error}");
    }
}

#[test]
fn redirects_are_shown_without_secrets() {
    let endpoint = parse("https://example.com/a/mcp");
    for (location, shown) in [
        ("/b?token=hidden", "https://example.com/b"),
        ("mcp/", "https://example.com/a/mcp/"),
        ("//u:hidden@other.example/", "https://other.example/"),
    ] {
        assert_eq!(endpoint.redirected(location).as_deref(), Some(shown));
    }
    assert_eq!(endpoint.redirected("http://[").as_deref(), None);
}
