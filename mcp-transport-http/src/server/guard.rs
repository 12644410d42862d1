//! What a request must be before anything is read or allocated for it: the right host, from the
//! right origin, with the right verb, types and size.
//!
//! The checks look at the head only. Allow lists are brought into one shape when the endpoint is
//! built, so that a request costs a few comparisons.

mod accept;
mod authority;

use std::fmt;

use http::header::{HeaderMap, HeaderValue};
use http::{Method, StatusCode, Uri};

use crate::headers::{Found, names, number, trim_blanks};
use authority::Allowed;

/// The parts of a request's head that the guard looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a Method,
    pub(crate) uri: &'a Uri,
    pub(crate) headers: &'a HeaderMap,
}

/// Why a request is turned away at the door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// For the `message` of the JSON-RPC error in the body.
    pub(crate) message: String,
    /// The `Allow` header of a 405.
    pub(crate) allow: Option<HeaderValue>,
}

impl Refusal {
    #[cold]
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
            allow: None,
        }
    }
}

/// The rules, with allow lists in the shape in which they are compared.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    hosts: Allowed,
    origins: Allowed,
    pub(crate) body_limit: usize,
}

/// What the guard has learned about the body on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    /// `Content-Length`, within the limit.
    pub(crate) content_length: Option<usize>,
}

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Guard {
    /// Lets in requests to and from this machine only.
    // spec: HTTP-S-04
    pub(crate) fn new(body_limit: usize) -> Self {
        Self {
            hosts: Allowed::new(LOOPBACK),
            origins: Allowed::new(LOOPBACK),
            body_limit,
        }
    }

    pub(crate) fn allow_hosts<I: IntoIterator<Item: AsRef<str>>>(&mut self, hosts: I) {
        self.hosts = Allowed::new(hosts);
    }

    pub(crate) fn allow_origins<I: IntoIterator<Item: AsRef<str>>>(&mut self, origins: I) {
        self.origins = Allowed::new(origins);
    }

    /// Checks a request that should be a POST of one message.
    pub(crate) fn check(&self, head: Head<'_>) -> Result<Admitted, Refusal> {
        let seen = Seen::in_head(head);
        let admitted = self.check_seen(head, &seen)?;
        check_accept(head.headers, seen.accept)?;
        Ok(admitted)
    }

    /// Checks a POST whose answer says nothing.
    pub(crate) fn check_message(&self, head: Head<'_>) -> Result<Admitted, Refusal> {
        self.check_seen(head, &Seen::in_head(head))
    }

    fn check_seen(&self, head: Head<'_>, seen: &Seen<'_>) -> Result<Admitted, Refusal> {
        self.check_host(head.uri, seen.host)?;
        self.check_origin(head.headers, seen.origin)?;
        check_method(head.method)?;
        check_content_type(seen)?;
        let content_length = self.check_length(seen.content_length)?;
        Ok(Admitted { content_length })
    }

    /// Checks where a request comes from and goes to.
    pub(crate) fn check_origins(&self, head: Head<'_>) -> Result<(), Refusal> {
        let seen = Seen::in_head(head);
        self.check_host(head.uri, seen.host)?;
        self.check_origin(head.headers, seen.origin)
    }

    /// The `Host` header, and with it the authority of the target: HTTP/2 has only that, and
    /// HTTP/1 may name one that overrules the header. Each one that is there must be allowed.
    fn check_host(&self, uri: &Uri, header: Found<'_>) -> Result<(), Refusal> {
        if self.hosts.is_any() {
            return Ok(());
        }
        let header = header.only().map_err(|_| {
            Refusal::new(
                StatusCode::BAD_REQUEST,
                "the request has more than one Host header",
            )
        })?;
        let authority = uri
            .authority()
            .map(|authority| authority.as_str().as_bytes());
        if header.is_none() && authority.is_none() {
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "the request has no Host header; this server needs one to tell its own name \
                 from foreign ones",
            ));
        }
        for host in [header.map(HeaderValue::as_bytes), authority]
            .into_iter()
            .flatten()
        {
            if !self.hosts.has_host(host) {
                return Err(forbidden("Host", host, "allowed_hosts"));
            }
        }
        Ok(())
    }

    // spec: HTTP-S-02, HTTP-S-03
    fn check_origin(&self, headers: &HeaderMap, seen: Found<'_>) -> Result<(), Refusal> {
        if self.origins.is_any() || seen.first.is_none() {
            return Ok(());
        }
        for origin in headers.get_all(names::ORIGIN) {
            let origin = origin.as_bytes();
            if !self.origins.has_origin(origin) {
                return Err(forbidden("Origin", origin, "allowed_origins"));
            }
        }
        Ok(())
    }

    fn check_length(&self, header: Found<'_>) -> Result<Option<usize>, Refusal> {
        let Some(length) = header.first else {
            return Ok(None);
        };
        // A length that is not a number is the HTTP server's business; the body is counted anyway.
        let Some(length) = number(trim_blanks(length.as_bytes())) else {
            return Ok(None);
        };
        match usize::try_from(length) {
            Ok(length) if length <= self.body_limit => Ok(Some(length)),
            _ => Err(too_large(self.body_limit)),
        }
    }
}

