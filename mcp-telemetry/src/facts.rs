//! The attributes of one operation.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use http::Version;
use mcp_core::{
    ClientAddress, Connection, Exchange, Extensions, ObservedMessage, RequestName, SessionId,
    Transport,
};
use mcp_types::{Method, ProtocolVersion, RequestId};
use opentelemetry::KeyValue;
use smallvec::SmallVec;

use crate::error_type::{Failure, OTHER};
use crate::known_names::{KnownNames, NameKind};

/// The names of the attributes.
pub(crate) mod names {
    pub(crate) const METHOD: &str = "mcp.method.name";
    pub(crate) const ERROR_TYPE: &str = "error.type";
    pub(crate) const TOOL: &str = "gen_ai.tool.name";
    pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
    pub(crate) const OPERATION: &str = "gen_ai.operation.name";
    pub(crate) const RESOURCE_URI: &str = "mcp.resource.uri";
    pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
    pub(crate) const VERSION: &str = "mcp.protocol.version";
    pub(crate) const TRANSPORT: &str = "network.transport";
    pub(crate) const PROTOCOL: &str = "network.protocol.name";
    pub(crate) const PROTOCOL_VERSION: &str = "network.protocol.version";
    pub(crate) const SERVER_ADDRESS: &str = "server.address";
    pub(crate) const SERVER_PORT: &str = "server.port";
}

/// The attributes of one measurement, on the stack.
pub(crate) type Attributes = SmallVec<[KeyValue; 12]>;

/// The `gen_ai.operation.name` of tool calls.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";

/// A name with its place among the known names.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) kind: NameKind,
    /// The name as the message has it.
    pub(crate) text: Arc<str>,
    /// Metrics may contain the name.
    pub(crate) is_known: bool,
}

impl Name {
    fn new(names: &KnownNames, kind: NameKind, text: &str) -> Self {
        match names.get(kind, text) {
            Some(text) => Self {
                kind,
                text,
                is_known: true,
            },
            None => Self {
                kind,
                text: text.into(),
                is_known: false,
            },
        }
    }

    /// Makes the name known, because the server has confirmed it.
    pub(crate) fn confirm(&mut self, names: &KnownNames) {
        if !self.is_known
            && let Some(text) = names.add(self.kind, &self.text)
        {
            self.text = text;
            self.is_known = true;
        }
    }
}

/// The name of a method.
#[derive(Debug, Clone)]
pub(crate) enum MethodName {
    /// A method of the protocol.
    Known(&'static str),
    /// A method of an extension.
    Other(Name),
}

impl MethodName {
    fn new(names: &KnownNames, method: &str) -> Self {
        match Method::from_name(method) {
            Some(method) => Self::Known(method.as_str()),
            None => Self::Other(Name::new(names, NameKind::Method, method)),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Known(name) => name,
            Self::Other(name) => &name.text,
        }
    }

    fn attribute(&self) -> KeyValue {
        match self {
            Self::Known(name) => KeyValue::new(names::METHOD, *name),
            Self::Other(name) if name.is_known => KeyValue::new(names::METHOD, name.text.clone()),
            Self::Other(_) => KeyValue::new(names::METHOD, OTHER),
        }
    }
}

/// The network below a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct Network {
    pub(crate) transport: Option<&'static str>,
    pub(crate) protocol: Option<&'static str>,
    pub(crate) protocol_version: Option<&'static str>,
    /// The server as its client knows it.
    pub(crate) server: Option<(Arc<str>, Option<u16>)>,
}

impl Network {
    pub(crate) fn new(connection: Option<&Connection>, extensions: Option<&Extensions>) -> Self {
        let transport = connection.map(|connection| connection.transport);
        let transport = transport.or_else(|| extensions?.transport());
        let parts = extensions.and_then(Extensions::parts);
        let (transport, protocol) = match transport {
            Some(Transport::Http) => (Some("tcp"), Some("http")),
            Some(Transport::Pipe) => (Some("pipe"), None),
            _ => (None, None),
        };
        let host = connection.and_then(|it| Some((it.host.clone()?, it.port)));
        Self {
            transport,
            protocol,
            protocol_version: parts.and_then(|parts| match parts.version {
                Version::HTTP_10 => Some("1.0"),
                Version::HTTP_11 => Some("1.1"),
                Version::HTTP_2 => Some("2"),
                Version::HTTP_3 => Some("3"),
                _ => None,
            }),
            server: host,
        }
    }
}

