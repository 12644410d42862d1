//! Hosts and origins: `[scheme://]host[:port]`, and lists of them.

use crate::headers::number;

/// The parts of `[scheme://]host[:port]`. What is left open in an allow list matches anything: no
/// scheme any scheme, no port any port.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    scheme: Option<Box<str>>,
    host: Box<str>,
    port: Option<u16>,
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

/// What stands behind a host: `[:port]`. `None` for anything else.
fn port(rest: &[u8]) -> Option<Option<u16>> {
    match rest {
        // RFC 3986 allows the colon without a port.
        [] | [b':'] => Some(None),
        [b':', port @ ..] => Some(Some(number(port)?.try_into().ok()?)),
        _ => None,
    }
}

/// An allow list, made once.
#[derive(Clone, Debug)]
pub(super) enum Allowed {
    Any,
    These(Box<[Entry]>),
}

impl Allowed {
    pub(super) fn new<I: IntoIterator<Item: AsRef<str>>>(entries: I) -> Self {
        let mut these = Vec::new();
        for entry in entries {
            match entry.as_ref().trim() {
                "*" => return Self::Any,
                // What cannot be a host is left out, so a typing error opens no door.
                entry => these.extend(Entry::read(entry)),
            }
        }
        Self::These(these.into())
    }

    pub(super) fn is_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Whether a `Host` is among them.
    pub(super) fn has_host(&self, host: &[u8]) -> bool {
        self.has(None, host)
    }

    /// Whether an `Origin` is among them.
    pub(super) fn has_origin(&self, origin: &[u8]) -> bool {
        if origin == NO_ORIGIN {
            return self.has(None, origin);
        }
        let end = origin.windows(3).position(|three| three == b"://");
        let parts = end.and_then(|end| Some((origin.get(..end)?, origin.get(end + 3..)?)));
        parts.is_some_and(|(scheme, authority)| self.has(Some(scheme), authority))
    }

    fn has(&self, scheme: Option<&[u8]>, authority: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::These(entries) => entries.iter().any(|entry| entry.matches(scheme, authority)),
        }
    }
}

impl Entry {
    /// Takes what people paste: a name, a name with a port, an origin, a whole URL. `None` for what
    /// cannot be a host, such as one with user info.
    fn read(entry: &str) -> Option<Self> {
        let (scheme, rest) = match entry.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, entry),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
        let end = match authority.as_bytes() {
            [b'[', ..] => authority.find(']')? + 1,
            _ => authority.find(':').unwrap_or(authority.len()),
        };
        let (host, rest) = authority.split_at_checked(end)?;
        let is_legal = |byte| {
            matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
                || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']' | b'%')
        };
        if host.is_empty() || !host.bytes().all(is_legal) {
            return None;
        }
        let port = port(rest.as_bytes())?;
        Some(Self {
            scheme: scheme.map(|scheme| scheme.to_ascii_lowercase().into()),
            host: host.to_ascii_lowercase().into(),
            port: port.or_else(|| default_port(scheme?.as_bytes())),
        })
    }

    /// Whether `authority` is this host, with a port that fits. An origin's default port is given
    /// by its scheme, a host's is not known.
    fn matches(&self, scheme: Option<&[u8]>, authority: &[u8]) -> bool {
        let Some((host, rest)) = authority.split_at_checked(self.host.len()) else {
            return false;
        };
        // Compared first: it is what most requests differ in.
        let own = self.host.as_bytes();
        if host != own && !host.eq_ignore_ascii_case(own) {
            return false;
        }
        let Some(port) = port(rest) else {
            return false;
        };
        self.fits_port(port.or_else(|| default_port(scheme?))) && self.fits_scheme(scheme)
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
