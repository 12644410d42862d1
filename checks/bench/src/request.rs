//! Requests without a socket.

use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request, Response};
use mcp::http::server::{Body, StreamableHttp};
use tower_service::Service as _;

use crate::{Failure, era};

/// Parses a complete POST request.
///
/// # Errors
///
/// Returns an error for a request whose head is malformed.
pub fn parse(bytes: &[u8]) -> Result<Request<Full<Bytes>>, Failure> {
    let end =
        memchr::memmem::find(bytes, b"\r\n\r\n").ok_or("the request has no end of its head")?;
    let (head, body) = bytes.split_at(end);
    let mut lines = std::str::from_utf8(head)?.split("\r\n").skip(1);
    let mut request = Request::builder().method(Method::POST).uri(crate::PATH);
    for line in lines.by_ref() {
        let (name, value) = line.split_once(": ").ok_or("a header line has no colon")?;
        request = request.header(name, value);
    }
    let body = body.get(4..).unwrap_or_default();
    Ok(request.body(Full::new(Bytes::copy_from_slice(body)))?)
}

/// Sends a complete request to `endpoint`.
///
/// # Errors
///
/// Returns an error for a request whose head is malformed.
pub async fn send(
    endpoint: &mut StreamableHttp,
    request: &[u8],
) -> Result<Response<Body>, Failure> {
    endpoint.call(parse(request)?).await.map_err(never)
}

/// Opens a session of `endpoint` and returns its id.
///
/// # Errors
///
/// Returns an error when the answer to `initialize` has no session id.
pub async fn open_session(endpoint: &mut StreamableHttp) -> Result<String, Failure> {
    let response = send(endpoint, &era::post(80, "", &era::initialize())).await?;
    let session = response.headers().get("mcp-session-id");
    let session = session.ok_or("the server did not open a session")?;
    let session = session.to_str()?.to_owned();
    let headers = era::session_headers(&session);
    send(endpoint, &era::post(80, &headers, era::INITIALIZED)).await?;
    Ok(session)
}

/// Converts the error of a service that has none.
#[must_use]
pub fn never(error: Infallible) -> Failure {
    match error {}
}
