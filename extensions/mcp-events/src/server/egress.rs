//! HTTP to webhooks: URLs that others choose must not reach private networks.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::Request;
use http::header::RETRY_AFTER;
use http_body_util::BodyExt as _;
use mcp_core::egress::Zone;
use mcp_core::{BoxFuture, ChannelError, TlsError};
use mcp_transport_http::client::{HttpClient, HttpClientBuilder};
use tower_service::Service as _;
use url::{Host, Url};

use super::webhooks::{WebhookFailure, WebhookPost, WebhookResponse, WebhookTransport};

/// The largest part of a response that is read.
const MAX_RESPONSE: usize = 64 << 10;

/// The HTTP transport of webhooks. It accepts `https:` URLs only, follows no redirects, uses no proxy,
/// and never connects to private, reserved and metadata addresses.
///
/// Each message resolves the host again, every address of the answer is checked, and the connection
/// uses exactly these addresses: a name cannot change between the check and the connection.
#[derive(Clone)]
pub struct HttpWebhooks {
    http: HttpClient,
    zone: Zone,
    /// The hosts of receivers. `None`: all hosts.
    hosts: Option<Arc<[String]>>,
}

impl HttpWebhooks {
    /// The transport to addresses in the internet.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookFailure::Refused`] if TLS cannot be set up.
    pub fn new() -> Result<Self, WebhookFailure> {
        Self::in_zone(Zone::Public)
    }

    /// The transport to addresses in a zone, and in more public ones. [`Zone::Loopback`] also allows `http:`
    /// This machine's URLs, for tests.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookFailure::Refused`] if TLS cannot be set up.
    pub fn in_zone(zone: Zone) -> Result<Self, WebhookFailure> {
        Self::build(zone, HttpClient::builder())
    }

    /// The transport of [`in_zone`](Self::in_zone), with a function that returns a host name's addresses.
    ///
    /// # Errors
    ///
    /// Returns [`WebhookFailure::Refused`] if TLS cannot be set up.
    pub fn with_resolver<F, Fut>(zone: Zone, resolve: F) -> Result<Self, WebhookFailure>
    where
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = io::Result<Vec<IpAddr>>> + Send + 'static,
    {
        Self::build(zone, HttpClient::builder().resolve_with(resolve))
    }

    fn build(zone: Zone, http: HttpClientBuilder) -> Result<Self, WebhookFailure> {
        let http = http
            .check_addresses(move |_, ip| match Zone::of_ip(ip) {
                Some(found) if found >= zone => Ok(()),
                _ => Err(io::Error::other(REFUSED_ADDRESS)),
            })
            .no_proxy()
            // An open connection would outlive the check of its address.
            .max_idle_per_host(0)
            .build();
        let http = http.map_err(|error| WebhookFailure::Refused(error.to_string()))?;
        Ok(Self {
            http,
            zone,
            hosts: None,
        })
    }

    /// Posts to these hosts only; all others are refused. `*.example.com` stands for all names below
    /// `example.com`. Default: all hosts of the zone.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::events::{HttpWebhooks, Webhooks};
    ///
    /// let transport = HttpWebhooks::new()?.only_hosts(["agent.example.com", "*.hooks.example.com"]);
    /// let webhooks = Webhooks::new(transport);
    /// # Ok::<(), mcp::events::WebhookFailure>(())
    /// ```
    #[must_use]
    pub fn only_hosts(mut self, hosts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let hosts = hosts
            .into_iter()
            .map(|host| host.as_ref().to_ascii_lowercase());
        self.hosts = Some(hosts.collect());
        self
    }

    /// Returns true if the settings allow the host of a URL.
    fn allows_host(&self, url: &Url) -> bool {
        let (Some(hosts), Some(host)) = (&self.hosts, url.host_str()) else {
            return self.hosts.is_none();
        };
        let host = host.trim_end_matches('.');
        hosts.iter().any(|allowed| match allowed.strip_prefix('*') {
            Some(below) => below.starts_with('.') && host.ends_with(below),
            None => *allowed == *host,
        })
    }

