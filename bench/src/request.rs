//! Requests without a socket.

use std::error::Error;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Request};

/// Parses a complete POST request.
///
/// # Errors
///
/// Returns an error for a request whose head is malformed.
pub fn parse(bytes: &[u8]) -> Result<Request<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
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
