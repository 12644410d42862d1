//! Challenges: the `WWW-Authenticate` headers of a 401 or 403 response.
//!
//! Spec: RFC 9110, section 11.6.1. The parser also accepts what servers send against the rules:
//! parameters without a comma between them, and URLs without quotes. Text inside quotes is never
//! searched for parameters.

use http::HeaderMap;
use http::header::WWW_AUTHENTICATE;

use crate::scope::Scopes;

/// Number of header lines that are read.
const MAX_LINES: usize = 16;
/// Bytes of a header line that are read.
const MAX_LINE: usize = 8 << 10;
/// Number of challenges that are kept.
const MAX_CHALLENGES: usize = 16;
/// Number of challenge parameters that are kept.
const MAX_PARAMETERS: usize = 32;

/// The scheme of an access token, and of the challenge that demands one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenType {
    Bearer,
    Dpop,
}

/// The challenge of an MCP server that refuses a request: the Bearer or DPoP challenge in
/// `WWW-Authenticate`. Its texts are those of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Challenge {
    pub(crate) scheme: TokenType,
    /// The URL of the server's metadata, unchecked.
    pub resource_metadata: Option<String>,
    /// The demanded scopes.
    pub scope: Option<Scopes>,
    /// The error code, such as `invalid_token`.
    pub error: Option<String>,
}

impl Challenge {
    /// Selects a challenge: the preferred scheme first, then the other one.
    pub(crate) fn select(headers: &HeaderMap, prefers_dpop: bool) -> Option<Self> {
        let all = parse_headers(headers);
        let find = |name: &str, scheme| {
            let found = all.iter().find(|one| one.scheme.eq_ignore_ascii_case(name));
            found.map(|one| Self::from_raw(one, scheme))
        };
        let bearer = || find("Bearer", TokenType::Bearer);
        let dpop = || find("DPoP", TokenType::Dpop);
        if prefers_dpop {
            dpop().or_else(bearer)
        } else {
            bearer().or_else(dpop)
        }
    }

    fn from_raw(raw: &RawChallenge, scheme: TokenType) -> Self {
        let scope = raw.get("scope").map(Scopes::parse);
        Self {
            scheme,
            resource_metadata: raw.get("resource_metadata").map(str::to_owned),
            scope: scope.filter(|scopes| !scopes.is_empty()),
            error: raw.get("error").map(str::to_owned),
        }
    }

    /// Returns whether the server demands further scopes.
    pub(crate) fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Returns whether the server demands a nonce in the proof of possession.
    pub(crate) fn is_use_dpop_nonce(&self) -> bool {
        self.error.as_deref() == Some("use_dpop_nonce")
    }
}

/// A challenge of any scheme.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RawChallenge {
    pub(crate) scheme: String,
    pub(crate) parameters: Vec<(String, String)>,
}

