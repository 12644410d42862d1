//! Name resolution and the TCP connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;

use super::report::{Report, Step};
use crate::config;
use crate::failure::FailureKind;

/// Time limit of each attempt.
const LIMIT: Duration = Duration::from_secs(5);
/// Largest number of addresses that are tried.
const MAX_ADDRESSES: usize = 8;
/// The variables that name a proxy.
const PROXIES: [&str; 6] = [
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Resolves the host and connects to it. Returns false if no request can succeed.
pub(super) async fn examine(url: &str, report: &mut Report) -> bool {
    let url = config::parse_url(url);
    let target = url.as_ref().and_then(|url| {
        let host = url.host_str()?;
        Some((host, url.port_or_known_default()?))
    });
    let Some((host, port)) = target else {
        let cure = "write it as https://host/path";
        let detail = "the URL is invalid or has no host";
        report.add(Step::failed("resolve", FailureKind::Usage, detail, cure));
        return false;
    };
    let host = host.trim_matches(['[', ']']);
    let proxy = PROXIES
        .into_iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    if let (Some(name), false) = (proxy, is_local(host)) {
        if std::env::var(name).is_ok_and(|value| value.starts_with("socks")) {
            let detail = format!("the variable {name} names a SOCKS proxy, which is not supported");
            let cure = "set HTTPS_PROXY to an HTTP proxy, or unset the variable";
            report.add(Step::failed("resolve", FailureKind::Usage, detail, cure));
            return false;
        }
        // The proxy resolves the name.
        let detail = format!("the proxy of the variable {name} connects to {host}");
        report.add(Step::ok("resolve", detail));
        return true;
    }
    match resolve(host, port).await {
        Ok(addresses) => connect(&addresses, report).await,
        Err(reason) => {
            let detail = format!("{host}: {reason}");
            let cure = "check the spelling of the host, the network and the name server; behind a company proxy set HTTPS_PROXY";
            report.add(Step::failed(
                "resolve",
                FailureKind::Unreachable,
                detail,
                cure,
            ));
            false
        }
    }
}

fn is_local(host: &str) -> bool {
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

async fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let found = timeout(LIMIT, lookup_host((host, port))).await;
    let found = found.map_err(|_| "no answer in time".to_owned())?;
    let found = found.map_err(|error| error.to_string())?;
    let addresses: Vec<_> = found.take(MAX_ADDRESSES).collect();
    if addresses.is_empty() {
        Err("the name has no address".to_owned())
    } else {
        Ok(addresses)
    }
}

async fn connect(addresses: &[SocketAddr], report: &mut Report) -> bool {
    let ips: Vec<_> = addresses
        .iter()
        .map(|address| address.ip().to_string())
        .collect();
    report.add(Step::ok("resolve", ips.join(", ")));
    let mut reasons = Vec::new();
    for address in addresses {
        let start = Instant::now();
        match timeout(LIMIT, TcpStream::connect(address)).await {
            Ok(Ok(_)) => {
                let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
                let detail = format!("{address} in {milliseconds:.1} ms");
                report.add(Step::ok("connect", detail));
                return true;
            }
            Ok(Err(error)) => reasons.push(format!("{address}: {error}")),
            Err(_) => reasons.push(format!("{address}: no answer in time")),
        }
    }
    let cure =
        "start the server, check the port of the URL, and check firewalls between both machines";
    let detail = reasons.join("\n");
    report.add(Step::failed(
        "connect",
        FailureKind::Unreachable,
        detail,
        cure,
    ));
    false
}
