//! The attributes of one operation.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_core::{ClientAddress, Connection, Exchange, ObservedMessage, RequestName, SessionId};
use mcp_types::{Method, ProtocolVersion, RequestId};
use opentelemetry::KeyValue;

use crate::error_type::{Failure, OTHER};
use crate::known_names::{KnownNames, NameKind};
use crate::network::{Attributes, Network};

/// Attribute names.
pub(crate) mod names {
    pub(crate) const METHOD: &str = "mcp.method.name";
    pub(crate) const ERROR_TYPE: &str = "error.type";
    pub(crate) const TOOL: &str = "gen_ai.tool.name";
    pub(crate) const PROMPT: &str = "gen_ai.prompt.name";
    pub(crate) const OPERATION: &str = "gen_ai.operation.name";
    pub(crate) const RESOURCE_URI: &str = "mcp.resource.uri";
    pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
    pub(crate) const VERSION: &str = "mcp.protocol.version";
}

/// The `gen_ai.operation.name` of tool calls.
pub(crate) const EXECUTE_TOOL: &str = "execute_tool";

/// A name that a message contains.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    pub(crate) kind: NameKind,
    text: Arc<str>,
    /// Metrics may contain the name.
    is_known: bool,
}

impl Name {
    fn new(names: &KnownNames, kind: NameKind, text: &str) -> Self {
        let known = names.get(kind, text);
        Self {
            kind,
            is_known: known.is_some(),
            text: known.unwrap_or_else(|| text.into()),
        }
    }

    /// Returns the name if metrics may contain it.
    fn known(&self) -> Option<&Arc<str>> {
        self.is_known.then_some(&self.text)
    }

    /// Makes the name known, because the server has confirmed it.
    pub(crate) fn confirm(&mut self, names: &KnownNames) {
        self.is_known = self.is_known || names.add(self.kind, &self.text);
    }
}

/// A method name.
#[derive(Debug, Clone)]
pub(crate) enum MethodName {
    /// A protocol method.
    Known(Method),
    /// An extension method.
    Other(Box<Name>),
}

impl MethodName {
    /// Returns the name of `method`. `known`: the protocol method, if the caller has it.
    fn new(names: &KnownNames, known: Option<Method>, method: &str) -> Self {
        match known.or_else(|| Method::from_name(method)) {
            Some(method) => Self::Known(method),
            None => Self::Other(Name::new(names, NameKind::Method, method).into()),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Known(method) => method.as_str(),
            Self::Other(name) => &name.text,
        }
    }

    fn attribute(&self) -> KeyValue {
        match self {
            Self::Known(method) => KeyValue::new(names::METHOD, method.as_str()),
            Self::Other(name) => match name.known() {
                Some(text) => KeyValue::new(names::METHOD, text.clone()),
                None => KeyValue::new(names::METHOD, OTHER),
            },
        }
    }
}

/// Facts that spans contain and metrics do not. They are read only for a span that is recorded.
#[derive(Debug, Default, Clone)]
pub(crate) struct Details<'a> {
    pub(crate) id: Option<&'a RequestId>,
    pub(crate) session: Option<SessionId>,
    pub(crate) client: Option<ClientAddress>,
}

impl<'a> Details<'a> {
    /// The details of a call that passes a layer.
    pub(crate) fn of_exchange(exchange: &'a Exchange, is_sent: bool) -> Self {
        let connection = exchange.extensions.get().filter(|_| is_sent);
        let session = match connection {
            Some(connection) => session_of(connection),
            None => exchange.extensions.get().cloned(),
        };
        Self {
            id: exchange.id.as_ref(),
            // The stateless revision has no sessions, so a value there would be one of another layer.
            session: session.filter(|_| !exchange.facts.version.is_modern()),
            client: exchange.extensions.client_address,
        }
    }

    /// The details of a message that layers do not see.
    pub(crate) fn of_message(message: &ObservedMessage<'a>) -> Self {
        let session = match message.session {
            Some(session) => Some(session.clone()),
            None => message.connection.and_then(session_of),
        };
        Self {
            id: message.id,
            session: session.filter(|_| !message.version.is_modern()),
            client: message
                .extensions
                .and_then(|extensions| extensions.client_address),
        }
    }
}

fn session_of(connection: &Connection) -> Option<SessionId> {
    connection.state.as_ref()?.lock().ok()?.session.clone()
}

