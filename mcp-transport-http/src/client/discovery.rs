//! A domain's server cards.

use std::error::Error;
use std::time::Duration;
use std::{fmt, io, iter};

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, StatusCode, Uri};
use mcp_core::ChannelError;
use mcp_types::ext::server_card::{InvalidCard, ServerCard};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use tower_service::Service;

use super::http_client::{HttpClient, is_loopback};
use super::{body, server_url};
use crate::server_card::{CARD_MIME_TYPE, CATALOG_PATH};

/// The catalog's path in an older text of the draft.
const OLDER_CATALOG_PATH: &str = "/.well-known/mcp/catalog.json";
/// Maximum number of cards that are returned.
const MAX_CARDS: usize = 50;
/// Maximum size of the catalog in bytes.
const MAX_CATALOG: usize = 1 << 20;
/// Maximum size of a card in bytes.
const MAX_CARD: usize = 256 * 1024;
/// Timeout of one request with its body.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of a whole discovery.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(30);

/// A domain's catalog.
#[derive(Deserialize)]
struct Catalog {
    #[serde(default)]
    entries: Vec<CatalogEntry>,
}

/// A service in a catalog, possibly of another protocol.
#[derive(Deserialize)]
struct CatalogEntry {
    #[serde(default)]
    identifier: String,
    /// MIME type of the description.
    #[serde(rename = "type", default)]
    mime_type: String,
    /// The description's URL.
    url: Option<String>,
    /// The description itself.
    data: Option<Box<RawValue>>,
}

/// A server in a domain's catalog. See [`discover_domain`].
#[derive(Debug)]
#[non_exhaustive]
pub struct DiscoveredServer {
    /// The identifier in the catalog, such as `urn:air:example.com:mcp:docs`.
    pub identifier: String,
    /// The card's URL, if the catalog does not contain the card itself.
    pub url: Option<String>,
    /// The card, or the reason why there is none. One invalid card does not affect the others.
    pub card: Result<ServerCard, DiscoveryError>,
}

/// The error of a catalog or a card.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The domain or URL cannot be used.
    #[error("`{0}` is not a domain such as `example.com`, and not an https URL")]
    InvalidDomain(String),
    /// The card is on another host than the catalog, and was not requested.
    #[error(
        "the card at `{0}` is on another host than its catalog and was not requested; call `fetch_card` if you trust it"
    )]
    OtherHost(String),
    /// The request has failed.
    #[error("`{url}`: {source}")]
    Request {
        /// The URL.
        url: String,
        /// The error.
        source: ChannelError,
    },
    /// The server has not answered in time.
    #[error("`{0}` has not answered in time; try again later")]
    Timeout(String),
    /// The status is not 200. Redirects are not followed.
    #[error("`{url}` answered with the status {status}; redirects are not followed")]
    Status {
        /// The URL.
        url: String,
        /// The status.
        status: u16,
    },
    /// The document is not JSON of the expected type.
    #[error("the document at `{url}` is malformed: {reason}")]
    Malformed {
        /// The URL.
        url: String,
        /// The mistake.
        reason: String,
    },
    /// The card violates its schema.
    #[error("`{url}`: {source}")]
    InvalidCard {
        /// The URL of the card or of the catalog.
        url: String,
        /// The violated rule.
        source: InvalidCard,
    },
}

/// Reads a domain's catalog, and the cards of the servers in it.
///
/// The catalog is at `https://<domain>/.well-known/ai-catalog.json`; for loopback addresses, such as
/// `127.0.0.1:8000`, the scheme is `http`. Cards in the catalog and cards on the same host and port are
/// returned; cards on other hosts are not requested. Redirects are not followed. A catalog has at most 1 MiB,
/// a card 256 KiB, the answer at most 50 cards; a request takes at most 10 seconds, all together 30.
///
/// Cards are advice: compare them with the server after connecting.
///
/// # Errors
///
/// Returns a [`DiscoveryError`] when the domain is invalid, or when its catalog cannot be read.
pub async fn discover_domain(domain: &str) -> Result<Vec<DiscoveredServer>, DiscoveryError> {
    let client = http_client(domain)?;
    let read = read_domain(&client, domain);
    let read = tokio::time::timeout(TOTAL_TIMEOUT, read).await;
    read.unwrap_or_else(|_| Err(DiscoveryError::Timeout(domain.to_owned())))
}

