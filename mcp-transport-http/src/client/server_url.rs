//! A server URL: the form that is sent, and the form that errors show.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::{InvalidUri, Uri};
use http::{HeaderValue, Response, header::InvalidHeaderValue};
use mcp_core::{ChannelError, Connection, Transport};
use percent_encoding::percent_decode_str;
use url::{ParseError, Url};

use crate::headers::names;

/// A server URL.
#[derive(Clone)]
pub(super) struct ServerUrl {
    /// The request target: the URL without userinfo and fragment.
    pub(super) uri: Uri,
    /// The URL for error messages: without userinfo, query and fragment, which may be secrets.
    pub(super) shown: Box<str>,
    /// An `Authorization: Basic` header made from the URL's userinfo.
    pub(super) authorization: Option<HeaderValue>,
}

impl ServerUrl {
    pub(super) fn parse(text: &str) -> Result<Self, ChannelError> {
        // Errors omit the URL itself, which may contain a password.
        let unsendable = |reason: String| ChannelError::NotSendable(format!("the URL {reason}"));
        let no_scheme =
            || unsendable("has no scheme; begin it with http:// or https://".to_owned());
        let url = Url::parse(text.trim()).map_err(|error| match error {
            ParseError::RelativeUrlWithoutBase => no_scheme(),
            error => unsendable(format!("is invalid: {error}")),
        })?;
        if !matches!(url.scheme(), "http" | "https") {
            // A host name before a port looks like a scheme.
            if url.cannot_be_a_base() {
                return Err(no_scheme());
            }
            let scheme = url.scheme();
            return Err(unsendable(format!(
                "begins with {scheme}:, not with http: or https:"
            )));
        }
        let authorization = basic_authorization(&url)
            .map_err(|_| unsendable("has a user name that no header can carry".to_owned()))?;
        let uri = to_uri(url.clone());
        Ok(Self {
            uri: uri.map_err(|error| unsendable(format!("is invalid: {error}")))?,
            shown: without_secrets(url),
            authorization,
        })
    }

    /// Returns the server's address.
    pub(super) fn connection(&self) -> Connection {
        let port = self.uri.port_u16().or(match self.uri.scheme_str() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        });
        let host = self.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let mut connection = Connection::new(Transport::Http);
        (connection.host, connection.port) = (Some(host.into()), port);
        connection
    }

    /// Resolves the URL that the `endpoint` event of HTTP+SSE names. It must have this url's
    /// origin.
    // spec: SSE-03
    pub(super) fn message_uri(&self, reference: &str) -> Result<Uri, ChannelError> {
        let malformed = |reason: String| ChannelError::Malformed(format!("the endpoint {reason}"));
        let invalid =
            |error: &dyn fmt::Display| malformed(format!("of the server is invalid: {error}"));
        let resolved = resolve(&self.uri, reference.trim());
        let (base, target) = resolved.map_err(|error| invalid(&error))?;
        if base.origin() != target.origin() {
            let shown = without_secrets(target);
            return Err(malformed(format!(
                "{shown} is of another origin than the server itself"
            )));
        }
        to_uri(target).map_err(|error| invalid(&error))
    }

    /// Resolves the target of a redirect, in the form for error messages.
    pub(super) fn redirect_target(&self, location: &str) -> Option<Box<str>> {
        let (_, target) = resolve(&self.uri, location).ok()?;
        Some(without_secrets(target))
    }
}

/// Returns the target of a 307 or 308 that stays on the server: the scheme, the host and the port of `uri`.
pub(super) fn redirect_on_server<B>(uri: &Uri, response: &Response<B>) -> Option<Uri> {
    use http::StatusCode as S;
    if !matches!(
        response.status(),
        S::TEMPORARY_REDIRECT | S::PERMANENT_REDIRECT
    ) {
        return None;
    }
    let location = response.headers().get(names::LOCATION)?.to_str().ok()?;
    let (base, target) = resolve(uri, location).ok()?;
    (base.origin() == target.origin()).then_some(())?;
    to_uri(target).ok()
}

