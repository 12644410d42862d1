//! [`HttpClientBuilder`]: settings of an [`HttpClient`].

use std::fmt;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mcp_core::{BoxFuture, ChannelError};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use rustls::pki_types::CertificateDer;
#[cfg(not(target_os = "android"))]
use rustls::pki_types::pem::PemObject as _;

use super::http_client::HttpClient;
use super::tls;

type CheckAddress = dyn Fn(&str, IpAddr) -> io::Result<()> + Send + Sync;
type ResolveName = dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync;

/// Settings of an [`HttpClient`], created by [`HttpClient::builder`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use mcp::{HttpChannel, HttpClient};
///
/// let http = HttpClient::builder()
///     .connect_timeout(Duration::from_secs(2))
///     .proxy("http://proxy.corp.example:3128")
///     .build()?;
/// let channel = HttpChannel::with_service("https://example.com/mcp", http)?;
/// # Ok::<(), mcp::core::ChannelError>(())
/// ```
#[derive(Clone)]
#[must_use = "creates a client with `build`"]
pub struct HttpClientBuilder {
    connect_timeout: Duration,
    request_timeout: Option<Duration>,
    proxy: Proxy,
    max_idle_per_host: usize,
    roots: Vec<CertificateDer<'static>>,
    resolve: Option<Arc<ResolveName>>,
    check_address: Option<Arc<CheckAddress>>,
    /// The reason why the first invalid setting is invalid.
    invalid: Option<String>,
}

#[derive(Clone)]
enum Proxy {
    Environment,
    Off,
    Fixed(Box<reqwest::Proxy>),
}

impl HttpClient {
    /// Creates a client with the default settings of [`HttpClient::builder`].
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when the process's TLS provider cannot be used.
    pub fn new() -> Result<Self, ChannelError> {
        Self::builder().build()
    }

    /// Creates a builder with the default settings.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder {
            connect_timeout: Duration::from_secs(10),
            request_timeout: None,
            proxy: Proxy::Environment,
            max_idle_per_host: usize::MAX,
            roots: Vec::new(),
            resolve: None,
            check_address: None,
            invalid: None,
        }
    }
}

impl HttpClientBuilder {
    /// Sets the timeout of connecting, with TLS. Default: 10 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the timeout of each request with its response body. Default: none. It also ends
    /// event streams; a client's calls have timeouts of their own.
    pub(super) fn request_timeout(mut self, timeout: Duration) -> Self {
        self.request_timeout = Some(timeout);
        self
    }

    /// Sends all requests through the proxy at `url`, except those to loopback addresses. The URL may
    /// contain a user name and a password. Default: the environment's proxies.
    pub fn proxy(mut self, url: &str) -> Self {
        match reqwest::Proxy::all(url) {
            Ok(proxy) => self.proxy = Proxy::Fixed(Box::new(proxy)),
            // The URL may contain a password.
            Err(_) => self.set_invalid("the URL of the proxy is invalid"),
        }
        self
    }