/// Reads one card from its URL: `https`, or `http` for a loopback address.
///
/// # Errors
///
/// Returns a [`DiscoveryError`] when the URL is not allowed, or when the card cannot be read or is invalid.
pub async fn fetch_card(url: &str) -> Result<ServerCard, DiscoveryError> {
    let uri = allowed(url)?;
    read_card(&http_client(url)?, &uri).await
}

fn http_client(peer: &str) -> Result<HttpClient, DiscoveryError> {
    let client = HttpClient::builder().request_timeout(REQUEST_TIMEOUT);
    client.build().map_err(|source| DiscoveryError::Request {
        url: peer.to_owned(),
        source,
    })
}

async fn read_domain(
    client: &HttpClient,
    domain: &str,
) -> Result<Vec<DiscoveredServer>, DiscoveryError> {
    let (uri, catalog) = match read_catalog(client, domain, CATALOG_PATH).await {
        Err(DiscoveryError::Status { status: 404, .. }) => {
            read_catalog(client, domain, OLDER_CATALOG_PATH).await?
        }
        read => read?,
    };
    let entries = catalog.entries.into_iter();
    let cards = entries.filter(|entry| entry.mime_type == CARD_MIME_TYPE);
    let mut servers = Vec::new();
    for entry in cards.take(MAX_CARDS) {
        servers.push(read_entry(client, &uri, entry).await);
    }
    Ok(servers)
}

async fn read_catalog(
    client: &HttpClient,
    domain: &str,
    path: &str,
) -> Result<(Uri, Catalog), DiscoveryError> {
    let uri = catalog_uri(domain, path)?;
    let accept = HeaderValue::from_static("application/ai-catalog+json, application/json");
    let body = get(client, &uri, accept, MAX_CATALOG).await?;
    let catalog = parse(&uri, &body)?;
    Ok((uri, catalog))
}

async fn read_entry(client: &HttpClient, catalog: &Uri, entry: CatalogEntry) -> DiscoveredServer {
    let card = match (&entry.data, &entry.url) {
        (Some(data), _) => {
            parse(catalog, data.get().as_bytes()).and_then(|card| checked(catalog, card))
        }
        (None, Some(url)) => match allowed(url) {
            Ok(uri) if is_same_host(catalog, &uri) => read_card(client, &uri).await,
            Ok(_) => Err(DiscoveryError::OtherHost(url.clone())),
            Err(error) => Err(error),
        },
        (None, None) => {
            let name = &entry.identifier;
            let reason = format!("the entry `{name}` has neither `url` nor `data`");
            Err(malformed(catalog, reason))
        }
    };
    DiscoveredServer {
        identifier: entry.identifier,
        url: entry.url,
        card,
    }
}

async fn read_card(client: &HttpClient, uri: &Uri) -> Result<ServerCard, DiscoveryError> {
    let accept = HeaderValue::from_static("application/mcp-server-card+json, application/json");
    let body = get(client, uri, accept, MAX_CARD).await?;
    checked(uri, parse(uri, &body)?)
}

fn checked(uri: &Uri, card: ServerCard) -> Result<ServerCard, DiscoveryError> {
    match card.check() {
        Ok(()) => Ok(card),
        Err(source) => Err(DiscoveryError::InvalidCard {
            url: uri.to_string(),
            source,
        }),
    }
}

fn parse<T: DeserializeOwned>(uri: &Uri, body: &[u8]) -> Result<T, DiscoveryError> {
    serde_json::from_slice(body).map_err(|error| malformed(uri, error.to_string()))
}

fn malformed(uri: &Uri, reason: impl Into<String>) -> DiscoveryError {
    DiscoveryError::Malformed {
        url: uri.to_string(),
        reason: reason.into(),
    }
}

/// Returns the catalog URL: `http` for loopback addresses, `https` for all others.
fn catalog_uri(domain: &str, path: &str) -> Result<Uri, DiscoveryError> {
    let invalid = || DiscoveryError::InvalidDomain(domain.to_owned());
    let is_allowed =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    if domain.is_empty() || !domain.chars().all(is_allowed) {
        return Err(invalid());
    }
    let secure: Uri = format!("https://{domain}{path}")
        .parse()
        .map_err(|_| invalid())?;
    if secure.host().is_none_or(str::is_empty) {
        return Err(invalid());
    }
    if is_loopback(&secure) {
        format!("http://{domain}{path}")
            .parse()
            .map_err(|_| invalid())
    } else {
        Ok(secure)
    }
}

