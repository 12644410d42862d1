//! The rules for URLs that other parties name: protection against requests into private networks.

use std::io;
use std::net::IpAddr;

pub use mcp_core::egress::Zone;
use url::{Host, Origin, Url};

use crate::error::{AuthError, shown};

/// The rules for the URLs of a login: metadata, authorization server, token endpoint.
///
/// A server can only name addresses in its own zone or a more public one: a server on the internet
/// none in a private network or on this machine. The server's zone is that of the address in
/// the URL given by the user; every DNS name counts as public, and names that resolve to private
/// addresses are refused when connecting. Addresses of cloud metadata services and reserved
/// addresses are always refused. `http:` is for a loopback server's loopback addresses.
///
/// # Examples
///
/// ```
/// use mcp::auth::{Egress, Zone};
///
/// // The MCP server has a name in the intranet.
/// let egress = Egress::default().zone(Zone::Private);
/// // The login server alone is in the intranet.
/// let egress = Egress::default().allow_origin("http://login.corp.example:8080")?;
/// # Ok::<(), mcp_auth::AuthError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Egress {
    zone: Option<Zone>,
    allowed: Vec<Origin>,
}

impl Egress {
    /// Sets the zone of the server. Default: by the address in its URL.
    #[must_use]
    pub fn zone(mut self, zone: Zone) -> Self {
        self.zone = Some(zone);
        self
    }

    /// Allows every URL of an origin: scheme, host and port. Other schemes and ports of its host are refused.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Settings`] when `origin` is not an `http:` or `https:` URL.
    pub fn allow_origin(mut self, origin: &str) -> Result<Self, AuthError> {
        let url = Url::parse(origin).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(url) = url else {
            let message = format!("{origin:?} is not an origin; write it as https://host:port");
            return Err(AuthError::settings(message));
        };
        self.allowed.push(url.origin());
        Ok(self)
    }

    /// Returns whether the program has allowed a URL's origin.
    #[cfg(feature = "server")]
    pub(crate) fn allows(&self, url: &Url) -> bool {
        self.allowed.contains(&url.origin())
    }
}

/// The rules for one server.
#[derive(Debug, Clone)]
pub(crate) struct EgressRules {
    zone: Zone,
    allowed: Vec<Origin>,
    proxies: Vec<String>,
}

impl EgressRules {
    pub(crate) fn new(egress: &Egress, server: &Url) -> Self {
        Self {
            zone: egress.zone.unwrap_or_else(|| zone_of_url(server)),
            allowed: egress.allowed.clone(),
            proxies: proxy_hosts(),
        }
    }

    /// Checks a URL before it is fetched or shown in a browser.
    ///
    /// # Errors
    ///
    /// Returns [`AuthError::Egress`] when a rule refuses it.
    pub(crate) fn check(&self, url: &Url) -> Result<(), AuthError> {
        self.reason_against(url).map_or(Ok(()), |reason| {
            Err(AuthError::Egress {
                url: shown(url),
                reason: reason.to_owned(),
            })
        })
    }

    // spec: AUTH-C-29, AUTH-C-34, AUTH-C-35
    fn reason_against(&self, url: &Url) -> Option<&'static str> {
        if !matches!(url.scheme(), "http" | "https") {
            return Some("its scheme is neither https nor http");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Some("it contains a user name or password");
        }
        if url.fragment().is_some() {
            return Some("it has a fragment");
        }
        if self.allowed.contains(&url.origin()) {
            return None;
        }
        let Some(host) = url.host() else {
            return Some("it has no host");
        };
        let Some(zone) = zone_of_host(&host) else {
            return Some("its address is reserved, or that of a cloud metadata service");
        };
        // The addresses of such a name are not checked when connecting.
        if let (Host::Domain(name), Zone::Public) = (host, zone)
            && self.lists(name)
        {
            return Some("its host is allowed with another scheme or port only");
        }
        if zone < self.zone {
            return Some("its address is in a more private network than the server");
        }
        if url.scheme() == "http" && (zone, self.zone) != (Zone::Loopback, Zone::Loopback) {
            return Some("http is for loopback addresses; use https");
        }
        None
    }

    /// Checks an address of a name before the client connects to it.
    ///
    /// # Errors
    ///
    /// Returns an error when the address is in a more private network than the server.
    pub(crate) fn check_address(&self, name: &str, ip: IpAddr) -> io::Result<()> {
        if self.allows_address(name, ip) {
            return Ok(());
        }
        let message = "the name has an address in a more private network than the server";
        Err(io::Error::other(message))
    }

    fn allows_address(&self, name: &str, ip: IpAddr) -> bool {
        self.proxies.iter().any(|proxy| proxy == name)
            || self.lists(name)
            || Zone::of_ip(ip).is_some_and(|zone| zone >= self.zone)
    }

    /// Returns true if the program has allowed an origin with this host name.
    fn lists(&self, name: &str) -> bool {
        self.allowed
            .iter()
            .any(|origin| matches!(origin, Origin::Tuple(_, Host::Domain(host), _) if host == name))
    }
}

/// Returns the zone of the address in a URL, as far as the URL itself tells.
pub(crate) fn zone_of_url(url: &Url) -> Zone {
    let zone = url.host().and_then(|host| zone_of_host(&host));
    zone.unwrap_or(Zone::Public)
}

