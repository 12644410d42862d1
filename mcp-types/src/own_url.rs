//! URLs that this program sends.
//!
//! Servers check them without the crate `url`, which brings 27 crates (`idna`, ICU): a quarter of what a small
//! server compiles. A client has to read a foreign URL as the browser will; a server refuses what is not plainly
//! `https` or loopback. One table of tests holds for both.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::elicitation::ElicitUrlParams;

/// Schemes of a page that a user visits.
pub(crate) const PAGE_SCHEMES: &str = "https, and http for the same machine";

/// The error of a URL that must not be opened or loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The string is not an absolute URL.
    #[error("it is not an absolute URL")]
    Malformed,
    /// The URL has a scheme that is not allowed here.
    #[error("the scheme `{scheme}` is not allowed; allowed is {allowed}")]
    Scheme {
        /// The URL's scheme.
        scheme: String,
        /// Description of the allowed schemes.
        allowed: &'static str,
    },
}

impl ElicitUrlParams {
    /// Checks a URL that this program sends: `https:`, or `http:` with a loopback host, in ASCII and
    /// without user information. For a URL from a peer, use `checked_url` (feature `url`), which reads
    /// it as browsers do.
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] for another URL.
    pub fn check_own_url(&self) -> Result<(), UrlError> {
        let (scheme, rest) = self.url.split_once(':').ok_or(UrlError::Malformed)?;
        if !scheme.bytes().all(is_scheme) || !rest.bytes().all(is_printable) {
            return Err(UrlError::Malformed);
        }
        let scheme = scheme.to_ascii_lowercase();
        let host = rest.strip_prefix("//").and_then(host_of);
        match (&*scheme, host) {
            ("https", Some(_)) => Ok(()),
            ("http", Some(host)) if is_loopback(host) => Ok(()),
            ("https", None) | ("http", None) => Err(UrlError::Malformed),
            _ => Err(UrlError::Scheme {
                scheme,
                allowed: PAGE_SCHEMES,
            }),
        }
    }
}

fn is_scheme(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
}

/// Returns true for URI characters, and for brackets and `%` at any place.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte)
}

/// Returns the host of the text after `//`, if it has one, no user information and a valid port.
fn host_of(rest: &str) -> Option<&str> {
    let authority = rest.split(['/', '?', '#']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let is_port = port.is_empty() || port.parse::<u16>().is_ok();
    (is_port && is_host(host)).then_some(host)
}

/// Returns true for a name, an IPv4 address, or an IPv6 address in brackets.
fn is_host(host: &str) -> bool {
    if host.starts_with('[') {
        return ipv6(host).is_some();
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    // Browsers read a host whose last label begins with a digit as an address, in several notations.
    let last_label = host.trim_end_matches('.').rsplit('.').next();
    let is_address =
        last_label.is_some_and(|label| label.starts_with(|c: char| c.is_ascii_digit()));
    !host.is_empty()
        && host.bytes().all(is_name)
        && (!is_address || host.parse::<Ipv4Addr>().is_ok())
}

fn is_loopback(host: &str) -> bool {
    let name = host.to_ascii_lowercase();
    let is_ipv4 = host
        .parse()
        .is_ok_and(|address: Ipv4Addr| address.is_loopback());
    let is_ipv6 = ipv6(host).is_some_and(|address| address.is_loopback());
    name == "localhost" || name.ends_with(".localhost") || is_ipv4 || is_ipv6
}

fn ipv6(host: &str) -> Option<Ipv6Addr> {
    let address = host.strip_prefix('[')?.strip_suffix(']')?;
    address.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::UrlError;
    use crate::elicitation::ElicitUrlParams;

    fn check(url: &str) -> Result<(), UrlError> {
        ElicitUrlParams::new("m", url).check_own_url()
    }

    // The table in `checked_url` holds for both checks.
    #[test]
    fn own_url_has_plain_host() {
        for url in [
            "https://example.com",
            "HTTPS://Example.com:8443/a/b?c=%20#d",
            "https://192.0.2.1?x",
            "https://[2001:db8::1]/",
            "http://LOCALHOST:80",
        ] {
            assert_eq!(check(url), Ok(()), "{url}");
        }
        for url in [
            "https:example.com",
            "https:///a",
            "https://?a",
            "https://:443/",
            "https://user@example.com/",
            "https://user:secret@example.com/",
            "https://example.com:x/",
            "https://example.com:65536/",
            "https://example.com\\@other.example/",
            "https://example.com/a b",
            "https://example.com/a\nb",
            "https://example.com/\u{7f}",
            "https://ex\u{e4}mple.com/",
            "https://%65xample.com/",
            "https://[::1",
            "https://[::1]x/",
            "https://127.1/",
            "https://0x7f.0x1/",
            "https://1.2.3.256/",
            "h\tttps://example.com/",
        ] {
            assert_eq!(check(url), Err(UrlError::Malformed), "{url}");
        }
        let refused = check("http://192.0.2.1/").unwrap_err();
        assert_eq!(
            refused.to_string(),
            "the scheme `http` is not allowed; allowed is https, and http for the same machine"
        );
    }
}
