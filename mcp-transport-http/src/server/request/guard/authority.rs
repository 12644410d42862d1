//! Allow lists of hosts and origins: `[scheme://]host[:port]`.

use std::net::Ipv6Addr;

use crate::headers::parse_decimal;

/// An allow list entry, parsed from `[scheme://]host[:port]`. Without a scheme it matches every
/// scheme, without a port every port.
#[derive(Clone, Debug)]
pub(super) struct AllowedAuthority {
    scheme: Option<Box<str>>,
    host: Box<str>,
    port: Option<u16>,
}

/// Origin that browsers send for sandboxed pages and local files.
const OPAQUE_ORIGIN: &[u8] = b"null";

fn default_port(scheme: &[u8]) -> Option<u16> {
    if scheme.eq_ignore_ascii_case(b"https") {
        Some(443)
    } else if scheme.eq_ignore_ascii_case(b"http") {
        Some(80)
    } else {
        None
    }
}

/// Parses the part after a host, `[:port]`. Returns `None` when it is malformed.
fn parse_port(rest: &[u8]) -> Option<Option<u16>> {
    match rest {
        // RFC 3986 allows the colon without a port.
        [] | [b':'] => Some(None),
        [b':', port @ ..] => Some(Some(parse_decimal(port)?.try_into().ok()?)),
        _ => None,
    }
}

/// Allow list of hosts or origins.
#[derive(Clone, Debug)]
pub(super) enum AllowList {
    Any,
    Entries {
        entries: Box<[AllowedAuthority]>,
        /// Entries that match nothing.
        unmatched: Vec<String>,
    },
}

impl AllowList {
    /// Parses a list of hosts. A malformed entry matches nothing, so that a typing error allows nothing.
    pub(super) fn new<I: IntoIterator<Item: AsRef<str>>>(entries: I) -> Self {
        Self::parse(entries, |_| true)
    }

    /// Parses a list of origins.
    pub(super) fn of_origins<I: IntoIterator<Item: AsRef<str>>>(entries: I) -> Self {
        Self::parse(entries, AllowedAuthority::can_be_origin)
    }

    fn parse<I: IntoIterator<Item: AsRef<str>>>(
        entries: I,
        can_match: fn(&AllowedAuthority) -> bool,
    ) -> Self {
        let (mut parsed, mut unmatched) = (Vec::new(), Vec::new());
        for entry in entries {
            let entry = entry.as_ref().trim();
            if entry == "*" {
                return Self::Any;
            }
            match AllowedAuthority::parse(entry).filter(can_match) {
                Some(authority) => parsed.push(authority),
                None => unmatched.push(entry.to_owned()),
            }
        }
        Self::Entries {
            entries: parsed.into(),
            unmatched,
        }
    }

    /// Logs the entries that match nothing: with them, a page or client that its user means to allow is
    /// refused.
    pub(super) fn warn_about_unmatched(&self, setting: &str) {
        let Self::Entries { unmatched, .. } = self else {
            return;
        };
        for entry in unmatched {
            tracing::warn!(
                setting,
                ?entry,
                "the entry matches nothing: expected \"*\", or a name or an origin such as \
                 \"app.example.com\", \"app.example.com:8443\" or \"https://app.example.com\", in ASCII and \
                 without further wildcards"
            );
        }
    }

    pub(super) fn allows_any(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Returns true when the list contains the value of a `Host` header.
    pub(super) fn contains_host(&self, host: &[u8]) -> bool {
        self.contains(None, host)
    }

    /// Returns true when the list contains the value of an `Origin` header.
    pub(super) fn contains_origin(&self, origin: &[u8]) -> bool {
        if origin == OPAQUE_ORIGIN {
            return self.contains(None, origin);
        }
        let end = origin.windows(3).position(|three| three == b"://");
        let parts = end.and_then(|end| Some((origin.get(..end)?, origin.get(end + 3..)?)));
        parts.is_some_and(|(scheme, authority)| self.contains(Some(scheme), authority))
    }

    fn contains(&self, scheme: Option<&[u8]>, authority: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Entries { entries, .. } => {
                entries.iter().any(|entry| entry.matches(scheme, authority))
            }
        }
    }
}

impl AllowedAuthority {
    /// Parses a name, a name with a port, an origin, or a URL. Returns `None` when that has no valid
    /// host, for example because of user info.
    fn parse(entry: &str) -> Option<Self> {
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
        let port = parse_port(rest.as_bytes())?;
        Some(Self {
            scheme: scheme.map(|scheme| scheme.to_ascii_lowercase().into()),
            host: host.to_ascii_lowercase().into(),
            port: port.or_else(|| default_port(scheme?.as_bytes())),
        })
    }

    /// Returns false for what a page cannot have as its origin. Pages of files have the origin `null`, WebSockets that of
    /// their page, and browsers write an address in its shortest form.
    fn can_be_origin(&self) -> bool {
        let literal = self.host.strip_prefix('[');
        let is_shortest = literal
            .and_then(|literal| literal.strip_suffix(']'))
            .is_none_or(|literal| {
                let address = literal.parse::<Ipv6Addr>();
                address.is_ok_and(|address| address.to_string() == *literal)
            });
        let is_foreign =
            |scheme: &str| matches!(scheme, "ws" | "wss" | "file" | "ftp" | "data" | "blob");
        is_shortest && !self.scheme.as_deref().is_some_and(is_foreign)
    }

    /// Returns true when `authority` has this host, and scheme and port match. The scheme of an
    /// origin determines its default port. The scheme of a `Host` header is not known.
    fn matches(&self, scheme: Option<&[u8]>, authority: &[u8]) -> bool {
        let Some((host, rest)) = authority.split_at_checked(self.host.len()) else {
            return false;
        };
        let own = self.host.as_bytes();
        if host != own && !host.eq_ignore_ascii_case(own) {
            return false;
        }
        let Some(port) = parse_port(rest) else {
            return false;
        };
        self.matches_port(port.or_else(|| default_port(scheme?))) && self.matches_scheme(scheme)
    }

    fn matches_port(&self, requested: Option<u16>) -> bool {
        match (self.port, requested) {
            (Some(own), Some(requested)) => own == requested,
            // A `Host` header without a port means the default port of a scheme that is not known.
            (Some(own), None) => matches!(own, 80 | 443),
            (None, _) => true,
        }
    }

    fn matches_scheme(&self, requested: Option<&[u8]>) -> bool {
        match (&self.scheme, requested) {
            (Some(own), Some(requested)) => own.as_bytes().eq_ignore_ascii_case(requested),
            // A `Host` header has no scheme, but an entry that was copied from a URL has one.
            (Some(_), None) | (None, _) => true,
        }
    }
}
