//! The connection below a message, for telemetry.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// The kind of transport below a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Transport {
    /// HTTP over TCP.
    Http,
    /// The standard streams of a process, or another pair of byte streams.
    Pipe,
}

/// A connection: its transport, and the address of the server as far as a client knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Connection {
    /// The transport.
    pub transport: Transport,
    /// The host of the server.
    pub host: Option<Arc<str>>,
    /// The port of the server.
    pub port: Option<u16>,
}

impl Connection {
    /// A connection over HTTP.
    pub const HTTP: Self = Self::new(Transport::Http);
    /// A connection over a pipe.
    pub const PIPE: Self = Self::new(Transport::Pipe);

    /// A connection without an address.
    pub const fn new(transport: Transport) -> Self {
        Self {
            transport,
            host: None,
            port: None,
        }
    }

    /// Returns the connection of a transport, without an address.
    pub fn of(transport: Transport) -> &'static Self {
        static HTTP: Connection = Connection::HTTP;
        static PIPE: Connection = Connection::PIPE;
        match transport {
            Transport::Http => &HTTP,
            Transport::Pipe => &PIPE,
        }
    }

    /// Sets the address of the server.
    #[must_use]
    pub fn address(mut self, host: impl Into<Arc<str>>, port: Option<u16>) -> Self {
        self.host = Some(host.into());
        self.port = port;
        self
    }
}

/// The id of a legacy session, in the extensions of a call. Set only for a service with an observer.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The id of a session.
    pub fn new(id: Arc<str>) -> Self {
        Self(id)
    }

    /// Returns the id. It is a secret where no other authorization protects the session.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId")
    }
}

/// The address of the client, in the extensions of a call. Set only for a service with an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddress(IpAddr);

impl ClientAddress {
    /// The address of a client.
    pub fn new(address: IpAddr) -> Self {
        Self(address)
    }

    /// Returns the address.
    pub fn ip(self) -> IpAddr {
        self.0
    }
}
