use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;

use super::{Challenge, Scheme, parse_headers};

fn headers(lines: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines {
        headers.append(WWW_AUTHENTICATE, HeaderValue::from_str(line).unwrap());
    }
    headers
}

fn bearer(lines: &[&str]) -> Challenge {
    Challenge::select(&headers(lines), false).unwrap_or_else(|| panic!("{lines:?}"))
}

const URL: &str = "https://h/.well-known/oauth-protected-resource?a=b";

#[test]
fn select_reads_parameters_in_every_notation() {
    for line in [
        format!("Bearer resource_metadata=\"{URL}\", scope=\"a b\", error=\"invalid_token\""),
        format!("bearer Scope = \"a b\" ,RESOURCE_METADATA= \"{URL}\",, error=invalid_token"),
        format!("Bearer resource_metadata={URL} scope=\"a b\" error=\"invalid_token\""),
        format!(
            "Bearer realm=\"x, Bearer scope=\\\"z\\\"\", resource_metadata={URL}, scope=\"a b\", error=invalid_token"
        ),
        format!(
            "Negotiate YWJj==, Bearer scope=\"a b\", scope=\"c\", error=invalid_token, resource_metadata=\"{URL}\""
        ),
        format!(
            "Basic realm=\"r\", Bearer resource_metadata=\"{URL}\", scope=\"a b\", error=invalid_token, Digest nonce=\"scope\""
        ),
    ] {
        let challenge = bearer(&[&line]);
        assert_eq!(challenge.resource_metadata.as_deref(), Some(URL), "{line}");
        assert_eq!(challenge.scope.unwrap().to_string(), "a b", "{line}");
        assert_eq!(challenge.error.as_deref(), Some("invalid_token"), "{line}");
    }
}

#[test]
fn select_ignores_parameters_inside_of_quotes() {
    let challenge = bearer(&[
        "Bearer error_description=\"resource_metadata=https://evil.example scope=admin\"",
    ]);
    assert_eq!(challenge.resource_metadata, None);
    assert_eq!(challenge.scope, None);
    let challenge = bearer(&["Bearer scope=\"unterminated"]);
    assert_eq!(challenge.scope, None);
}

#[test]
fn select_never_mixes_challenges() {
    let challenge = bearer(&[
        "Basic scope=\"admin\"",
        "Bearer error=\"invalid_token\", DPoP scope=\"other\", algs=\"ES256\"",
    ]);
    assert_eq!(challenge.scope, None);
    assert_eq!(challenge.scheme, Scheme::Bearer);
}

#[test]
fn select_prefers_the_configured_scheme() {
    let both = headers(&["Bearer scope=\"a\"", "DPoP scope=\"b\""]);
    let dpop = Challenge::select(&both, true).unwrap();
    assert_eq!(dpop.scope.unwrap().to_string(), "b");
    let only = headers(&["DPoP resource_metadata=\"https://h/p\""]);
    let found = Challenge::select(&only, false).unwrap();
    assert_eq!(found.scheme, Scheme::Dpop);
    assert_eq!(found.resource_metadata.as_deref(), Some("https://h/p"));
    assert_eq!(
        Challenge::select(&headers(&["Basic realm=\"x\""]), true),
        None
    );
    assert_eq!(Challenge::select(&HeaderMap::new(), true), None);
}

#[test]
fn select_bounds_lines() {
    let long = format!("Bearer scope=\"{}\"", "a".repeat(9000));
    assert_eq!(Challenge::select(&headers(&[&long]), false), None);
    let mut many = vec!["Basic a=b"; 20];
    many.push("Bearer scope=a");
    assert_eq!(Challenge::select(&headers(&many), false), None);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_within_the_limits(line in proptest::collection::vec(any::<u8>(), 0..400)) {
        if let Ok(value) = HeaderValue::from_bytes(&line) {
            let all = parse_headers(&HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]));
            prop_assert!(all.len() <= 16);
            prop_assert!(all.iter().all(|one| one.parameters.len() <= 32 && !one.scheme.is_empty()));
        }
    }

    #[test]
    fn quoted_values_survive(
        value in "[ -~]{0,60}",
        before in "[a-z]{1,8}",
        commas in prop::bool::ANY,
    ) {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let comma = if commas { "," } else { "" };
        let line = format!("{before} x=\"y\", Bearer a=\"{escaped}\"{comma} scope=\"s\"");
        let all = parse_headers(&headers(&[&line]));
        prop_assert_eq!(all.len(), 2);
        // A value of `=` signs cannot be told apart from padding.
        if !value.bytes().all(|byte| byte == b'=') {
            prop_assert_eq!(all[1].get("a"), Some(value.as_str()));
        }
        prop_assert_eq!(all[1].get("scope"), Some("s"));
    }
}