/// A resource URI.
#[derive(Debug)]
struct ResourceUri {
    /// The URI without the parts that are often secrets.
    public: Box<str>,
    /// The URI as the message has it, if that has such parts.
    secret: Option<Box<str>>,
}

impl ResourceUri {
    fn new(name: &RequestName<'_>) -> Option<Box<Self>> {
        let (uri, public) = (name.uri?, name.public_uri()?);
        Some(Box::new(Self {
            secret: (*uri != *public).then(|| uri.into()),
            public: public.into(),
        }))
    }
}

/// The attributes of one operation.
#[derive(Debug)]
pub(crate) struct Facts {
    pub(crate) is_sent: bool,
    pub(crate) method: MethodName,
    pub(crate) target: Option<Name>,
    uri: Option<Box<ResourceUri>>,
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
            method: MethodName::new(known, exchange.call.method(), name.method),
            target: target(&name, known),
            uri: ResourceUri::new(&name),
            version,
            // Only a client adds the connection to its calls.
            network: Network::new(
                is_sent.then(|| extensions.get()).flatten(),
                Some(extensions),
            ),
        }
    }

    /// The facts of a message that layers do not see.
    pub(crate) fn of_message(message: &ObservedMessage<'_>, known: &KnownNames) -> Self {
        let mut name = RequestName::method(message.method);
        name.uri = message.uri;
        Self {
            is_sent: message.is_sent,
            method: MethodName::new(known, None, name.method),
            target: None,
            uri: ResourceUri::new(&name),
            version: message.version,
            network: Network::new(message.connection, message.extensions),
        }
    }

    /// Returns the span's name.
    pub(crate) fn span_name(&self) -> Cow<'_, str> {
        match &self.target {
            Some(target) => format!("{} {}", self.method.as_str(), target.text).into(),
            None => self.method.as_str().into(),
        }
    }

    /// Returns the resource's URI, without the parts that are often secrets.
    pub(crate) fn uri(&self) -> Option<&str> {
        Some(&self.uri.as_ref()?.public)
    }

    /// Replaces the URI in a message by its public parts.
    pub(crate) fn without_secrets<'m>(&self, message: &'m str) -> Cow<'m, str> {
        match self.uri.as_deref() {
            Some(ResourceUri {
                public,
                secret: Some(secret),
            }) => message.replace(&**secret, public).into(),
            _ => message.into(),
        }
    }

    pub(crate) fn tool(&self) -> Option<&str> {
        self.named(NameKind::Tool)
    }

    pub(crate) fn prompt(&self) -> Option<&str> {
        self.named(NameKind::Prompt)
    }

    fn named(&self, kind: NameKind) -> Option<&str> {
        let target = self.target.as_ref().filter(|target| target.kind == kind);
        target.map(|target| &*target.text)
    }

    /// Returns the server's host and port, on the client side.
    pub(crate) fn server(&self) -> Option<(&Arc<str>, Option<u16>)> {
        self.network.server().filter(|_| self.is_sent)
    }

    /// Returns the client's address, on the server side.
    pub(crate) fn client<'c>(&self, details: &'c Details<'_>) -> Option<&'c ClientAddress> {
        details.client.as_ref().filter(|_| !self.is_sent)
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

    /// Adds the metric's attributes. They are not returned, because that copies half a kilobyte.
    pub(crate) fn push_attributes(
        &self,
        failure: Option<&Failure>,
        with_uri: bool,
        attributes: &mut Attributes,
    ) {
        attributes.push(self.method.attribute());
        attributes.push(KeyValue::new(names::VERSION, self.version.as_str()));
        if let Some(target) = &self.target {
            let key = match target.kind {
                NameKind::Prompt => names::PROMPT,
                _ => names::TOOL,
            };
            if let Some(text) = target.known() {
                attributes.push(KeyValue::new(key, text.clone()));
            }
            if target.kind == NameKind::Tool {
                attributes.push(KeyValue::new(names::OPERATION, EXECUTE_TOOL));
            }
        }
        if let Some(failure) = failure {
            push_failure(failure, attributes);
        }
        if let (true, Some(uri)) = (with_uri, self.uri()) {
            attributes.push(KeyValue::new(names::RESOURCE_URI, uri.to_string()));
        }
        self.network.push(self.is_sent, attributes);
    }
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

/// Returns the attributes of the session duration.
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
    network.push(is_client, &mut attributes);
    attributes
}