/// The headers that the guard looks at.
#[derive(Default)]
struct Seen<'a> {
    host: Found<'a>,
    origin: Found<'a>,
    accept: Found<'a>,
    content_type: Found<'a>,
    content_encoding: Found<'a>,
    content_length: Found<'a>,
}

impl<'a> Seen<'a> {
    fn in_head(head: Head<'a>) -> Self {
        let mut seen = Self::default();
        for (name, value) in head.headers {
            let found = match name {
                _ if name == names::HOST => &mut seen.host,
                _ if name == names::ORIGIN => &mut seen.origin,
                _ if name == names::ACCEPT => &mut seen.accept,
                _ if name == names::CONTENT_TYPE => &mut seen.content_type,
                _ if name == names::CONTENT_ENCODING => &mut seen.content_encoding,
                _ if name == names::CONTENT_LENGTH => &mut seen.content_length,
                _ => continue,
            };
            found.add(value);
        }
        seen
    }
}

/// The answer to a body over the limit, whether announced or counted.
#[cold]
pub(crate) fn too_large(limit: usize) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the body is larger than the limit of {limit} bytes (StreamableHttp::body_limit)"),
    )
}

// spec: COMPAT-05, HTTP-SM-19, HTTP-S-10
fn check_method(method: &Method) -> Result<(), Refusal> {
    if method == Method::POST {
        return Ok(());
    }
    Err(not_served(method))
}

/// The answer to a verb that is not served.
// spec: HTTP-S-10
#[cold]
pub(crate) fn not_served(method: &Method) -> Refusal {
    Refusal {
        allow: Some(names::ALLOW_POST),
        ..Refusal::new(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("{method} is not served here; send each message in a POST of its own"),
        )
    }
}

// spec: HTTP-S-10
fn check_content_type(seen: &Seen<'_>) -> Result<(), Refusal> {
    let refuse = |given: &dyn fmt::Display| {
        Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!("Content-Type must be {}, not {given}", names::JSON_TYPE),
        ))
    };
    match seen.content_type.only() {
        Ok(Some(value)) if accept::is_json(value.as_bytes()) => {}
        Ok(Some(value)) => return refuse(&Shown(value.as_bytes())),
        Ok(None) => return refuse(&"absent"),
        Err(_) => return refuse(&"sent twice"),
    }
    match seen.content_encoding.first {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => Err(Refusal::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            format!(
                "Content-Encoding {} is not supported; send the body as it is",
                Shown(coding.as_bytes())
            ),
        )),
        _ => Ok(()),
    }
}

/// The server chooses between JSON and an event stream only once it knows the answer, so the
/// client must take either. No `Accept` at all means that it takes anything.
// spec: HTTP-S-08, HTTP-S-10
fn check_accept(headers: &HeaderMap, seen: Found<'_>) -> Result<(), Refusal> {
    if seen
        .first
        .is_none_or(|first| accept::is_usual(first.as_bytes()))
    {
        return Ok(());
    }
    if accept::takes_both(
        headers
            .get_all(names::ACCEPT)
            .iter()
            .map(HeaderValue::as_bytes),
    ) {
        return Ok(());
    }
    let given = headers
        .get(names::ACCEPT)
        .map(HeaderValue::as_bytes)
        .unwrap_or_default();
    Err(Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        format!(
            "Accept must allow both {} and {}, not only {}",
            names::JSON_TYPE,
            names::EVENT_STREAM_TYPE,
            Shown(given)
        ),
    ))
}

/// A stream is all that a GET can get.
// spec: HTTP-SL-08, HTTP-S-10
pub(crate) fn check_accepts_events(headers: &HeaderMap) -> Result<(), Refusal> {
    let lines = headers.get_all(names::ACCEPT).iter();
    if accept::takes_events(lines.map(HeaderValue::as_bytes)) {
        return Ok(());
    }
    let given = headers.get(names::ACCEPT).map(HeaderValue::as_bytes);
    Err(Refusal::new(
        StatusCode::NOT_ACCEPTABLE,
        format!(
            "Accept must allow {}, not only {}",
            names::EVENT_STREAM_TYPE,
            Shown(given.unwrap_or_default())
        ),
    ))
}

#[cold]
fn forbidden(header: &str, value: &[u8], setting: &str) -> Refusal {
    let value = Shown(value);
    tracing::warn!(header, %value, setting, "a request is refused");
    Refusal::new(
        StatusCode::FORBIDDEN,
        format!(
            "{header} {value} is not allowed; if it is one of yours, add it with \
             StreamableHttp::{setting}([{value}])"
        ),
    )
}

/// A foreign value in a text for people: quoted, escaped, and not longer than it need be.
struct Shown<'a>(&'a [u8]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ENOUGH: usize = 200;
        let shown = self.0.get(..ENOUGH).unwrap_or(self.0);
        let rest = if shown.len() < self.0.len() {
            "…"
        } else {
            ""
        };
        write!(f, "\"{}{rest}\"", shown.escape_ascii())
    }
}

#[cfg(test)]
mod tests;
