//! Checks the syntax of URIs (RFC 3986) and of template variables' names (RFC 6570).

use std::net::Ipv6Addr;

/// Returns whether a string is a URI with a scheme.
// spec: RSRC-07
pub(crate) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
        None => ("", rest),
    };
    is_scheme(scheme)
        && is_authority(authority)
        && has_only(path, ":@/")
        && has_only(query, ":@/?")
        && has_only(fragment, ":@/?")
}

// spec: RSRC-10
fn is_scheme(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_inner)
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.split_once('@').unwrap_or(("", text));
    let (host, port) = match host.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (host, ""),
    };
    has_only(user, ":") && is_host(host) && port.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a string is a host: a name, an IPv4 address, or an IP literal in brackets.
fn is_host(text: &str) -> bool {
    let literal = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let Some(literal) = literal else {
        return has_only(text, "");
    };
    match literal.strip_prefix(['v', 'V']) {
        Some(future) => future.split_once('.').is_some_and(|(version, address)| {
            let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_plain = !address.is_empty() && !address.contains('%');
            !version.is_empty() && is_hex(version) && is_plain && has_only(address, ":")
        }),
        None => literal.parse::<Ipv6Addr>().is_ok(),
    }
}

/// Returns whether a string consists of unreserved characters, sub-delimiters, percent-encoded bytes
/// and characters in `extra`.
fn has_only(text: &str, extra: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let is_hex = |digit: Option<u8>| digit.is_some_and(|digit| digit.is_ascii_hexdigit());
        let fits = match byte {
            b'%' => is_hex(bytes.next()) && is_hex(bytes.next()),
            _ => {
                byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=".contains(&byte)
                    || extra.as_bytes().contains(&byte)
            }
        };
        if !fits {
            return false;
        }
    }
    true
}

/// Returns whether a string can name a template variable: parts of letters, digits, `_` and
/// percent-encoded bytes, separated by `.`.
pub(crate) fn is_variable(text: &str) -> bool {
    let may_contain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'%');
    text.split('.')
        .all(|part| !part.is_empty() && part.bytes().all(may_contain) && has_only(part, ""))
}

#[cfg(test)]
mod tests {
    use super::{is_uri, is_variable};

    #[test]
    fn valid_uri_is_accepted() {
        for uri in [
            "ftp://ftp.is.co.za/rfc/rfc1808.txt",
            "http://www.ietf.org/rfc/rfc2396.txt",
            "ldap://[2001:db8::7]/c=GB?objectClass?one",
            "mailto:John.Doe@example.com",
            "news:comp.infosystems.www.servers.unix",
            "tel:+1-816-555-1212",
            "telnet://192.0.2.16:80/",
            "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
            "foo://example.com:8042/over/there?name=ferret#nose",
            "x:",
            "x+1.2-y:?#",
            "x:/a",
            "x:///a//b",
            "x://",
            "x://a@b:",
            "x://u:p%20@h%C3%A9:1/?/?:@#/?:@",
            "x://[::ffff:192.0.2.1]:1",
            "x://[v1f.a:b]",
        ] {
            assert!(is_uri(uri), "{uri}");
        }
    }

    // spec: RSRC-07, RSRC-10
    #[test]
    fn malformed_uri_is_rejected() {
        for text in [
            "",
            "a",
            "/a:b",
            ":a",
            "1a:b",
            "a_b:c",
            "é:a",
            "x:a b",
            "x:é",
            "x:\"",
            "x:<a>",
            "x:\\a",
            "x:^",
            "x:`",
            "x:{a}",
            "x:a|b",
            "x:a\0",
            "x:[a]",
            "x:?[",
            "x:#a#b",
            "x:%",
            "x:%2",
            "x:%2g",
            "x:%é",
            "x://a@b@c",
            "x://a:b:1",
            "x://a:1a",
            "x://[::1",
            "x://::1]",
            "x://[::1]a",
            "x://[]",
            "x://[a]",
            "x://[192.0.2.1]",
            "x://[::1%25eth0]",
            "x://[v.a]",
            "x://[vg.a]",
            "x://[v1]",
            "x://[v1.]",
            "x://[v1.%20]",
        ] {
            assert!(!is_uri(text), "{text}");
        }
    }

    #[test]
    fn variable_name_follows_rfc_6570() {
        for name in ["a", "A_1", "a.b", "%C3%A9", "1"] {
            assert!(is_variable(name), "{name}");
        }
        for text in [
            "", ".", "a.", ".a", "a..b", "a b", "a-b", "{a", "é", "%2", "=a", "a,b",
        ] {
            assert!(!is_variable(text), "{text}");
        }
    }
}
