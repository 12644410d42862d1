//! The URL of a server: what is sent, and what may be shown.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::uri::Uri;
use http::{HeaderValue, header::InvalidHeaderValue};
use mcp_core::ChannelError;
use percent_encoding::percent_decode_str;
use url::Url;

/// Where to send requests.
#[derive(Clone)]
pub(super) struct Endpoint {
    /// The URL without userinfo and fragment.
    pub(super) uri: Uri,
    /// The URL without anything that may be a secret.
    pub(super) shown: Box<str>,
    /// The userinfo of the URL as an `Authorization` header.
    pub(super) authorization: Option<HeaderValue>,
}

impl Endpoint {
    pub(super) fn parse(text: &str) -> Result<Self, ChannelError> {
        // The text itself stays out of the errors: it may hold a password.
        let unsendable = |reason: String| ChannelError::Unsendable(format!("the URL {reason}"));
        let mut url =
            Url::parse(text.trim()).map_err(|error| unsendable(format!("is invalid: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            let scheme = url.scheme();
            return Err(unsendable(format!(
                "begins with {scheme}:, not with http: or https:"
            )));
        }
        let authorization = basic(&url)
            .map_err(|_| unsendable("has a user name that no header can carry".to_owned()))?;
        // Both succeed for every URL with a host, and these schemes always have one.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let uri = url
            .as_str()
            .parse()
            .map_err(|error| unsendable(format!("is invalid: {error}")))?;
        Ok(Self {
            uri,
            shown: show(url),
            authorization,
        })
    }

    /// Where messages go that the server of an event stream wants elsewhere; another origin is
    /// none of its business.
    // spec: SSE-03
    pub(super) fn messages(&self, reference: &str) -> Result<Uri, ChannelError> {
        let malformed = |reason: String| ChannelError::Malformed(format!("the endpoint {reason}"));
        let base = Url::parse(&self.uri.to_string());
        let target = base.and_then(|base| base.join(reference.trim()).map(|target| (base, target)));
        let (base, mut target) =
            target.map_err(|error| malformed(format!("of the server is invalid: {error}")))?;
        if base.origin() != target.origin() {
            let shown = show(target);
            return Err(malformed(format!(
                "{shown} is of another origin than the server itself"
            )));
        }
        let _ = target.set_username("");
        let _ = target.set_password(None);
        target.set_fragment(None);
        target
            .as_str()
            .parse()
            .map_err(|error| malformed(format!("of the server is invalid: {error}")))
    }

    /// Where a redirect leads, without anything that may be a secret.
    pub(super) fn redirected(&self, location: &str) -> Option<Box<str>> {
        let base = Url::parse(&self.uri.to_string()).ok()?;
        base.join(location).ok().map(show)
    }
}

fn show(mut url: Url) -> Box<str> {
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.as_str().into()
}

fn basic(url: &Url) -> Result<Option<HeaderValue>, InvalidHeaderValue> {
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
mod tests;
