//! Challenges in `WWW-Authenticate` headers: header lines are independent of each other, and the challenge that
//! a client answers survives being written by the rules and read again.

use std::convert::Infallible;
use std::sync::LazyLock;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt as _;
use futures::future::{Ready, ready};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use mcp_auth::{AuthError, Authorizer, Challenge, OAuth, Scopes};
use mcp_core::ChannelError;
use tower_service::Service;

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

/// Number of lines that the parser reads.
const MAX_LINES: usize = 16;
/// Bytes of a line that the parser reads.
const MAX_LINE: usize = 8 << 10;

/// The input: header lines.
fn run(input: &[u8]) {
    let lines = input.split(|&byte| byte == b'\n');
    let lines: Vec<HeaderValue> = lines
        .filter_map(|line| HeaderValue::from_bytes(line).ok())
        .collect();
    let Some(found) = answered(&lines) else {
        return;
    };
    // Other schemes after the challenge change nothing, and lines are independent of each other.
    let basic = HeaderValue::from_static("Basic scope=admin");
    let more = [lines.clone(), vec![basic]].concat();
    let again = answered(&more);
    assert_eq!(
        again.as_ref(),
        Some(&found),
        "a line depends on another one"
    );
    let read = lines.iter().take(MAX_LINES);
    let mut alone = read.filter_map(|line| answered(std::slice::from_ref(line)));
    assert!(
        alone.any(|one| one == found),
        "the challenge is of no single line"
    );
    let written = write(&found);
    if written.len() <= MAX_LINE {
        let again = answered(&[written]).map(|again| parts(&again));
        assert_eq!(again, Some(parts(&found)), "the challenge changed");
    }
}

/// A server that refuses each request with these headers.
#[derive(Clone)]
struct Refusing(HeaderMap);

impl Service<Request<Bytes>> for Refusing {
    type Response = Response<()>;
    type Error = Infallible;
    type Future = Ready<Result<Response<()>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        let mut response = Response::new(());
        *response.status_mut() = StatusCode::UNAUTHORIZED;
        *response.headers_mut() = std::mem::take(&mut self.0);
        ready(Ok(response))
    }
}

/// Returns the challenge that a client answers.
fn answered(lines: &[HeaderValue]) -> Option<Challenge> {
    static AUTHORIZER: LazyLock<Authorizer> = LazyLock::new(|| {
        let oauth = OAuth::token(|| ready(Ok::<_, Infallible>("token")));
        oauth
            .authorizer(URL)
            .unwrap_or_else(|error| panic!("{error}"))
    });
    let lines = lines.iter().cloned();
    let headers = lines.map(|line| (WWW_AUTHENTICATE, line)).collect();
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() = Uri::from_static(URL);
    let sent = AUTHORIZER.service(Refusing(headers)).call(request);
    match sent.now_or_never() {
        Some(Err(ChannelError::Unauthorized { source })) => match source.downcast_ref() {
            Some(AuthError::TokenRefused { challenge, .. }) => challenge.clone(),
            _ => panic!("another error: {source}"),
        },
        other => panic!("no refusal: {:?}", other.map(|sent| sent.map(drop))),
    }
}

const URL: &str = "https://h/mcp";

/// The parameters of a challenge without its scheme.
fn parts(challenge: &Challenge) -> (Option<String>, Option<String>, Option<String>) {
    let scopes = challenge.scope.as_ref().map(Scopes::to_string);
    let (url, error) = (&challenge.resource_metadata, &challenge.error);
    (url.clone(), scopes, error.clone())
}

/// Writes a challenge as one line, with every value in quotes.
fn write(challenge: &Challenge) -> HeaderValue {
    let (url, scope, error) = parts(challenge);
    let named = [
        ("resource_metadata", url),
        ("scope", scope),
        ("error", error),
    ];
    let quoted = named.into_iter().filter_map(|(name, value)| {
        let value = value?.replace('\\', "\\\\").replace('"', "\\\"");
        Some(format!("{name}=\"{value}\""))
    });
    let line = format!("Bearer {}", quoted.collect::<Vec<_>>().join(", "));
    HeaderValue::from_bytes(line.as_bytes()).unwrap_or_else(|error| panic!("{line:?}: {error}"))
}
