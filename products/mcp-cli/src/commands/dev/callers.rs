//! The callers of `mcp dev`. A local port is not a login: where this command sends credentials to the program, callers
//! bring the same ones.

use std::error::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use mcp::StreamableHttp;
use mcp::http::{Authorization, ProtectedEndpoint};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::page_guard::{is_equal, run_until};

/// Maximum number of tokens that the program has printed. With more, the oldest is refused.
const MAX_TOKENS: usize = 16;

/// The text for callers without the credentials.
const REFUSAL: &str = "the program behind `mcp dev` gets credentials, so callers need them, too: pass the same --header, \
    or the token that the program prints\n";

/// The credentials that callers need. Clones share them.
#[derive(Clone)]
pub(super) struct Callers(Arc<Credentials>);

struct Credentials {
    /// The headers on the command line. Callers need all of them.
    headers: Vec<(String, String)>,
    /// The tokens that the program has printed, each as a header value. Callers need one, unless headers are given.
    printed: Mutex<Vec<String>>,
    /// The header value of the inspector.
    inspector: String,
    /// Ends what callers without a token have opened before the program printed its first one.
    demanded: CancellationToken,
}

/// An endpoint for these callers.
pub(super) struct Endpoint {
    callers: Callers,
    /// True for the endpoint of the inspector alone.
    is_inspector: bool,
}

impl Callers {
    /// `token`: the token of the inspector.
    pub(super) fn new(headers: &[(String, String)], token: &str) -> Self {
        Self(Arc::new(Credentials {
            headers: headers.to_vec(),
            printed: Mutex::default(),
            inspector: bearer(token),
            demanded: CancellationToken::new(),
        }))
    }

    /// Adds a token that the program has printed and gets. Returns true for the first one that callers need, which ends the
    /// responses to callers without one.
    pub(super) fn add(&self, token: &str) -> bool {
        let mut printed = self.0.printed.lock();
        let value = bearer(token);
        if self.0.headers.is_empty() && !printed.contains(&value) {
            printed.push(value);
            let surplus = printed.len().saturating_sub(MAX_TOKENS);
            printed.drain(..surplus);
            self.0.demanded.cancel();
            return printed.len() == 1;
        }
        false
    }

    /// Returns true for headers with the credentials, and for all while none are needed.
    pub(super) fn admit(&self, headers: &HeaderMap) -> bool {
        let Credentials {
            headers: given,
            printed,
            inspector,
            ..
        } = &*self.0;
        if has(headers, header::AUTHORIZATION.as_str(), inspector) {
            return true;
        }
        let printed = printed.lock();
        let has_token = |value: &String| has(headers, header::AUTHORIZATION.as_str(), value);
        given.iter().all(|(name, value)| has(headers, name, value))
            && (printed.is_empty() || printed.iter().any(has_token))
    }

    pub(super) fn endpoint(&self, is_inspector: bool) -> Endpoint {
        Endpoint {
            callers: self.clone(),
            is_inspector,
        }
    }

    /// The header of the inspector.
    pub(super) fn inspector(&self) -> (String, String) {
        (header::AUTHORIZATION.to_string(), self.0.inspector.clone())
    }
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

fn has(headers: &HeaderMap, name: &str, value: &str) -> bool {
    let mut values = headers.get_all(name).iter().map(|found| found.to_str());
    values.any(|found| found.is_ok_and(|found| is_equal(found, value)))
}

impl Authorization for Endpoint {
    type Service = Router;

    fn host(&self) -> Option<String> {
        None
    }

    fn path(&self) -> Option<String> {
        None
    }

