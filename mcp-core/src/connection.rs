//! A connection: the transport below a message, the two sides, and what comes with a message beside it.
//!
//! | module | content |
//! |---|---|
//! | `client`, `server` | identity and capabilities of the two sides |
//! | `identity` | the identity of a server for caches |
//! | `extensions` | the HTTP head of a request, and values of layers |
//! | `stream_control` | control over the stream that carries a call |

mod client;
mod extensions;
mod identity;
mod server;
mod stream_control;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};

pub(crate) use client::check_client_size;
#[cfg(feature = "json-schema")]
pub(crate) use client::count_values;
pub use client::{ClientContext, ClientProfile};
pub use extensions::Extensions;
pub(crate) use extensions::HeaderNames;
pub use identity::ServerIdentity;
pub use server::ServerProfile;
pub use stream_control::StreamControl;

/// The kind of transport below a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// HTTP over TCP.
    Http,
    /// The standard streams of a process, or another pair of byte streams.
    Pipe,
    /// A Unix socket.
    Unix,
}

/// A connection: its transport, and the address of the server as far as a client knows it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Connection {
    /// The transport.
    pub transport: Transport,
    /// The server's host.
    pub host: Option<Arc<str>>,
    /// The server's port.
    pub port: Option<u16>,
    /// State that responses of the server have shown.
    pub state: Option<Arc<Mutex<ConnectionState>>>,
}

impl Connection {
    /// A connection without an address.
    pub const fn new(transport: Transport) -> Self {
        Self {
            transport,
            host: None,
            port: None,
            state: None,
        }
    }

    /// Returns the connection for a transport, without an address.
    pub(crate) fn of(transport: Transport) -> &'static Self {
        static HTTP: Connection = Connection::new(Transport::Http);
        static PIPE: Connection = Connection::new(Transport::Pipe);
        static UNIX: Connection = Connection::new(Transport::Unix);
        match transport {
            Transport::Http => &HTTP,
            Transport::Pipe => &PIPE,
            Transport::Unix => &UNIX,
        }
    }
}

/// Facts that a client has learned about a connection from its server's responses. The transport of the
/// client updates it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ConnectionState {
    /// HTTP version of the last response. `None` before the first one.
    pub http_version: Option<http::Version>,
    /// The id of the legacy session. `None` before the handshake, and where the server gives no id.
    pub session: Option<SessionId>,
}

/// The id of a legacy session, in a call's extensions. Set only for a service with an observer. It is
/// a secret where no other authorization protects the session.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "names a string")]
pub struct SessionId(pub Arc<str>);

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId")
    }
}

/// The address of a call's client; see [`Extensions`](crate::Extensions).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "an address has these parts")]
pub struct ClientAddress {
    /// The IP address.
    pub ip: IpAddr,
    /// The port. `None` where only the IP address is known.
    pub port: Option<u16>,
}

impl ClientAddress {
    /// Returns the block of addresses that one client can have: an IPv4 address, or an IPv6 address's first 64
    /// bits. `None` for loopback addresses: most of them belong to a reverse proxy.
    pub fn block(self) -> Option<IpAddr> {
        match self.ip {
            address if address.is_loopback() => None,
            IpAddr::V4(_) => Some(self.ip),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Some(IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0)))
            }
        }
    }
}
