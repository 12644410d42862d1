//! The address of a program that serves HTTP: where it was asked to listen, or what it prints.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};
use url::{Host, Url};

use crate::config;
use crate::local_users::{another_listens, stranger_listens};

/// Time between two attempts to reach a program over HTTP.
pub(super) const RETRY: Duration = Duration::from_millis(50);

/// The path of a printed URL without one.
const DEFAULT_PATH: &str = "/mcp";

/// Time for the end of a program at a port of this machine.
const MAX_CONNECT: Duration = Duration::from_secs(1);

/// The reason why a program gets nothing.
const STRANGER: &str = "another program listens there, which this command has not started";

/// Returns true if another program listens at the address of the program before its start.
///
/// # Errors
///
/// Returns a description if that program would get the user's headers.
pub(super) async fn is_taken(
    url: Option<&Url>,
    has_headers: bool,
    port: u16,
) -> Result<bool, String> {
    // The user's variables can name a port at which another program listens.
    let local = url.is_none().then(|| format!("http://localhost:{port}"));
    let asked = local.and_then(|local| config::parse_url(&local));
    let is_taken = match url.or(asked.as_ref()) {
        Some(url) => listens_already(url).await,
        None => false,
    };
    if let (Some(url), true, true) = (url, is_taken, has_headers) {
        return Err(format!(
            "another program listens at {url} already, and would get the --header: end it, or pass another --url"
        ));
    }
    Ok(is_taken)
}

/// Returns a URL with the first of these hosts at which a program listens that is not a stranger: `localhost` can mean two
/// addresses, and another program may listen at the other one.
///
/// # Errors
///
/// Returns [`STRANGER`] if only strangers listen there, and `None` if no program does.
async fn listening(
    url: &Url,
    hosts: &[&str],
    is_stranger: fn(SocketAddr) -> bool,
) -> Result<Url, Option<&'static str>> {
    let mut problem = None;
    for host in hosts {
        let mut address = url.clone();
        address.set_host(Some(host)).map_err(|_| None)?;
        let addresses = address.socket_addrs(|| None).map_err(|_| None)?;
        let connecting = TcpStream::connect(&*addresses);
        if let Ok(Ok(_)) = timeout(MAX_CONNECT, connecting).await {
            if !addresses.into_iter().any(is_stranger) {
                return Ok(address);
            }
            problem = Some(STRANGER);
        }
    }
    Err(problem)
}

/// Returns the address of a program at a URL of the command line, or at one that it prints. `has_credentials`: only a program
/// that this command has started may listen there, and not one that has reserved the port, where the system tells.
///
/// # Errors
///
/// Returns [`STRANGER`] if another program listens there, and `None` if there is no address at which the program was asked to
/// listen.
pub(super) async fn find(
    url: &Url,
    is_typed: bool,
    port: u16,
    has_credentials: bool,
) -> Result<Url, Option<&'static str>> {
    let is_stranger = if has_credentials {
        stranger_listens
    } else {
        another_listens
    };
    let hosts: &[&str] = match (url.host(), url.host_str()) {
        _ if !is_typed && is_asked(url, port) => &["127.0.0.1"],
        _ if !is_typed => &[],
        // The name is one address.
        (Some(Host::Domain("localhost")), _) if url.scheme() == "http" => &["127.0.0.1", "[::1]"],
        (Some(Host::Ipv4(address)), Some(host)) if address.is_loopback() => &[host],
        (Some(Host::Ipv6(address)), Some(host)) if address.is_loopback() => &[host],
        _ => return Ok(url.clone()),
    };
    listening(url, hosts, is_stranger).await
}

/// Returns whether a program that prints this URL was asked to listen there. Another program may listen at other addresses.
pub(super) fn is_asked(url: &Url, port: u16) -> bool {
    url.port_or_known_default() == Some(port)
        && matches!(url.host_str(), Some("127.0.0.1" | "localhost"))
}