    fn protect(
        self,
        endpoint: StreamableHttp,
    ) -> Result<ProtectedEndpoint<Router>, Box<dyn Error + Send + Sync>> {
        let endpoint = Router::new().fallback_service(endpoint);
        Ok(ProtectedEndpoint {
            service: endpoint.layer(from_fn_with_state(Arc::new(self), check)),
            paths: Vec::new(),
        })
    }
}

async fn check(State(endpoint): State<Arc<Endpoint>>, request: Request, next: Next) -> Response {
    let (name, value) = endpoint.callers.inspector();
    let is_admitted = if endpoint.is_inspector {
        has(request.headers(), &name, &value)
    } else {
        endpoint.callers.admit(request.headers())
    };
    if is_admitted {
        let is_open =
            !has(request.headers(), &name, &value) && endpoint.callers.0.headers.is_empty();
        let demanded = endpoint.callers.0.demanded.clone();
        if !is_open || demanded.is_cancelled() {
            return next.run(request).await;
        }
        if let Some(response) = run_until(&demanded, request, next).await {
            return response;
        }
    }
    let challenge = [(header::WWW_AUTHENTICATE, "Bearer")];
    (StatusCode::UNAUTHORIZED, challenge, REFUSAL).into_response()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::{HeaderMap, Request, StatusCode};
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use futures_util::{FutureExt as _, stream};
    use tower_service::Service as _;

    use super::{Callers, check};

    fn headers(list: &[(&'static str, &str)]) -> HeaderMap {
        let headers = list.iter();
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        headers.collect()
    }

    #[test]
    fn callers_need_what_the_program_gets() {
        let none = headers(&[]);
        let open = Callers::new(&[], "page");
        assert!(open.admit(&none));
        assert!(open.add("one") && !open.add("two"));
        assert!(!open.admit(&none));
        for (value, is_admitted) in [
            ("Bearer one", true),
            ("Bearer two", true),
            ("Bearer page", true),
            ("Bearer three", false),
            ("one", false),
        ] {
            let brought = headers(&[("authorization", value)]);
            assert_eq!(open.admit(&brought), is_admitted, "{value}");
        }
        let given = [("X-Key", "a"), ("X-Team", "b")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let callers = Callers::new(&given, "page");
        assert!(!callers.add("one") && !callers.admit(&none));
        assert!(!callers.admit(&headers(&[("x-key", "a")])));
        assert!(callers.admit(&headers(&[("x-key", "a"), ("x-team", "b")])));
    }
    /// A stream or call that began while the program had no token ends with its first one.
    #[tokio::test]
    async fn responses_without_a_token_end_when_the_program_prints_one() {
        let callers = Callers::new(&[], "page");
        let endpoint = Arc::new(callers.endpoint(false));
        let streamed =
            get(async || Body::from_stream(stream::pending::<Result<Vec<u8>, Infallible>>()));
        let waiting = get(async || std::future::pending::<()>().await);
        let router = Router::new()
            .route("/stream", streamed)
            .route("/call", waiting);
        let mut router = router.layer(from_fn_with_state(endpoint, check));
        let mut send = |path: &str, token: &str| {
            let request = Request::get(path).header("authorization", format!("Bearer {token}"));
            router.call(request.body(Body::empty()).unwrap())
        };
        let (open, page) = (
            send("/stream", "").await.unwrap(),
            send("/stream", "page").await.unwrap(),
        );
        let mut call = Box::pin(send("/call", ""));
        assert!((&mut call).now_or_never().is_none());
        let mut open = Box::pin(to_bytes(open.into_body(), 1));
        assert!((&mut open).now_or_never().is_none());
        callers.add("one");
        let ended = open.now_or_never();
        assert!(ended.is_some_and(|ended| ended.unwrap().is_empty()));
        let refused = call.now_or_never();
        assert!(
            refused.is_some_and(|response| response.unwrap().status() == StatusCode::UNAUTHORIZED)
        );
        assert!(to_bytes(page.into_body(), 1).now_or_never().is_none());
        assert_eq!(
            send("/stream", "").await.unwrap().status(),
            StatusCode::UNAUTHORIZED
        );
        let later = send("/stream", "one").await.unwrap();
        assert!(to_bytes(later.into_body(), 1).now_or_never().is_none());
    }
}
