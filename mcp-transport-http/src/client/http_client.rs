//! [`HttpClient`], the default HTTP client, on top of reqwest.

use std::any::Any;
use std::error::Error;
use std::net::IpAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::{fmt, io};

use bytes::{Buf, Bytes};
use http::Uri;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use mcp_core::{BoxFuture, ChannelError, TlsError};
use tower_service::Service;

use super::body::BoxError;

/// An HTTP/1.1 client with a connection pool, as a [`tower_service::Service`]. To add layers, wrap
/// it and pass the result to [`HttpChannel::with_service`](super::HttpChannel::with_service).
///
/// TLS trusts the operating system's certificates. Redirects are not followed. The proxies of
/// the environment are used, except for loopback addresses. Clones are cheap and share the pool.
///
/// [`HttpClient::builder`] sets proxies, certificates and more.
#[derive(Clone)]
pub struct HttpClient {
    pub(super) remote: reqwest::Client,
    /// For loopback addresses, which proxies cannot reach.
    pub(super) local: reqwest::Client,
    /// `remote` uses the proxies of the environment.
    pub(super) uses_environment: bool,
}

impl Service<http::Request<Bytes>> for HttpClient {
    type Response = http::Response<HttpBody>;
    type Error = ChannelError;
    type Future = BoxFuture<'static, Result<Self::Response, ChannelError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ChannelError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Bytes>) -> Self::Future {
        let uri = request.uri().clone();
        let is_loopback = is_loopback(&uri);
        let client = if is_loopback {
            &self.local
        } else {
            &self.remote
        };
        let uses_environment = self.uses_environment && !is_loopback;
        let response = reqwest::Request::try_from(request).map(|request| client.execute(request));
        Box::pin(async move {
            let response = match response {
                Ok(response) => response.await,
                Err(error) => Err(error),
            };
            match response {
                Ok(response) => Ok(http::Response::from(response).map(HttpBody::from_reqwest)),
                Err(error) => {
                    let socks = uses_environment.then(|| socks_variable(&uri)).flatten();
                    Err(request_error(&error, &uri, socks))
                }
            }
        })
    }
}

/// Converts a request error. Only the innermost error is kept: the outer ones repeat it, and
/// the outermost shows the URL, whose query may be a secret. `socks` is the variable of a proxy that cannot be used.
fn request_error(error: &reqwest::Error, uri: &Uri, socks: Option<&str>) -> ChannelError {
    let mut cause = root_cause(error);
    if let Some(name) = socks {
        cause.push_str(&format!(
            "; the variable {name} names a SOCKS proxy, which is not supported: set HTTPS_PROXY to an HTTP proxy"
        ));
    }
    let source: BoxError = if error.is_timeout() {
        io::Error::new(io::ErrorKind::TimedOut, cause.as_str()).into()
    } else if let Some(error) = tls_error(error) {
        TlsError::new(match error {
            rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType) => {
                "the server does not speak TLS; begin the URL with http:".to_owned()
            }
            _ => cause.clone(),
        })
        .into()
    } else {
        cause.as_str().into()
    };
    if error.is_connect() {
        let scheme = uri.scheme_str().unwrap_or_default();
        let authority = uri.authority().map_or("", http::uri::Authority::as_str);
        let peer = format!("{scheme}://{authority}");
        return ChannelError::Connect { peer, source };
    }
    if error.is_builder() {
        return ChannelError::NotSendable(cause);
    }
    ChannelError::Broken {
        source: Some(source),
    }
}

/// Returns the TLS error among the causes. An [`io::Error`] contains it without naming it as its source.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = error
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref);
    error
        .downcast_ref()
        .or_else(|| inner.and_then(|inner| tls_error(inner)))
        .or_else(|| error.source().and_then(tls_error))
}

fn root_cause(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "the request timed out".to_owned();
    }
    match std::iter::successors(error.source(), |&error| error.source()).last() {
        Some(root) => root.to_string(),
        None => "the request failed".to_owned(),
    }
}

/// Returns the environment variable that sends a request to a SOCKS proxy.
fn socks_variable(uri: &Uri) -> Option<&'static str> {
    let variables = match uri.scheme_str() {
        Some("https") => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        _ => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let set = variables.into_iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some((name, value))
    });
    let (name, value) = set?;
    value.starts_with("socks").then_some(name)
}

/// Returns whether `uri` is on this machine, which a proxy cannot reach.
pub(super) fn is_loopback(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || literal
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

/// The response body of [`HttpClient`] or [`ChannelService`](super::ChannelService).
pub struct HttpBody(UnsyncBoxBody<Bytes, ChannelError>);

impl HttpBody {
    fn from_reqwest(body: reqwest::Body) -> Self {
        let broken = |error: reqwest::Error| ChannelError::Broken {
            source: Some(error.without_url().into()),
        };
        Self(body.map_err(broken).boxed_unsync())
    }

    /// Converts the body of any HTTP client. Most are of this type already.
    pub(super) fn new<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        let mut body = Some(body);
        let any: &mut dyn Any = &mut body;
        if let Some(known) = any.downcast_mut::<Option<Self>>().and_then(Option::take) {
            return known;
        }
        let bytes = |mut data: B::Data| data.copy_to_bytes(data.remaining());
        let body = body.map_or_else(UnsyncBoxBody::default, |body| {
            body.map_frame(move |frame| frame.map_data(bytes))
                .map_err(ChannelError::broken)
                .boxed_unsync()
        });
        Self(body)
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = ChannelError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ChannelError>>> {
        Pin::new(&mut self.0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpBody").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn is_loopback_for_local_hosts_only() {
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:8000",
            "127.9.9.9",
            "[::1]:1",
        ] {
            assert!(
                is_loopback(&format!("http://{host}/").parse().unwrap()),
                "{host}"
            );
        }
        for host in ["example.com", "localhost.example", "10.0.0.1", "[fe80::1]"] {
            assert!(
                !is_loopback(&format!("http://{host}/").parse().unwrap()),
                "{host}"
            );
        }
    }
}