    fn send(
        &self,
        url: Url,
        request: http::Result<Request<Bytes>>,
    ) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let transport = self.clone();
        Box::pin(async move {
            transport.check(&url)?;
            let invalid = |_| WebhookFailure::Refused("it is not a valid request".to_owned());
            transport.exchange(request.map_err(invalid)?).await
        })
    }

    async fn exchange(
        mut self,
        request: Request<Bytes>,
    ) -> Result<WebhookResponse, WebhookFailure> {
        let response = self.http.call(request).await.map_err(failure)?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER);
        let retry_after = retry_after.and_then(|value| value.to_str().ok().map(str::to_owned));
        let mut body = pin!(response.into_body());
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(failure)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            let rest = MAX_RESPONSE - whole.len();
            whole.extend_from_slice(&data[..data.len().min(rest)]);
            if whole.len() == MAX_RESPONSE {
                break;
            }
        }
        let mut response = WebhookResponse::new(status, whole.freeze());
        response.retry_after = retry_after;
        Ok(response)
    }
}

impl WebhookTransport for HttpWebhooks {
    fn check(&self, url: &Url) -> Result<(), WebhookFailure> {
        match reason_against(url, self.zone) {
            Some(reason) => Err(WebhookFailure::Refused(reason.to_owned())),
            None if !self.allows_host(url) => Err(WebhookFailure::Refused(
                "this server posts to other hosts only".to_owned(),
            )),
            None => Ok(()),
        }
    }

    fn post(
        &self,
        post: WebhookPost,
    ) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let mut request = Request::post(post.url.as_str());
        for (name, value) in post.headers {
            request = request.header(name, value);
        }
        self.send(post.url, request.body(post.body))
    }

    fn get(&self, url: Url) -> BoxFuture<'static, Result<WebhookResponse, WebhookFailure>> {
        let request = Request::get(url.as_str()).body(Bytes::new());
        self.send(url, request)
    }
}

fn reason_against(url: &Url, zone: Zone) -> Option<&'static str> {
    let found = match url.host() {
        Some(Host::Ipv4(ip)) => Zone::of_ip(ip.into()),
        Some(Host::Ipv6(ip)) => Zone::of_ip(ip.into()),
        Some(Host::Domain(name)) => Zone::of_name(name),
        None => return Some("it has no host"),
    };
    let Some(found) = found else {
        return Some("its address is reserved, or that of a cloud metadata service");
    };
    if found < zone {
        return Some("its address is in a private network or on this machine");
    }
    let is_local = zone == Zone::Loopback && found == Zone::Loopback;
    if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
        return Some("it is not an https URL");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Some("it has a user name, a password or a fragment");
    }
    None
}

/// The failure without the address, which the subscriber need not learn.
fn failure(error: ChannelError) -> WebhookFailure {
    let mut source: Option<&dyn std::error::Error> = Some(&error);
    while let Some(cause) = source {
        let text = cause.to_string();
        // The layers of the HTTP client keep the error's text, but not its type.
        if text.contains(REFUSED_ADDRESS) {
            return WebhookFailure::Refused(REFUSED_ADDRESS.to_owned());
        }
        if cause.is::<TlsError>() {
            tracing::debug!(error = %mcp_types::escaped(&error), cause = %mcp_types::escaped(&cause), "a webhook failed in TLS");
            return WebhookFailure::Tls;
        }
        source = cause.source();
    }
    tracing::debug!(error = %mcp_types::escaped(&error), "a webhook failed");
    WebhookFailure::Connection
}

/// The error of a name with a refused address.
const REFUSED_ADDRESS: &str =
    "its name has an address in a private network, on this machine, or of a metadata service";

impl fmt::Debug for HttpWebhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpWebhooks")
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}
