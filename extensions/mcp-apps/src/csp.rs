//! The header `Content-Security-Policy` of a view.

use crate::ui::Csp;

/// Largest number of sources in one list.
const MAX_SOURCES: usize = 64;
/// Longest name of a host in DNS.
const MAX_HOST: usize = 253;

/// Returns the value of the header `Content-Security-Policy` for a document whose server declares
/// `csp`, or nothing. Everything that is not declared is blocked.
///
/// A source is `https://` (for connections also `wss://`), a host name in ASCII, and possibly a port.
/// The host may begin with `*.` before at least two labels.
///
/// # Errors
///
/// Returns [`InvalidSource`] for the first source of another form: the header is never built from text
/// that could add a directive to it.
///
/// # Examples
///
/// ```
/// use mcp::apps::{Csp, content_security_policy};
///
/// let csp = Csp::new().connect("https://api.example.com");
/// let header = content_security_policy(Some(&csp))?;
/// assert!(header.contains("connect-src https://api.example.com;"));
/// assert!(content_security_policy(Some(&Csp::new().load("https://a.example; script-src *"))).is_err());
/// # Ok::<(), mcp::apps::InvalidSource>(())
/// ```
// spec: APP-10, APP-11
pub fn content_security_policy(csp: Option<&Csp>) -> Result<String, InvalidSource> {
    let none = Csp::new();
    let csp = csp.unwrap_or(&none);
    let connect = sources("connectDomains", &csp.connect_domains, &["https", "wss"])?;
    let load = sources("resourceDomains", &csp.resource_domains, &["https"])?;
    let frame = sources("frameDomains", &csp.frame_domains, &["https"])?;
    let base = sources("baseUriDomains", &csp.base_uri_domains, &["https"])?;
    let or = |list: String, default: &str| {
        if list.is_empty() {
            format!(" {default}")
        } else {
            list
        }
    };
    let (connect, frame, base) = (
        or(connect, "'none'"),
        or(frame, "'none'"),
        or(base, "'self'"),
    );
    Ok(format!(
        "default-src 'none'; script-src 'self' 'unsafe-inline'{load}; \
         style-src 'self' 'unsafe-inline'{load}; img-src 'self' data:{load}; \
         font-src 'self' data:{load}; media-src 'self' data:{load}; connect-src{connect}; \
         frame-src{frame}; object-src 'none'; form-action 'none'; base-uri{base}"
    ))
}

/// A source of a content security policy that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`csp.{list}`: {source_text:?} is refused: {reason}; write a source as https://host")]
#[non_exhaustive]
pub struct InvalidSource {
    /// The member of `csp`.
    pub list: &'static str,
    /// The source, cut after 100 characters.
    pub source_text: String,
    /// The rule that it breaks.
    pub reason: &'static str,
}

/// Joins the sources of one list, each after a blank.
fn sources(
    list: &'static str,
    sources: &[String],
    schemes: &[&str],
) -> Result<String, InvalidSource> {
    let refuse = |source: &str, reason| InvalidSource {
        list,
        source_text: source.chars().take(100).collect(),
        reason,
    };
    if let Some(first) = sources.get(MAX_SOURCES) {
        return Err(refuse(first, "a list has at most 64 sources"));
    }
    let mut joined = String::new();
    for source in sources {
        if let Err(reason) = check_source(source, schemes) {
            return Err(refuse(source, reason));
        }
        joined.push(' ');
        joined.push_str(source);
    }
    Ok(joined)
}

fn check_source(source: &str, schemes: &[&str]) -> Result<(), &'static str> {
    let Some((scheme, rest)) = source.split_once("://") else {
        return Err("it has no scheme");
    };
    if !schemes.contains(&scheme) {
        return Err("its scheme is not allowed here");
    }
    let (host, port) = match rest.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    if port.is_some_and(|port| port.parse::<u16>().is_err() || port.starts_with('+')) {
        return Err("its port is not a number up to 65535");
    }
    let (name, labels) = match host.strip_prefix("*.") {
        Some(name) => (name, 2),
        None => (host, 1),
    };
    if host.len() > MAX_HOST || !name.split('.').all(is_label) {
        return Err("its host is not an ASCII name");
    }
    if name.split('.').count() < labels {
        return Err("its wildcard covers a top-level domain");
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !label.is_empty() && label.bytes().all(is_allowed)
}