/// Facts that spans contain and metrics do not. They are read only for a span that is recorded.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Details<'a> {
    pub(crate) id: Option<&'a RequestId>,
    pub(crate) session: Option<&'a SessionId>,
    pub(crate) client: Option<IpAddr>,
}

impl<'a> Details<'a> {
    /// The details of a call that passes a layer.
    pub(crate) fn of_exchange(exchange: &'a Exchange) -> Self {
        Self {
            id: exchange.id.as_ref(),
            // The stateless revision has no sessions, so a value there would be one of another layer.
            session: match exchange.facts.version.is_modern() {
                true => None,
                false => exchange.extensions.get(),
            },
            client: client(&exchange.extensions),
        }
    }

    /// The details of a message that layers do not see.
    pub(crate) fn of_message(message: &ObservedMessage<'a>) -> Self {
        Self {
            id: message.id,
            session: None,
            client: message.extensions.and_then(client),
        }
    }
}

fn client(extensions: &Extensions) -> Option<IpAddr> {
    let address: &ClientAddress = extensions.get()?;
    Some(address.ip())
}

/// The attributes of one operation.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) is_sent: bool,
    pub(crate) method: MethodName,
    pub(crate) target: Option<Name>,
    pub(crate) uri: Option<Box<str>>,
    /// The URI as the message has it, if that has parts that are often secrets.
    pub(crate) secret_uri: Option<Box<str>>,
    pub(crate) version: ProtocolVersion,
    pub(crate) network: Network,
}

impl Facts {
    /// The facts of a call that passes a layer.
    pub(crate) fn of_exchange(exchange: &Exchange, is_sent: bool, known: &KnownNames) -> Self {
        let name = RequestName::of(&exchange.call);
        let version = exchange.facts.version;
        let extensions = &exchange.extensions;
        Self {
            is_sent,
            method: MethodName::new(known, name.method),
            target: target(&name, known),
            uri: name.public_uri().map(|uri| uri.into()),
            secret_uri: secret_uri(&name),
            version,
            network: Network::new(extensions.get(), Some(extensions)),
        }
    }

    /// The facts of a message that layers do not see.
    pub(crate) fn of_message(message: &ObservedMessage<'_>, known: &KnownNames) -> Self {
        let mut name = RequestName::method(message.method);
        name.uri = message.uri;
        Self {
            is_sent: message.is_sent,
            method: MethodName::new(known, name.method),
            target: None,
            uri: name.public_uri().map(|uri| uri.into()),
            secret_uri: secret_uri(&name),
            version: message.version,
            network: Network::new(message.connection, message.extensions),
        }
    }

