//! The network below a message.

use std::sync::Arc;

use http::Version;
use mcp_core::{Connection, ConnectionState, Extensions, Transport};
use opentelemetry::KeyValue;
use smallvec::SmallVec;

/// The names of the attributes.
mod names {
    pub(super) const TRANSPORT: &str = "network.transport";
    pub(super) const PROTOCOL: &str = "network.protocol.name";
    pub(super) const PROTOCOL_VERSION: &str = "network.protocol.version";
    pub(super) const SERVER_ADDRESS: &str = "server.address";
    pub(super) const SERVER_PORT: &str = "server.port";
}

/// The attributes of one measurement, on the stack.
pub(crate) type Attributes = SmallVec<[KeyValue; 12]>;

/// The network below a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    pub(crate) transport: Option<&'static str>,
    pub(crate) protocol: Option<&'static str>,
    pub(crate) protocol_version: Option<&'static str>,
    /// The server as its client knows it.
    pub(crate) server: Option<(Arc<str>, Option<u16>)>,
    /// What the responses of the server have shown.
    pub(crate) state: Option<Arc<ConnectionState>>,
}

impl Network {
    pub(crate) fn new(connection: Option<&Connection>, extensions: Option<&Extensions>) -> Self {
        let transport = connection.map(|connection| connection.transport);
        let transport = transport.or_else(|| extensions?.transport());
        let parts = extensions.and_then(Extensions::parts);
        let (transport, protocol) = match transport {
            Some(Transport::Http) => (Some("tcp"), Some("http")),
            Some(Transport::Pipe) => (Some("pipe"), None),
            Some(Transport::Unix) => (Some("unix"), None),
            _ => (None, None),
        };
        let host = connection.and_then(|it| Some((it.host.clone()?, it.port)));
        Self {
            transport,
            protocol,
            protocol_version: parts.and_then(|parts| version_name(parts.version)),
            server: host,
            state: connection.and_then(|connection| connection.state.clone()),
        }
    }

    /// Reads the version of HTTP again where only a response shows it. Returns it if it is new.
    pub(crate) fn refresh(&mut self) -> Option<&'static str> {
        let state = self
            .state
            .as_ref()
            .filter(|_| self.protocol_version.is_none())?;
        self.protocol_version = state.http_version().and_then(version_name);
        self.protocol_version
    }

    /// Returns true if metrics have the same attributes. It may return false for equal ones.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        is_same_text(self.transport, other.transport)
            && is_same_text(self.protocol, other.protocol)
            && is_same_text(self.protocol_version, other.protocol_version)
            && match (&self.server, &other.server) {
                (Some((host, port)), Some((other_host, other_port))) => {
                    port == other_port && Arc::ptr_eq(host, other_host)
                }
                (None, None) => true,
                _ => false,
            }
    }

    /// Adds the attributes of a metric.
    pub(crate) fn push(&self, is_client: bool, attributes: &mut Attributes) {
        let pairs = [
            (names::TRANSPORT, self.transport),
            (names::PROTOCOL, self.protocol),
            (names::PROTOCOL_VERSION, self.protocol_version),
        ];
        for (key, value) in pairs {
            if let Some(value) = value {
                attributes.push(KeyValue::new(key, value));
            }
        }
        if let (true, Some((host, port))) = (is_client, &self.server) {
            attributes.push(KeyValue::new(names::SERVER_ADDRESS, host.clone()));
            if let Some(port) = port {
                attributes.push(KeyValue::new(names::SERVER_PORT, i64::from(*port)));
            }
        }
    }
}

fn version_name(version: Version) -> Option<&'static str> {
    match version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        Version::HTTP_3 => Some("3"),
        _ => None,
    }
}

/// Compares addresses: the strings are constants.
fn is_same_text(one: Option<&'static str>, other: Option<&'static str>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one, other),
        (None, None) => true,
        _ => false,
    }
}
