//! Sites: origins of one owner.

use url::{Host, Url};

/// Returns whether a URL is at an issuer's site.
pub(crate) fn is_site_of(issuer: &str, url: &Url) -> bool {
    Url::parse(issuer).is_ok_and(|issuer| is_same_site(&issuer, url))
}

/// Returns whether two URLs are of one site: the same origin, or the same scheme and the same
/// registrable domain, such as `api.example.com` and `www.example.com`.
///
/// Tenants of a host such as `github.io`, addresses and names without a registrable domain are sites of
/// their own.
fn is_same_site(one: &Url, other: &Url) -> bool {
    if one.origin() == other.origin() {
        return true;
    }
    let domain = registrable_domain(one);
    domain.is_some() && domain == registrable_domain(other) && one.scheme() == other.scheme()
}

fn registrable_domain(url: &Url) -> Option<&str> {
    let Some(Host::Domain(name)) = url.host() else {
        return None;
    };
    psl::domain_str(name.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::is_same_site;

    #[test]
    fn site_is_the_registrable_domain() {
        for (one, other, expected) in [
            ("https://login.example", "https://login.example/token", true),
            (
                "https://api.example.com",
                "https://www.example.com/login",
                true,
            ),
            ("https://example.com", "https://login.example.com", true),
            (
                "https://login.example.com:8443",
                "https://login.example.com",
                true,
            ),
            ("https://a.example.co.uk", "https://b.example.co.uk", true),
            ("https://a.b.corp.internal", "https://c.corp.internal", true),
            ("https://EXAMPLE.com", "https://login.example.com.", true),
            ("https://example.com", "http://example.com", false),
            ("https://example.com", "https://example.org", false),
            ("https://one.co.uk", "https://two.co.uk", false),
            ("https://one.github.io", "https://two.github.io", false),
            ("https://one.workers.dev", "https://two.workers.dev", false),
            ("https://github.io", "https://one.github.io", false),
            (
                "https://one.xn--55qx5d.cn",
                "https://two.xn--55qx5d.cn",
                false,
            ),
            (
                "https://example.com",
                "https://example.com.evil.example",
                false,
            ),
            ("https://example.com", "https://evilexample.com", false),
            ("https://idp.internal", "https://mcp.internal", false),
            ("https://login", "https://mcp", false),
            ("http://127.0.0.1:1", "http://127.0.0.1:2", false),
            ("http://localhost:1", "http://localhost:2", false),
            ("https://[::1]:1", "https://[::1]:2", false),
        ] {
            let (one, other) = (one.parse().unwrap(), other.parse().unwrap());
            assert_eq!(is_same_site(&one, &other), expected, "{one} {other}");
            assert_eq!(is_same_site(&other, &one), expected, "{other} {one}");
        }
    }
}
