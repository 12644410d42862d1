//! Addresses that a server can listen at.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sealed::Listen;
use tokio::net::TcpListener;

/// An address for [`Serve::run`](crate::Serve::run): a string such as `127.0.0.1:8000`, a host and a
/// port, a [`SocketAddr`], or a bound [`TcpListener`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an address to serve at",
    label = "not an address",
    note = "write it as `\"127.0.0.1:8000\"`, `(\"127.0.0.1\", 8000)` or a `SocketAddr`, or pass a `tokio::net::TcpListener`"
)]
pub trait Address: Listen + Send {}

mod sealed {
    use std::io;

    use tokio::net::TcpListener;

    #[expect(unnameable_types, reason = "seals the trait")]
    pub trait Listen {
        fn listen(self) -> impl Future<Output = io::Result<TcpListener>> + Send;
    }
}

impl Address for TcpListener {}
impl Address for &str {}
impl Address for String {}
impl Address for (&str, u16) {}

impl Listen for TcpListener {
    async fn listen(self) -> io::Result<Self> {
        Ok(self)
    }
}

impl Listen for &str {
    async fn listen(self) -> io::Result<TcpListener> {
        if is_address(self) {
            bind(self).await
        } else {
            Err(not_an_address(self))
        }
    }
}

impl Listen for String {
    async fn listen(self) -> io::Result<TcpListener> {
        self.as_str().listen().await
    }
}

impl Listen for (&str, u16) {
    async fn listen(self) -> io::Result<TcpListener> {
        let (host, port) = self;
        // An IPv6 address in a string with a port has brackets.
        match host.parse::<IpAddr>() {
            Ok(host) => bind(&SocketAddr::new(host, port).to_string()).await,
            Err(_) => bind(&format!("{host}:{port}")).await,
        }
    }
}

macro_rules! socket_addresses {
    ($($address:ty),*) => {
        $(
            impl Address for $address {}

            impl Listen for $address {
                async fn listen(self) -> io::Result<TcpListener> {
                    bind(&SocketAddr::from(self).to_string()).await
                }
            }
        )*
    };
}

socket_addresses!(SocketAddr, (IpAddr, u16), (Ipv4Addr, u16), (Ipv6Addr, u16));

/// Binds a listener. The error names the address.
async fn bind(address: &str) -> io::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let message = format!("cannot serve at {address}: {error}");
        io::Error::new(error.kind(), message)
    })
}

/// Returns true for a host and a port.
fn is_address(text: &str) -> bool {
    let parts = text.rsplit_once(':');
    parts.is_some_and(|(host, port)| {
        let is_host = !host.is_empty() && !host.contains('/');
        is_host && port.parse::<u16>().is_ok()
    })
}

fn not_an_address(text: &str) -> io::Error {
    let message = match suggestion(text) {
        _ if has_large_port(text) => {
            format!("\"{text}\" is not an address: a port is 65535 at most")
        }
        Some(address) => format!("\"{text}\" is not an address; did you mean \"{address}\"?"),
        None => format!("\"{text}\" is not an address; write it as \"127.0.0.1:8000\""),
    };
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Returns true when the text ends with a number that is too large for a port.
fn has_large_port(text: &str) -> bool {
    let port = text.rsplit(':').next().unwrap_or(text);
    port.parse::<u64>()
        .is_ok_and(|port| port > u64::from(u16::MAX))
}

/// Returns the address that was probably meant: by a port alone, a host alone, or a URL.
fn suggestion(text: &str) -> Option<String> {
    let authority = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = authority.split('/').next()?.trim();
    let port = authority.strip_prefix(':').unwrap_or(authority);
    let address = if port.parse::<u16>().is_ok() {
        format!("127.0.0.1:{port}")
    } else if authority.is_empty() || authority.contains(char::is_whitespace) {
        return None;
    } else if authority.contains(':') {
        authority.to_owned()
    } else {
        format!("{authority}:8000")
    };
    is_address(&address).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::{Listen as _, is_address, not_an_address};

    #[test]
    fn text_that_is_no_address_gets_a_suggestion() {
        for (text, suggestion) in [
            ("8000", Some("127.0.0.1:8000")),
            (":8000", Some("127.0.0.1:8000")),
            ("localhost", Some("localhost:8000")),
            ("0.0.0.0", Some("0.0.0.0:8000")),
            ("http://127.0.0.1:8000/mcp", Some("127.0.0.1:8000")),
            ("http://localhost", Some("localhost:8000")),
            ("localhost:8000/mcp", Some("localhost:8000")),
            ("", None),
            ("the server", None),
            ("localhost:http", None),
        ] {
            assert!(!is_address(text), "{text}");
            let message = not_an_address(text).to_string();
            let quoted = format!("\"{text}\" is not an address; ");
            assert!(message.starts_with(&quoted), "{message}");
            match suggestion {
                Some(address) => {
                    let end = format!("did you mean \"{address}\"?");
                    assert!(message.ends_with(&end), "{message}");
                }
                None => assert!(message.ends_with("\"127.0.0.1:8000\""), "{message}"),
            }
        }
        for text in ["localhost:80000", "65536", ":99999"] {
            let message = not_an_address(text).to_string();
            let expected = format!("\"{text}\" is not an address: a port is 65535 at most");
            assert_eq!(message, expected);
        }
        assert!(is_address("127.0.0.1:8000") && is_address("[::1]:0"));
    }

    #[tokio::test]
    async fn error_names_the_address_in_use() {
        let taken = ("127.0.0.1", 0).listen().await.unwrap();
        let address = taken.local_addr().unwrap();
        for error in [
            address.listen().await.unwrap_err(),
            address.to_string().listen().await.unwrap_err(),
            ("127.0.0.1", address.port()).listen().await.unwrap_err(),
        ] {
            let start = format!("cannot serve at {address}: ");
            let message = error.to_string();
            assert!(message.starts_with(&start), "{message}");
            assert!(message.to_lowercase().contains("in use"), "{message}");
            assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
        }
        let error = "8000".listen().await.unwrap_err();
        assert!(error.to_string().contains("did you mean"), "{error}");
    }
}
