//! Hosts and origins: `[scheme://]host[:port]`, and lists of them.

use crate::headers::number;

/// The parts of a `Host` or an `Origin`. An origin's default port is given by its scheme, a
/// host's is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Authority<'a> {
    scheme: Option<&'a [u8]>,
    host: &'a [u8],
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Reads `host[:port]`. `None` for what cannot be a host, such as one with user info.
    pub(super) fn parse(value: &'a [u8]) -> Option<Self> {
        let end = match value {
            [b'[', ..] => value.iter().position(|&byte| byte == b']')? + 1,
            _ => {
                let colon = value.iter().position(|&byte| byte == b':');
                colon.unwrap_or(value.len())
            }
        };
        let (host, rest) = value.split_at_checked(end)?;
        let legal = |byte: &u8| {
            matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
                || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']' | b'%')
        };
        if host.is_empty() || !host.iter().all(legal) {
            return None;
        }
        let port = match rest {
            // RFC 3986 allows the colon without a port.
            [] | [b':'] => None,
            [b':', port @ ..] => Some(number(port)?.try_into().ok()?),
            _ => return None,
        };
        Some(Self {
            scheme: None,
            host,
            port,
        })
    }

    /// Reads `scheme://host[:port]`, or the `null` of a page without an origin.
    pub(super) fn parse_origin(value: &'a [u8]) -> Option<Self> {
        if value == NO_ORIGIN {
            return Some(Self {
                scheme: None,
                host: NO_ORIGIN,
                port: None,
            });
        }
        let end = value.windows(3).position(|three| three == b"://")?;
        let (scheme, authority) = value.split_at_checked(end)?;
        let Self { host, port, .. } = Self::parse(authority.strip_prefix(b"://")?)?;
        Some(Self {
            scheme: Some(scheme),
            host,
            port: port.or(default_port(scheme)),
        })
    }
}

/// What browsers send as the origin of sandboxed pages and local files.
const NO_ORIGIN: &[u8] = b"null";

fn default_port(scheme: &[u8]) -> Option<u16> {
    if scheme.eq_ignore_ascii_case(b"https") {
        Some(443)
    } else if scheme.eq_ignore_ascii_case(b"http") {
        Some(80)
    } else {
        None
    }
}

/// An allow list, made once.
#[derive(Clone, Debug)]
pub(super) enum Allowed {
    Any,
    These(Box<[Entry]>),
}

/// What is left open matches anything: no scheme any scheme, no port any port.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    scheme: Option<Box<str>>,
    host: Box<str>,
    port: Option<u16>,
}

impl Allowed {
    pub(super) fn new<I: IntoIterator<Item: AsRef<str>>>(entries: I) -> Self {
        let mut these = Vec::new();
        for entry in entries {
            match entry.as_ref().trim() {
                "*" => return Self::Any,
                entry => these.push(Entry::new(entry)),
            }
        }
        Self::These(these.into())
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    pub(super) fn has(&self, asked: &Authority<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::These(entries) => entries.iter().any(|entry| entry.matches(asked)),
        }
    }
}

impl Entry {
    /// Takes what people paste: a name, a name with a port, an origin, a whole URL.
    fn new(entry: &str) -> Self {
        let (scheme, rest) = match entry.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, entry),
        };
        let rest = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let (host, port) = match Authority::parse(rest.as_bytes()) {
            Some(authority) => (authority.host, authority.port),
            // Matches nothing that parses, so a typing error opens no door.
            None => (rest.as_bytes(), None),
        };
        Self {
            scheme: scheme.map(|scheme| scheme.to_ascii_lowercase().into()),
            host: String::from_utf8_lossy(host).to_ascii_lowercase().into(),
            port: port.or_else(|| default_port(scheme?.as_bytes())),
        }
    }

    fn matches(&self, asked: &Authority<'_>) -> bool {
        // Compared first: it is what most requests differ in.
        let host = self.host.as_bytes();
        let host_fits = host == asked.host || host.eq_ignore_ascii_case(asked.host);
        host_fits && self.fits_port(asked.port) && self.fits_scheme(asked.scheme)
    }

    fn fits_port(&self, asked: Option<u16>) -> bool {
        match (self.port, asked) {
            (Some(own), Some(asked)) => own == asked,
            // A Host header without a port means the default one of a scheme it does not name.
            (Some(own), None) => matches!(own, 80 | 443),
            (None, _) => true,
        }
    }

    fn fits_scheme(&self, asked: Option<&[u8]>) -> bool {
        match (&self.scheme, asked) {
            (Some(own), Some(asked)) => own.as_bytes().eq_ignore_ascii_case(asked),
            // A Host header has no scheme; an entry for one that was pasted as a URL has.
            (Some(_), None) | (None, _) => true,
        }
    }
}
