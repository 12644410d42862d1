//! The network below a message.

use std::sync::{Arc, Mutex};

use http::Version;
use mcp_core::{Connection, ConnectionState, Extensions, Transport};
use opentelemetry::KeyValue;
use smallvec::SmallVec;

/// Attribute names.
mod names {
    pub(super) const TRANSPORT: &str = "network.transport";
    pub(super) const PROTOCOL: &str = "network.protocol.name";
    pub(super) const PROTOCOL_VERSION: &str = "network.protocol.version";
    pub(super) const SERVER_ADDRESS: &str = "server.address";
    pub(super) const SERVER_PORT: &str = "server.port";
}

/// The attributes of one measurement, on the stack.
pub(crate) type Attributes = SmallVec<[KeyValue; 12]>;

/// The network below a message. It is small, because it is moved with its operation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    transport: Option<Transport>,
    /// The version of HTTP.
    version: Option<Version>,
    server: Option<Box<ServerSide>>,
}

/// The server as its client knows it.
#[derive(Debug, Clone)]
struct ServerSide {
    address: Option<(Arc<str>, Option<u16>)>,
    /// State that the server's responses have shown.
    state: Option<Arc<Mutex<ConnectionState>>>,
}

impl Network {
    pub(crate) fn new(connection: Option<&Connection>, extensions: Option<&Extensions>) -> Self {
        let transport = connection.map(|connection| connection.transport);
        let parts = extensions.and_then(Extensions::parts);
        let server =
            connection.filter(|connection| connection.host.is_some() || connection.state.is_some());
        Self {
            transport: transport.or_else(|| extensions?.transport),
            version: parts.map(|parts| parts.version),
            server: server.map(|connection| {
                Box::new(ServerSide {
                    address: connection.host.clone().map(|host| (host, connection.port)),
                    state: connection.state.clone(),
                })
            }),
        }
    }

    /// Returns `network.transport`.
    pub(crate) fn transport(&self) -> Option<&'static str> {
        Some(match self.transport? {
            Transport::Http => "tcp",
            Transport::Pipe => "pipe",
            Transport::Unix => "unix",
            _ => return None,
        })
    }

    /// Returns `network.protocol.name`.
    pub(crate) fn protocol(&self) -> Option<&'static str> {
        matches!(self.transport?, Transport::Http).then_some("http")
    }

    /// Returns `network.protocol.version`.
    pub(crate) fn protocol_version(&self) -> Option<&'static str> {
        Some(match self.version? {
            Version::HTTP_10 => "1.0",
            Version::HTTP_11 => "1.1",
            Version::HTTP_2 => "2",
            Version::HTTP_3 => "3",
            _ => return None,
        })
    }

    /// Returns the server's host and port, on the client side.
    pub(crate) fn server(&self) -> Option<(&Arc<str>, Option<u16>)> {
        let (host, port) = self.server.as_ref()?.address.as_ref()?;
        Some((host, *port))
    }

    /// Reads the version of HTTP again where only a response shows it. Returns it if it is new.
    pub(crate) fn refresh(&mut self) -> Option<&'static str> {
        if self.version.is_some() {
            return None;
        }
        self.version = self
            .server
            .as_ref()?
            .state
            .as_ref()?
            .lock()
            .ok()?
            .http_version;
        self.protocol_version()
    }

    /// Adds the metric attributes.
    pub(crate) fn push(&self, is_client: bool, attributes: &mut Attributes) {
        let pairs = [
            (names::TRANSPORT, self.transport()),
            (names::PROTOCOL, self.protocol()),
            (names::PROTOCOL_VERSION, self.protocol_version()),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                attributes.push(KeyValue::new(key, value));
            }
        }
        if let (true, Some((host, port))) = (is_client, self.server()) {
            attributes.push(KeyValue::new(names::SERVER_ADDRESS, host.clone()));
            if let Some(port) = port {
                attributes.push(KeyValue::new(names::SERVER_PORT, i64::from(port)));
            }
        }
    }
}