    /// Uses no proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxy = Proxy::Off;
        self
    }

    /// Sets the number of idle connections that are kept for each host. Default: no limit. Zero opens a
    /// connection for each request.
    pub fn max_idle_per_host(mut self, count: usize) -> Self {
        self.max_idle_per_host = count;
        self
    }

    /// Trusts the certificate authorities in a PEM text in addition to those of the operating system.
    #[cfg(not(target_os = "android"))]
    pub fn root_certificates(mut self, pem: impl AsRef<[u8]>) -> Self {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_ref()).collect();
        match read {
            Ok(roots) if !roots.is_empty() => self.roots.extend(roots),
            _ => self.set_invalid("the root certificates are not PEM certificates"),
        }
        self
    }

    /// Sets the function that resolves host names. Connections use exactly the addresses that it
    /// returns. Default: the operating system's resolver.
    pub fn resolve_with<F, Fut>(mut self, resolve: F) -> Self
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        self.resolve = Some(Arc::new(move |name| Box::pin(resolve(name))));
        self
    }

    /// Sets the function that accepts or refuses the addresses of a host. If it refuses one of
    /// them, the client does not connect. A URL with an address instead of a name is not checked.
    /// Default: all addresses are accepted.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io;
    ///
    /// use mcp::HttpClient;
    ///
    /// let http = HttpClient::builder()
    ///     .check_addresses(|name, address| {
    ///         if address.is_loopback() {
    ///             return Err(io::Error::other(format!("{name} has an address of this machine")));
    ///         }
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// # Ok::<(), mcp::core::ChannelError>(())
    /// ```
    pub fn check_addresses(
        mut self,
        check: impl Fn(&str, IpAddr) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.check_address = Some(Arc::new(check));
        self
    }

    /// Creates the client.
    ///
    /// # Errors
    ///
    /// Returns [`ChannelError::NotSendable`] when a setting is invalid, or when the process's TLS
    /// provider cannot be used.
    pub fn build(self) -> Result<HttpClient, ChannelError> {
        if let Some(reason) = self.invalid {
            return Err(ChannelError::NotSendable(reason));
        }
        let tls = tls::config(self.roots)
            .map_err(|error| ChannelError::NotSendable(error.to_string()))?;
        let client = |proxy: &Proxy| {
            let mut client = reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .connect_timeout(self.connect_timeout)
                .pool_max_idle_per_host(self.max_idle_per_host)
                // spec: HTTP-C-14
                .redirect(Policy::none())
                .referer(false)
                .user_agent(concat!(
                    env!("CARGO_PKG_NAME"),
                    "/",
                    env!("CARGO_PKG_VERSION")
                ));
            if let Some(timeout) = self.request_timeout {
                client = client.timeout(timeout);
            }
            if self.resolve.is_some() || self.check_address.is_some() {
                client = client.dns_resolver(Arc::new(Resolver {
                    resolve: self.resolve.clone(),
                    check_address: self.check_address.clone(),
                }));
            }
            client = match proxy {
                Proxy::Environment => client,
                Proxy::Off => client.no_proxy(),
                Proxy::Fixed(proxy) => client.proxy((**proxy).clone()),
            };
            let built = client.build();
            built.map_err(|error| ChannelError::NotSendable(error.to_string()))
        };
        let uses_environment = matches!(self.proxy, Proxy::Environment);
        Ok(HttpClient {
            remote: client(&self.proxy)?,
            local: client(&Proxy::Off)?,
            uses_environment,
        })
    }

    fn set_invalid(&mut self, reason: &str) {
        self.invalid.get_or_insert_with(|| reason.to_owned());
    }
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder").finish_non_exhaustive()
    }
}

/// The connection uses exactly the checked addresses: a name cannot change in between.
#[derive(Clone)]
struct Resolver {
    resolve: Option<Arc<ResolveName>>,
    check_address: Option<Arc<CheckAddress>>,
}

impl Resolver {
    async fn find(self, name: String) -> io::Result<Vec<IpAddr>> {
        let found: Vec<IpAddr> = match &self.resolve {
            Some(resolve) => resolve(name.clone()).await?,
            None => {
                let found = tokio::net::lookup_host((&*name, 0)).await?;
                found.map(|address| address.ip()).collect()
            }
        };
        if let Some(check) = &self.check_address {
            found
                .iter()
                .try_for_each(|address| check(&name, *address))?;
        }
        Ok(found)
    }
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let finding = self.clone().find(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = finding.await?.into_iter();
            let addresses = addresses.map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::HttpClient;

    #[test]
    fn invalid_settings_fail_without_secrets() {
        for (builder, reason) in [
            (
                HttpClient::builder().proxy("http://u:hidden@"),
                "the URL of the proxy is invalid",
            ),
            (
                HttpClient::builder().root_certificates("hidden"),
                "the root certificates are not PEM certificates",
            ),
        ] {
            let error = builder.build().unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(!error.contains("hidden"), "{error}");
        }
    }
}