impl RawChallenge {
    /// Returns the first value of a parameter.
    fn get(&self, name: &str) -> Option<&str> {
        let found = self
            .parameters
            .iter()
            .find(|(given, _)| given.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// Parses all headers, within the limits.
pub(crate) fn parse_headers(headers: &HeaderMap) -> Vec<RawChallenge> {
    let mut all = Vec::new();
    for value in headers.get_all(WWW_AUTHENTICATE).iter().take(MAX_LINES) {
        let line = value.as_bytes();
        // A cut line could end inside a value.
        if line.len() <= MAX_LINE {
            parse_line(line, &mut all);
        }
    }
    all
}

/// Parses one header line. Parameters of different lines never belong to one challenge.
fn parse_line(line: &[u8], all: &mut Vec<RawChallenge>) {
    let mut input = Input { rest: line };
    let mut current: Option<RawChallenge> = None;
    while let Some(token) = input.next_token() {
        input.skip_blanks();
        if !input.skip(b'=') {
            let scheme = String::from_utf8_lossy(token).into_owned();
            let next = RawChallenge {
                scheme,
                parameters: Vec::new(),
            };
            push(all, current.replace(next));
            continue;
        }
        let value = input.value();
        if let (Some(challenge), Some(value)) = (&mut current, value)
            && challenge.parameters.len() < MAX_PARAMETERS
        {
            let name = String::from_utf8_lossy(token).into_owned();
            challenge.parameters.push((name, value));
        }
    }
    push(all, current);
}

fn push(all: &mut Vec<RawChallenge>, challenge: Option<RawChallenge>) {
    if all.len() < MAX_CHALLENGES {
        all.extend(challenge);
    }
}

/// The unread part of a line.
struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    fn skip_blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// Reads the next token and skips everything before it. Quoted strings without a name are
    /// skipped as a whole.
    fn next_token(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.rest {
                [] => return None,
                [b'"', ..] => {
                    self.quoted();
                }
                [first, ..] if is_token(*first) => return Some(self.take_while(is_token)),
                [_, rest @ ..] => self.rest = rest,
            }
        }
    }

    /// Reads the value after `=`. Returns `None` for a token68 value's padding, for an
    /// unterminated string, and for bytes that are not text.
    fn value(&mut self) -> Option<String> {
        self.skip_blanks();
        let value = match self.rest {
            [b'"', ..] => self.quoted()?,
            _ => {
                let is_value = |byte: u8| !matches!(byte, b' ' | b'\t' | b',' | b'"');
                self.take_while(is_value).to_vec()
            }
        };
        let is_padding = value.iter().all(|&byte| byte == b'=');
        String::from_utf8(value).ok().filter(|_| !is_padding)
    }

    /// Reads a quoted string. Returns `None` when its end is missing.
    fn quoted(&mut self) -> Option<Vec<u8>> {
        self.skip(b'"');
        let mut value = Vec::new();
        loop {
            match self.rest {
                [] => return None,
                [b'"', rest @ ..] => {
                    self.rest = rest;
                    return Some(value);
                }
                [b'\\', escaped, rest @ ..] => {
                    value.push(*escaped);
                    self.rest = rest;
                }
                [byte, rest @ ..] => {
                    value.push(*byte);
                    self.rest = rest;
                }
            }
        }
    }

    fn take_while(&mut self, matches: impl Fn(u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| !matches(byte));
        let (taken, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use http::header::WWW_AUTHENTICATE;
    use http::{HeaderMap, HeaderValue};
    use proptest::prelude::*;

    use super::{Challenge, RawChallenge, TokenType, parse_headers};

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

    /// Writes a challenge as one line, with every value in quotes.
    fn write(challenge: &RawChallenge) -> String {
        let quoted = challenge.parameters.iter().map(|(name, value)| {
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{name}=\"{value}\"")
        });
        let quoted: Vec<String> = quoted.collect();
        format!("{} {}", challenge.scheme, quoted.join(", "))
    }

    const URL: &str = "https://h/.well-known/oauth-protected-resource?a=b";

    // spec: AUTH-C-02
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
    fn select_ignores_parameters_in_quotes() {
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
        assert_eq!(challenge.scheme, TokenType::Bearer);
    }

    #[test]
    fn select_prefers_the_configured_scheme() {
        let both = headers(&["Bearer scope=\"a\"", "DPoP scope=\"b\""]);
        let dpop = Challenge::select(&both, true).unwrap();
        assert_eq!(dpop.scope.unwrap().to_string(), "b");
        let only = headers(&["DPoP resource_metadata=\"https://h/p\""]);
        let found = Challenge::select(&only, false).unwrap();
        assert_eq!(found.scheme, TokenType::Dpop);
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
        fn lines_are_independent_and_challenges_survive_rewriting(
            lines in proptest::collection::vec("[ -~\t]{0,80}", 0..4),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let all = parse_headers(&headers(&lines));
            let each = lines.iter().flat_map(|line| parse_headers(&headers(&[line])));
            prop_assert_eq!(&all, &each.take(16).collect::<Vec<_>>());
            let written: Vec<String> = all.iter().map(write).collect();
            let written: Vec<&str> = written.iter().map(String::as_str).collect();
            prop_assert_eq!(parse_headers(&headers(&written)), all);
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
}