/// Parses a card URL. It has `https`, or `http` and a loopback address, and no credentials.
fn allowed(url: &str) -> Result<Uri, DiscoveryError> {
    let invalid = || DiscoveryError::InvalidDomain(url.to_owned());
    let uri: Uri = url.parse().map_err(|_| invalid())?;
    let is_allowed = match uri.scheme_str() {
        Some("https") => true,
        Some("http") => is_loopback(&uri),
        _ => false,
    };
    let authority = uri.authority().map_or("", http::uri::Authority::as_str);
    if is_allowed && !authority.is_empty() && !authority.contains('@') {
        Ok(uri)
    } else {
        Err(invalid())
    }
}

fn is_same_host(catalog: &Uri, card: &Uri) -> bool {
    let urls = server_url::resolve(catalog, &card.to_string());
    urls.is_ok_and(|(catalog, card)| catalog.origin() == card.origin())
}

async fn get(
    client: &HttpClient,
    uri: &Uri,
    accept: HeaderValue,
    limit: usize,
) -> Result<Bytes, DiscoveryError> {
    let failed = |source| {
        if is_timeout(&source) {
            DiscoveryError::Timeout(uri.to_string())
        } else {
            DiscoveryError::Request {
                url: uri.to_string(),
                source,
            }
        }
    };
    let mut request = Request::new(Bytes::new());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri.clone();
    request.headers_mut().insert(ACCEPT, accept);
    let response = client.clone().call(request).await.map_err(failed)?;
    if response.status() != StatusCode::OK {
        return Err(DiscoveryError::Status {
            url: uri.to_string(),
            status: response.status().as_u16(),
        });
    }
    let content_type = response.headers().get(CONTENT_TYPE);
    let is_json = content_type
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("json"));
    if !is_json {
        return Err(malformed(uri, "its content type is not JSON"));
    }
    let (bytes, outcome) = body::read(response.into_body(), limit).await;
    outcome.map_err(failed)?;
    Ok(bytes)
}

fn is_timeout(error: &ChannelError) -> bool {
    let first = error as &(dyn Error + 'static);
    let mut causes = iter::successors(Some(first), |&error| error.source());
    causes.any(|error| {
        let io = error.downcast_ref::<io::Error>();
        io.is_some_and(|io| io.kind() == io::ErrorKind::TimedOut)
    })
}

impl fmt::Display for DiscoveredServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.card {
            Ok(card) => write!(f, "{}: {}", card.name, card.description),
            Err(error) => write!(f, "{}: {error}", self.identifier),
        }
    }
}

#[cfg(test)]
mod tests {
    use http::Uri;

    use super::{allowed, catalog_uri, is_same_host};

    #[test]
    fn catalog_is_requested_with_https_except_on_this_machine() {
        let uri = |domain: &str| catalog_uri(domain, "/c").map(|uri| uri.to_string());
        assert_eq!(uri("example.com").unwrap(), "https://example.com/c");
        assert_eq!(
            uri("example.com:8443").unwrap(),
            "https://example.com:8443/c"
        );
        assert_eq!(uri("127.0.0.1:80").unwrap(), "http://127.0.0.1:80/c");
        assert_eq!(uri("localhost:1").unwrap(), "http://localhost:1/c");
        assert_eq!(uri("10.0.0.1").unwrap(), "https://10.0.0.1/c");
        for domain in [
            "",
            "a/b",
            "a@b",
            "https://a",
            "a b",
            "a?b",
            "a#b",
            ":80",
            "ä.de",
        ] {
            assert!(uri(domain).is_err(), "{domain}");
        }
    }

    #[test]
    fn card_at_another_origin_is_not_requested() {
        for url in [
            "http://example.com/c",
            "file:///etc/passwd",
            "ftp://a/b",
            "/c",
            "https://u:p@a/c",
        ] {
            assert!(allowed(url).is_err(), "{url}");
        }
        let catalog: Uri = "https://example.com/.well-known/x".parse().unwrap();
        for (url, is_same) in [
            ("https://example.com/card", true),
            ("https://EXAMPLE.com:443/card", true),
            ("https://example.com:8443/card", false),
            ("https://sub.example.com/card", false),
            ("https://169.254.169.254/card", false),
            ("http://localhost/card", false),
        ] {
            assert_eq!(
                is_same_host(&catalog, &allowed(url).unwrap()),
                is_same,
                "{url}"
            );
        }
    }
}
