//! URLs of a peer that user interfaces open or load.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::own_url::{PAGE_SCHEMES, UrlError};
use crate::{elicitation::ElicitUrlParams, icon::Icon, implementation::Implementation};

impl ElicitUrlParams {
    /// Returns the URL, if it is safe to open: `https:`, or `http:` with a loopback host. A browser or
    /// the operating system would run code or programs for other schemes (`javascript:`, `file:`,
    /// `vscode:`).
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] for another scheme.
    pub fn checked_url(&self) -> Result<Url, UrlError> {
        parse(&self.url, PAGE_SCHEMES, |url| match url.scheme() {
            "https" => true,
            "http" => url.host().is_some_and(|host| is_loopback(&host)),
            _ => false,
        })
    }
}

impl Implementation {
    /// Returns the website's URL, if it is safe to open: `https:` or `http:`. `None` if the
    /// program names no website.
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] for another scheme, such as `javascript:` or `file:`.
    pub fn checked_website_url(&self) -> Option<Result<Url, UrlError>> {
        let check = |url: &Url| matches!(url.scheme(), "https" | "http");
        let website = self.website_url.as_deref()?;
        Some(parse(website, "https and http", check))
    }
}

impl Icon {
    /// Returns the image's URI, if it is safe to load: `https:` or `data:`.
    ///
    /// Fetch it without credentials, limit its size and do not run scripts in it.
    ///
    /// # Errors
    ///
    /// Returns [`UrlError`] for another scheme, such as `javascript:` or `file:`.
    // spec: ICON-03
    pub fn checked_src(&self) -> Result<Url, UrlError> {
        let check = |url: &Url| matches!(url.scheme(), "https" | "data");
        parse(&self.src, "https and data", check)
    }
}

fn parse(
    text: &str,
    allowed: &'static str,
    is_allowed: impl Fn(&Url) -> bool,
) -> Result<Url, UrlError> {
    let url = Url::parse(text).map_err(|_| UrlError::Malformed)?;
    if is_allowed(&url) {
        return Ok(url);
    }
    Err(UrlError::Scheme {
        scheme: url.scheme().to_owned(),
        allowed,
    })
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => *name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(address) => Ipv4Addr::is_loopback(address),
        Host::Ipv6(address) => Ipv6Addr::is_loopback(address),
    }
}

#[cfg(test)]
mod tests {
    use super::UrlError;
    use crate::{elicitation::ElicitUrlParams, icon::Icon, implementation::Implementation};

    #[test]
    fn page_to_visit_is_https_or_on_the_same_machine() {
        let check = |url: &str| ElicitUrlParams::new("m", url).checked_url();
        for url in [
            "https://example.com/login?a=b",
            "HTTPS://EXAMPLE.COM",
            "http://localhost:8080/x",
            "http://app.localhost/",
            "http://127.0.0.1/",
            "http://[::1]:80/",
        ] {
            assert!(check(url).is_ok(), "{url}");
            let own = ElicitUrlParams::new("m", url).check_own_url();
            assert_eq!(own, Ok(()), "{url}");
        }
        for (url, scheme) in [
            ("javascript:alert(1)", "javascript"),
            ("java\nscript:alert(1)", "javascript"),
            (" javascript:alert(1)", "javascript"),
            ("file:///etc/passwd", "file"),
            ("vscode://x/y", "vscode"),
            ("data:text/html,x", "data"),
            ("blob:https://example.com/1", "blob"),
            ("ms-msdt:/id", "ms-msdt"),
            ("http://example.com/", "http"),
            ("http://localhost@example.com/", "http"),
            ("http://localhost.example.com/", "http"),
            ("http://example.com\\@localhost/", "http"),
            ("http://10.0.0.1/", "http"),
        ] {
            match check(url) {
                Err(UrlError::Scheme { scheme: found, .. }) => assert_eq!(found, scheme, "{url}"),
                other => panic!("{url}: {other:?}"),
            }
            let own = ElicitUrlParams::new("m", url).check_own_url();
            assert!(own.is_err(), "{url}");
        }
        for text in ["", "/login", "example.com", "https://", "//example.com"] {
            assert_eq!(check(text), Err(UrlError::Malformed), "{text}");
            let own = ElicitUrlParams::new("m", text).check_own_url();
            assert_eq!(own, Err(UrlError::Malformed), "{text}");
        }
    }

    // spec: ICON-03
    #[test]
    fn icon_and_website_have_no_script() {
        for (src, allowed) in [
            ("https://example.com/a.png", true),
            ("data:image/png;base64,AAAA", true),
            ("http://example.com/a.png", false),
            ("javascript:alert(1)", false),
            ("file:///a.png", false),
            ("a.png", false),
        ] {
            assert_eq!(Icon::new(src).checked_src().is_ok(), allowed, "{src}");
        }
        let server = |url: &str| Implementation::new("s", "1").website_url(url);
        for (url, allowed) in [
            ("https://example.com", true),
            ("http://example.com", true),
            ("javascript:alert(1)", false),
            ("data:text/html,x", false),
        ] {
            let checked = server(url).checked_website_url();
            assert_eq!(checked.is_some_and(|url| url.is_ok()), allowed, "{url}");
        }
        let none = Implementation::new("s", "1");
        assert!(none.checked_website_url().is_none());
    }
}