/// Returns true if a program listens at a URL of this machine.
async fn listens_already(url: &Url) -> bool {
    let addresses = url.socket_addrs(|| None).unwrap_or_default();
    let local = addresses
        .into_iter()
        .filter(|address| address.ip().is_loopback());
    for address in local {
        let end = Instant::now() + MAX_CONNECT;
        // A former program may still be ending.
        while let Ok(Ok(_)) = timeout(MAX_CONNECT, TcpStream::connect(address)).await {
            if Instant::now() >= end {
                return true;
            }
            sleep(RETRY).await;
        }
    }
    false
}

/// Finds URLs of this machine in what a program has printed.
pub(super) fn printed_urls(text: &str) -> Vec<Url> {
    let is_separator = |c: char| c.is_whitespace() || "\"'`<>()[]{},;".contains(c);
    let words = text
        .split(is_separator)
        .filter(|word| word.starts_with("http://"));
    let urls = words.filter_map(|word| {
        let mut url = config::parse_url(word.trim_end_matches('.'))?;
        match url.host()? {
            Host::Domain("localhost") => {}
            Host::Ipv4(address) if address.is_loopback() => {}
            // Servers accept requests for names of this machine only.
            Host::Ipv4(address) if address.is_unspecified() => {
                url.set_host(Some("127.0.0.1")).ok()?;
            }
            _ => return None,
        }
        if url.path() == "/" {
            url.set_path(DEFAULT_PATH);
        }
        Some(url)
    });
    let mut found: Vec<Url> = Vec::new();
    urls.for_each(|url| {
        if !found.contains(&url) {
            found.push(url);
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use tokio::net::TcpListener;
    use url::Url;

    use super::{STRANGER, config, find, listening, printed_urls};

    #[tokio::test]
    async fn localhost_is_the_address_that_the_program_was_asked_to_serve() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let printed = config::parse_url(&format!("http://localhost:{port}/mcp")).unwrap();
        let asked = async || find(&printed, false, port, false).await;
        let typed = async || find(&printed, true, port, false).await;
        let first = asked().await.unwrap();
        assert_eq!(first.as_str(), format!("http://127.0.0.1:{port}/mcp"));
        // Another program at the other address, where this machine has one.
        let other = TcpListener::bind(("::1", port)).await.is_ok_and(|other| {
            std::mem::forget(other);
            true
        });
        let both = ["127.0.0.1", "[::1]"];
        let any = async |another: fn(SocketAddr) -> bool| listening(&printed, &both, another).await;
        assert_eq!(typed().await, Ok(first));
        // The first one is another user's.
        let shown = |found: Result<Url, _>| found.map(|url| url.host_str().unwrap().to_owned());
        let second = other.then(|| "[::1]".to_owned()).ok_or(Some(STRANGER));
        assert_eq!(shown(any(|address| address.is_ipv4()).await), second);
        assert_eq!(any(|_| true).await, Err(Some(STRANGER)));
        // A program that listens at the other address only gets no credentials, unless the user has typed the name.
        drop(listener);
        assert_eq!(asked().await, Err(None));
        let second = other.then(|| "[::1]".to_owned()).ok_or(None);
        assert_eq!(shown(typed().await), second);
    }

    #[test]
    fn local_urls_are_found_in_what_a_program_prints() {
        for (text, expected) in [
            ("http://127.0.0.1:40123/mcp\n", "http://127.0.0.1:40123/mcp"),
            (
                "INFO: Uvicorn running on http://127.0.0.1:8000 (Press CTRL+C to quit)",
                "http://127.0.0.1:8000/mcp",
            ),
            (
                "serving at http://127.0.0.1:80/a; see it with `mcp inspect http://127.0.0.1:80/a`",
                "http://127.0.0.1/a",
            ),
            (
                "{\"url\":\"http://localhost:3000/mcp\"}",
                "http://localhost:3000/mcp",
            ),
            ("listening on http://0.0.0.0:1/x.", "http://127.0.0.1:1/x"),
            ("see http://example.com/ and https://127.0.0.1/", ""),
            ("http:// http://[::1", ""),
        ] {
            let found: Vec<_> = printed_urls(text).iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
