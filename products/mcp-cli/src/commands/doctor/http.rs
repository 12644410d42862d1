//! Response judgements: TLS, status, proxies, clock.

use std::time::{Duration, SystemTime};

use http::header::{CONTENT_TYPE, DATE, HeaderName, LOCATION, SERVER, VIA};
use http::{HeaderMap, StatusCode};
use mcp::client::Error;
use mcp::core::Fault;

use super::report::{Report, Step};
use super::watch::Exchange;
use crate::config;
use crate::failure::FailureKind;

/// Headers that caches and proxies add.
const PROXY_HEADERS: [HeaderName; 6] = [
    VIA,
    HeaderName::from_static("cf-ray"),
    HeaderName::from_static("x-amz-cf-id"),
    HeaderName::from_static("x-azure-ref"),
    HeaderName::from_static("x-cache"),
    HeaderName::from_static("x-served-by"),
];
/// Difference of clocks from which tokens and signatures fail.
const MAX_SKEW: Duration = Duration::from_secs(30);
/// Longest header value that is shown, in characters.
const MAX_VALUE: usize = 200;

/// Judges TLS and the responses until the connection was ready or had failed.
pub(super) fn examine_connection(
    url: &str,
    exchanges: &[Exchange],
    failure: Option<&Error>,
    report: &mut Report,
) {
    let is_tls = config::parse_url(url).is_some_and(|url| url.scheme() == "https");
    let Some(last) = exchanges.last() else {
        let detail = failure.map_or_else(|| "no response".to_owned(), ToString::to_string);
        let (name, cure) = if is_tls {
            (
                "tls",
                "check the certificate: its names, its end, and that this machine trusts its issuer",
            )
        } else {
            (
                "http",
                "the port belongs to no HTTP server, or the server closed the connection; check the port and the log of the server",
            )
        };
        report.add(Step::failed(name, FailureKind::Unreachable, detail, cure));
        return;
    };
    if is_tls {
        report.add(Step::ok("tls", "the certificate is valid"));
    }
    let lines: Vec<_> = exchanges.iter().map(describe).collect();
    let detail = lines.join("\n");
    let cure = failure.and_then(|_| cure_of(url, last));
    report.add(match cure {
        Some(cure) => Step::failed("http", FailureKind::Unreachable, detail, cure),
        None => Step::ok("http", detail),
    });
}

fn describe(exchange: &Exchange) -> String {
    let call = exchange.call.as_deref().unwrap_or_default();
    let content = value(&exchange.headers, &CONTENT_TYPE);
    let milliseconds = exchange.duration.as_secs_f64() * 1000.0;
    let request = format!("{} {call}", exchange.method);
    let line = format!(
        "{}: {}, {milliseconds:.1} ms {content}",
        request.trim_end(),
        exchange.status
    );
    line.trim_end().to_owned()
}

/// The cure of a response that ended the connection. `None` for statuses that a server may use.
fn cure_of(url: &str, exchange: &Exchange) -> Option<String> {
    let content = value(&exchange.headers, &CONTENT_TYPE);
    let is_message =
        content.starts_with("application/json") || content.starts_with("text/event-stream");
    Some(match exchange.status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => return None,
        StatusCode::NOT_FOUND => {
            "check the path of the URL: nothing is served there; many servers use /mcp".to_owned()
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            "check the path of the URL: it accepts no POST; a server of 2024-11-05 has an address for events, often /sse".to_owned()
        }
        StatusCode::TOO_MANY_REQUESTS => "wait: the server limits the rate of requests".to_owned(),
        status if status.is_redirection() => {
            let location = value(&exchange.headers, &LOCATION);
            let location = config::parse_url(url).and_then(|url| url.join(&location).ok());
            let location = location.map_or("that it names".to_owned(), config::without_secrets);
            format!("redirects are not followed, as they receive headers; use the URL {location}")
        }
        status if status.is_server_error() => {
            "the server, or a proxy in front of it, has failed; read its log".to_owned()
        }
        status if status.is_success() && !is_message => {
            "the URL belongs to no MCP server: it answers with other content; check host and path".to_owned()
        }
        _ => return None,
    })
}