/// Returns the URL of `base`, and that of a reference in a document there.
pub(super) fn resolve(base: &Uri, reference: &str) -> Result<(Url, Url), ParseError> {
    let base = Url::parse(&base.to_string())?;
    let target = base.join(reference)?;
    Ok((base, target))
}

/// Returns the request target of a URL: without userinfo and fragment.
fn to_uri(mut url: Url) -> Result<Uri, InvalidUri> {
    // Both calls succeed for URLs with a host, which HTTP URLs always have.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    url.as_str().parse()
}

fn without_secrets(mut url: Url) -> Box<str> {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().into()
}

fn basic_authorization(url: &Url) -> Result<Option<HeaderValue>, InvalidHeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return Ok(None);
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or_default()));
    let mut value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

#[cfg(test)]
mod tests {
    use super::ServerUrl;

    fn parse(text: &str) -> ServerUrl {
        ServerUrl::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn parse_splits_uri_and_shown_url() {
        for (text, sent, shown) in [
            (
                "http://localhost:8000",
                "http://localhost:8000/",
                "http://localhost:8000/",
            ),
            (
                "https://example.com/mcp",
                "https://example.com/mcp",
                "https://example.com/mcp",
            ),
            (
                " https://example.com/mcp#top ",
                "https://example.com/mcp",
                "https://example.com/mcp",
            ),
            (
                "https://me:hidden@example.com/mcp?key=hidden",
                "https://example.com/mcp?key=hidden",
                "https://example.com/mcp",
            ),
            (
                "https://zürich.example/ü",
                "https://xn--zrich-kva.example/%C3%BC",
                "https://xn--zrich-kva.example/%C3%BC",
            ),
            (
                "http://[::1]:1/a%20b",
                "http://[::1]:1/a%20b",
                "http://[::1]:1/a%20b",
            ),
        ] {
            let url = parse(text);
            assert_eq!(url.uri.to_string(), sent);
            assert_eq!(&*url.shown, shown);
        }
    }

    #[test]
    fn parse_with_userinfo_sets_authorization() {
        assert_eq!(parse("http://example.com").authorization, None);
        for (userinfo, expected) in [
            ("aladdin:opensesame", "Basic YWxhZGRpbjpvcGVuc2VzYW1l"),
            ("a%40b:", "Basic YUBiOg=="),
            (":x", "Basic Ong="),
        ] {
            let value = parse(&format!("http://{userinfo}@example.com"))
                .authorization
                .unwrap();
            assert_eq!(value, expected);
            assert!(value.is_sensitive());
        }
    }

    #[test]
    fn invalid_url_fails_without_showing_secrets() {
        for (text, reason) in [
            ("example.com/mcp", "the URL has no scheme"),
            ("127.0.0.1:8000/mcp", "the URL has no scheme"),
            ("localhost:8000/mcp", "the URL has no scheme"),
            ("", "the URL has no scheme"),
            ("http://u:hidden@", "the URL is invalid"),
            ("http://u:hidden@h:99999/", "the URL is invalid"),
            ("ftp://u:hidden@example.com", "begins with ftp:"),
            ("file:///etc/hidden", "begins with file:"),
        ] {
            let error = ServerUrl::parse(text).err().unwrap().to_string();
            assert!(error.contains(reason), "{text}: {error}");
            assert!(!error.contains("hidden"), "{error}");
        }
    }

    #[test]
    fn redirect_target_omits_secrets() {
        let url = parse("https://example.com/a/mcp");
        for (location, shown) in [
            ("/b?token=hidden", "https://example.com/b"),
            ("mcp/", "https://example.com/a/mcp/"),
            ("//u:hidden@other.example/", "https://other.example/"),
        ] {
            assert_eq!(url.redirect_target(location).as_deref(), Some(shown));
        }
        assert_eq!(url.redirect_target("http://[").as_deref(), None);
    }
}
