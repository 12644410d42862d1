//! Challenges in `WWW-Authenticate` headers: limits hold, header lines are independent of each other, and
//! challenges that were read survive being written by the rules and read again.

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue};
use mcp_auth::__private::{answered, challenges};

use crate::target::Target;

pub(crate) const TARGET: Target = Target {
    name: "challenge",
    run,
    examples: &[
        b"Bearer resource_metadata=\"https://h/p?a=b\", scope=\"a b\", error=\"invalid_token\"",
        b"Negotiate YWJj==, Bearer realm=\"x, Bearer scope=\\\"z\\\"\" scope=a\nDPoP algs=\"ES256\"",
        b"Basic realm=\"\", DPoP error=use_dpop_nonce,, , bearer Scope = \"a\"",
    ],
    fragments: &[
        "Bearer", "bearer", "DPoP", "Basic", "Negotiate", "YWJj==", " ", "\t", ",", ", ", "=", " = ", "\"",
        "\\", "\\\"", "\n", "scope", "scope=\"a b\"", "resource_metadata=", "https://h/p?a=b&c", "error=",
        "insufficient_scope", "use_dpop_nonce", "realm=\"x\"", "algs=\"ES256\"", "é", "%",
    ],
};

/// A scheme with its parameters.
type Challenge = (String, Vec<(String, String)>);

/// Limits of the parser.
const MAX_LINES: usize = 16;
const MAX_LINE: usize = 8 << 10;
const MAX_CHALLENGES: usize = 16;
const MAX_PARAMETERS: usize = 32;

/// The input: header lines.
fn run(input: &[u8]) {
    let lines = input.split(|&byte| byte == b'\n');
    let lines: Vec<HeaderValue> = lines
        .filter_map(|line| HeaderValue::from_bytes(line).ok())
        .collect();
    let all = challenges(&headers(&lines));
    assert!(all.len() <= MAX_CHALLENGES);
    for (scheme, parameters) in &all {
        assert!(is_token(scheme), "the scheme {scheme:?}");
        assert!(parameters.len() <= MAX_PARAMETERS);
        assert!(parameters.iter().all(|(name, _)| is_token(name)));
    }
    let each = lines.iter().take(MAX_LINES);
    let each = each.flat_map(|line| challenges(&headers(std::slice::from_ref(line))));
    let each: Vec<Challenge> = each.take(MAX_CHALLENGES).collect();
    assert_eq!(all, each, "a line depends on another one");
    let written: Vec<HeaderValue> = all.iter().map(write).collect();
    if written.iter().all(|line| line.len() <= MAX_LINE) {
        let written = headers(&written);
        assert_eq!(challenges(&written), all, "challenges changed: {written:?}");
        for prefers_dpop in [true, false] {
            let selected = answered(&written, prefers_dpop);
            assert_eq!(selected, answered(&headers(&lines), prefers_dpop));
            let has = |name: &str| {
                all.iter()
                    .any(|(scheme, _)| scheme.eq_ignore_ascii_case(name))
            };
            assert_eq!(selected.is_some(), has("Bearer") || has("DPoP"));
        }
    }
}

fn headers(lines: &[HeaderValue]) -> HeaderMap {
    let lines = lines.iter().cloned();
    lines.map(|line| (WWW_AUTHENTICATE, line)).collect()
}

/// Writes a challenge as one line, with every value in quotes.
fn write((scheme, parameters): &Challenge) -> HeaderValue {
    let quoted = parameters.iter().map(|(name, value)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{name}=\"{value}\"")
    });
    let line = format!("{scheme} {}", quoted.collect::<Vec<_>>().join(", "));
    HeaderValue::from_bytes(line.as_bytes()).unwrap_or_else(|error| panic!("{line:?}: {error}"))
}

fn is_token(text: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/".contains(&byte);
    !text.is_empty() && text.bytes().all(is_token)
}