/// Judges headers that proxies change, and the clock.
pub(super) fn examine_headers(exchanges: &[Exchange], report: &mut Report) {
    let Some(first) = exchanges.first() else {
        return;
    };
    let traces: Vec<_> = PROXY_HEADERS
        .iter()
        .chain([&SERVER])
        .filter(|name| first.headers.contains_key(*name))
        .map(|name| format!("{name}: {}", value(&first.headers, name)))
        .collect();
    let is_proxied = PROXY_HEADERS
        .iter()
        .any(|name| first.headers.contains_key(name));
    let encoded = exchanges.iter().any(|exchange| {
        exchange.headers.contains_key("content-encoding")
            && value(&exchange.headers, &CONTENT_TYPE).starts_with("text/event-stream")
    });
    let detail = match (is_proxied, traces.is_empty()) {
        (true, _) => format!("a proxy or cache answers; {}", traces.join("; ")),
        (false, false) => format!("no proxy is visible; {}", traces.join("; ")),
        (false, true) => "no proxy is visible".to_owned(),
    };
    report.add(if encoded {
        Step::warning(
            "headers",
            format!("{detail}; event streams are compressed"),
            "switch compression of text/event-stream off in the proxy: it delays events",
        )
    } else {
        Step::ok("headers", detail)
    });
    report.add(clock(first));
}

fn clock(exchange: &Exchange) -> Step {
    let date = value(&exchange.headers, &DATE);
    let Ok(date) = httpdate::parse_http_date(&date) else {
        return Step::ok("clock", "unknown, as the response has no date");
    };
    let (skew, direction) = difference(date, exchange.received);
    // The header has whole seconds, and the response has travelled.
    let skew = skew.saturating_sub(Duration::from_secs(1) + exchange.duration);
    if skew <= MAX_SKEW {
        return Step::ok("clock", "agrees with the server");
    }
    let detail = format!(
        "the clock of the server is {} s {direction}",
        skew.as_secs()
    );
    let cure = "set the clock of both machines by NTP: logins and signatures fail otherwise";
    Step::warning("clock", detail, cure)
}

fn difference(server: SystemTime, here: SystemTime) -> (Duration, &'static str) {
    match server.duration_since(here) {
        Ok(ahead) => (ahead, "ahead"),
        Err(error) => (error.duration(), "behind"),
    }
}

/// The cure of a request whose headers do not match its body.
pub(super) fn header_mismatch(fault: Option<&Fault>) -> Option<&'static str> {
    match fault {
        Some(Fault::HeaderMismatch(_)) => Some(
            "a proxy removes or changes headers of requests; let it pass Mcp-Method, Mcp-Name, Mcp-Param-* and MCP-Protocol-Version unchanged",
        ),
        _ => None,
    }
}

/// Returns the text of a header, shortened.
pub(super) fn value(headers: &HeaderMap, name: &HeaderName) -> String {
    let value = headers.get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().chars().take(MAX_VALUE).collect()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use http::header::DATE;
    use http::{HeaderMap, Method, StatusCode};

    use super::clock;
    use crate::commands::doctor::watch::Exchange;

    fn exchange(date: SystemTime, received: SystemTime) -> Exchange {
        let date = httpdate::fmt_http_date(date).parse().unwrap();
        Exchange {
            method: Method::POST,
            call: None,
            status: StatusCode::OK,
            headers: HeaderMap::from_iter([(DATE, date)]),
            duration: Duration::from_millis(10),
            received,
        }
    }

    #[test]
    fn clock_with_a_large_difference_is_a_warning() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
        let minute = Duration::from_secs(60);
        for (date, text) in [
            (now, "agrees"),
            (now - Duration::from_secs(20), "agrees"),
            (now + minute, "58 s ahead"),
            (now - minute, "58 s behind"),
        ] {
            let step = format!("{:?}", clock(&exchange(date, now)));
            assert!(step.contains(text), "{text}: {step}");
        }
    }
}
