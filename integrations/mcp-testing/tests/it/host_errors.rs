//! The error of a host's own HTTP service, among the sources of the client's error.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use mcp::http::HttpChannel;
use mcp::prelude::*;
use tower_service::Service;

/// The error of a host's HTTP service.
#[derive(Debug)]
struct ProxyRefused(u16);

impl fmt::Display for ProxyRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy of the company refuses with {}", self.0)
    }
}

impl Error for ProxyRefused {}

/// Fails before the response, or in its body.
#[derive(Clone)]
struct HostService {
    fails_in_body: bool,
}

impl Service<Request<Bytes>> for HostService {
    type Response = Response<FailingBody>;
    type Error = ProxyRefused;
    type Future = std::future::Ready<Result<Self::Response, ProxyRefused>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ProxyRefused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        std::future::ready(if self.fails_in_body {
            let response = Response::builder().header("content-type", "application/json");
            Ok(response.body(FailingBody).unwrap())
        } else {
            Err(ProxyRefused(7))
        })
    }
}

struct FailingBody;

impl Body for FailingBody {
    type Data = Bytes;
    type Error = ProxyRefused;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ProxyRefused>>> {
        Poll::Ready(Some(Err(ProxyRefused(9))))
    }
}

fn refused(error: &(dyn Error + 'static)) -> Option<u16> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref().map(|ProxyRefused(at)| *at))
}

#[tokio::test(start_paused = true)]
async fn error_from_the_http_service_is_a_source() -> mcp::Result<()> {
    for (fails_in_body, expected) in [(false, 7), (true, 9)] {
        let channel =
            || HttpChannel::with_service("http://localhost/mcp", HostService { fails_in_body });
        let mode = ConnectMode::Pin(ProtocolVersion::V2026_07_28);
        let client = Client::builder().mode(mode).connect(channel()?).await?;
        let error = client.call("now", ()).await.unwrap_err();
        assert_eq!(refused(&error), Some(expected), "{error:?}");
        // Connecting to a session fails with the same source.
        let mode = ConnectMode::Pin(ProtocolVersion::V2025_11_25);
        let error = Client::builder()
            .mode(mode)
            .connect(channel()?)
            .await
            .unwrap_err();
        assert_eq!(refused(&error), Some(expected), "{error:?}");
        // So does the error of the facade.
        assert_eq!(refused(&mcp::Error::from(error)), Some(expected));
    }
    Ok(())
}