fn zone_of_host(host: &Host<&str>) -> Option<Zone> {
    match *host {
        Host::Ipv4(ip) => Zone::of_ip(ip.into()),
        Host::Ipv6(ip) => Zone::of_ip(ip.into()),
        Host::Domain(name) => Zone::of_name(name),
    }
}

/// The hosts of the environment's proxies, which the client itself has to resolve.
fn proxy_hosts() -> Vec<String> {
    let names = [
        "https_proxy",
        "HTTPS_PROXY",
        "http_proxy",
        "HTTP_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ];
    let values = names.iter().filter_map(|name| std::env::var(name).ok());
    let hosts = values.filter_map(|value| {
        let url = if value.contains("://") {
            Url::parse(&value)
        } else {
            Url::parse(&format!("http://{value}"))
        };
        url.ok()?.host_str().map(str::to_owned)
    });
    hosts.collect()
}

#[cfg(test)]
mod tests {
    use super::{Egress, EgressRules, Zone, zone_of_url};

    fn allowed(server: &str, egress: &Egress, url: &str) -> bool {
        let rules = EgressRules::new(egress, &server.parse().unwrap());
        rules.check(&url.parse().unwrap()).is_ok()
    }

    #[test]
    fn public_server_reaches_public_addresses_only() {
        let egress = Egress::default();
        for url in [
            "https://login.example",
            "https://8.8.8.8/",
            "https://[2606:4700::1]/",
        ] {
            assert!(allowed("https://mcp.example/mcp", &egress, url), "{url}");
        }
        for url in [
            "http://login.example",
            "https://localhost/",
            "https://a.localhost/",
            "https://localhost./",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f000001/",
            "https://127.1/",
            "https://0177.0.0.1/",
            "https://10.0.0.1/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://100.64.0.1/",
            "https://169.254.169.254/",
            "https://168.63.129.16/",
            "https://metadata.google.internal/",
            "https://0.0.0.0/",
            "https://224.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:10.0.0.1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::a00:1]/",
            "https://[2002:7f00:1::]/",
            "https://[fd00:ec2::254]/",
            "https://[fd20:ce::254]/",
            "https://100.100.100.200/",
            "https://[fe80::1]/",
            "https://[fc00::1]/",
            "https://[::]/",
            "https://u:p@login.example/",
            "https://login.example/#f",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "ms-settings:x",
        ] {
            assert!(!allowed("https://mcp.example/mcp", &egress, url), "{url}");
        }
    }

    #[test]
    fn servers_reach_their_own_zone_and_more_public_ones() {
        let egress = Egress::default();
        for (server, url, expected) in [
            ("http://localhost:1/mcp", "http://127.0.0.1:2/", true),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/", true),
            ("http://127.0.0.1:1/mcp", "https://10.0.0.1/", true),
            ("http://127.0.0.1:1/mcp", "https://login.example/", true),
            ("http://127.0.0.1:1/mcp", "http://login.example/", false),
            ("http://127.0.0.1:1/mcp", "http://169.254.169.254/", false),
            ("https://10.0.0.1/mcp", "https://192.168.0.1/", true),
            ("https://10.0.0.1/mcp", "https://127.0.0.1/", false),
            ("https://10.0.0.1/mcp", "http://10.0.0.2/", false),
        ] {
            assert_eq!(allowed(server, &egress, url), expected, "{server} {url}");
        }
        let listed = Egress::default()
            .allow_origin("http://10.0.0.2:80/")
            .unwrap();
        assert!(allowed(
            "https://mcp.example",
            &listed,
            "http://10.0.0.2/token"
        ));
        assert!(!allowed(
            "https://mcp.example",
            &listed,
            "http://10.0.0.2:81/token"
        ));
        let named = Egress::default()
            .allow_origin("https://login.corp:8443")
            .unwrap();
        for (url, expected) in [
            ("https://login.corp:8443/token", true),
            ("https://login.corp/token", false),
            ("http://login.corp:8443/token", false),
            ("https://login.example/token", true),
        ] {
            assert_eq!(
                allowed("https://mcp.example", &named, url),
                expected,
                "{url}"
            );
        }
        let local = Egress::default()
            .allow_origin("http://localhost:1")
            .unwrap();
        let (server, url) = ("http://localhost:2/mcp", "http://localhost:3/token");
        assert!(allowed(server, &local, url));
        let zone = Egress::default().zone(Zone::Private);
        assert!(allowed("https://mcp.corp", &zone, "https://10.0.0.2/"));
        assert_eq!(
            zone_of_url(&"https://mcp.corp".parse().unwrap()),
            Zone::Public
        );
        assert!(Egress::default().allow_origin("login.corp").is_err());
    }

    #[test]
    fn public_name_is_refused_if_it_resolves_to_private_address() {
        let server = "https://mcp.example".parse().unwrap();
        let rules = EgressRules::new(&Egress::default(), &server);
        assert!(rules.allows_address("login.example", "8.8.8.8".parse().unwrap()));
        assert!(!rules.allows_address("login.example", "10.0.0.1".parse().unwrap()));
        assert!(!rules.allows_address("login.example", "::ffff:127.0.0.1".parse().unwrap()));
        let listed = Egress::default()
            .allow_origin("https://login.corp")
            .unwrap();
        let rules = EgressRules::new(&listed, &server);
        assert!(rules.allows_address("login.corp", "10.0.0.1".parse().unwrap()));
    }
}