    /// Returns the name of the span.
    pub(crate) fn span_name(&self) -> Cow<'_, str> {
        match &self.target {
            Some(target) => format!("{} {}", self.method.as_str(), target.text).into(),
            None => self.method.as_str().into(),
        }
    }

    /// Replaces the URI in a message by its public parts.
    pub(crate) fn without_secrets<'m>(&self, message: &'m str) -> Cow<'m, str> {
        match (&self.secret_uri, &self.uri) {
            (Some(secret), Some(uri)) => message.replace(&**secret, uri).into(),
            _ => message.into(),
        }
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        let tool = self.target.as_ref().filter(|it| it.kind == NameKind::Tool);
        tool.map(|tool| &*tool.text)
    }

    pub(crate) fn prompt(&self) -> Option<&str> {
        let prompt = self
            .target
            .as_ref()
            .filter(|it| it.kind == NameKind::Prompt);
        prompt.map(|prompt| &*prompt.text)
    }

    /// Returns the host of the server, on the side of its client.
    pub(crate) fn server_address(&self) -> Option<&str> {
        let (host, _) = self.network.server.as_ref().filter(|_| self.is_sent)?;
        Some(host)
    }

    /// Returns the port of the server, on the side of its client.
    pub(crate) fn server_port(&self) -> Option<i64> {
        let (_, port) = self.network.server.as_ref().filter(|_| self.is_sent)?;
        port.map(i64::from)
    }

    /// Returns the address of the client, unless this side knows an address of the server.
    pub(crate) fn client_address(&self, client: Option<IpAddr>) -> Option<String> {
        match self.server_address() {
            Some(_) => None,
            None => client.map(|address| address.to_string()),
        }
    }

    /// Makes the names known, because the server has confirmed them.
    pub(crate) fn confirm(&mut self, known: &KnownNames) {
        if let Some(target) = &mut self.target {
            target.confirm(known);
        }
        if let MethodName::Other(name) = &mut self.method {
            name.confirm(known);
        }
    }

    /// Returns the attributes of the metric.
    pub(crate) fn attributes(&self, failure: Option<&Failure>, with_uri: bool) -> Attributes {
        let mut attributes = Attributes::new();
        attributes.push(self.method.attribute());
        attributes.push(KeyValue::new(names::VERSION, self.version.as_str()));
        if let Some(target) = &self.target {
            let key = match target.kind {
                NameKind::Prompt => names::PROMPT,
                _ => names::TOOL,
            };
            if target.is_known {
                attributes.push(KeyValue::new(key, target.text.clone()));
            }
            if target.kind == NameKind::Tool {
                attributes.push(KeyValue::new(names::OPERATION, EXECUTE_TOOL));
            }
        }
        if let Some(failure) = failure {
            push_failure(failure, &mut attributes);
        }
        if let (true, Some(uri)) = (with_uri, &self.uri) {
            attributes.push(KeyValue::new(names::RESOURCE_URI, uri.to_string()));
        }
        push_network(&self.network, self.is_sent, &mut attributes);
        attributes
    }
}

fn secret_uri(name: &RequestName<'_>) -> Option<Box<str>> {
    let (uri, public) = (name.uri?, name.public_uri()?);
    (*uri != *public).then(|| uri.into())
}

fn target(name: &RequestName<'_>, known: &KnownNames) -> Option<Name> {
    match (name.tool, name.prompt) {
        (Some(tool), _) => Some(Name::new(known, NameKind::Tool, tool)),
        (None, Some(prompt)) => Some(Name::new(known, NameKind::Prompt, prompt)),
        (None, None) => None,
    }
}

fn push_failure(failure: &Failure, attributes: &mut Attributes) {
    if failure.is_custom {
        attributes.push(KeyValue::new(names::ERROR_TYPE, OTHER));
        return;
    }
    attributes.push(KeyValue::new(names::ERROR_TYPE, failure.error_type.clone()));
    if let Some(code) = &failure.code {
        attributes.push(KeyValue::new(names::STATUS_CODE, code.clone()));
    }
}

fn push_network(network: &Network, is_client: bool, attributes: &mut Attributes) {
    let pairs = [
        (names::TRANSPORT, network.transport),
        (names::PROTOCOL, network.protocol),
        (names::PROTOCOL_VERSION, network.protocol_version),
    ];
    for (key, value) in pairs {
        if let Some(value) = value {
            attributes.push(KeyValue::new(key, value));
        }
    }
    if let (true, Some((host, port))) = (is_client, &network.server) {
        attributes.push(KeyValue::new(names::SERVER_ADDRESS, host.clone()));
        if let Some(port) = port {
            attributes.push(KeyValue::new(names::SERVER_PORT, i64::from(*port)));
        }
    }
}

/// Returns the attributes of the duration of a session.
pub(crate) fn session_attributes(
    version: ProtocolVersion,
    network: &Network,
    is_client: bool,
    failure: Option<&Failure>,
) -> Attributes {
    let mut attributes = Attributes::new();
    attributes.push(KeyValue::new(names::VERSION, version.as_str()));
    if let Some(failure) = failure {
        attributes.push(KeyValue::new(names::ERROR_TYPE, failure.error_type.clone()));
    }
    push_network(network, is_client, &mut attributes);
    attributes
}
