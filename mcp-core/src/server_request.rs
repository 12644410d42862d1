//! What a server asks its client over a session, and the answers. The modern era has no such
//! requests: there a result asks, see [`InputRequired`](mcp_types::InputRequired).

use mcp_types::{InputRequest, InputResponse, Method};

use crate::Fault;

/// A request of a server.
// spec: BASE-18
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerRequest {
    /// Is the client still there?
    // spec: PING-01
    Ping,
    /// Input of the user, of the language model, or the roots.
    Input(InputRequest),
}

impl ServerRequest {
    /// The method, when it is one of the protocol.
    pub fn method(&self) -> Option<Method> {
        match self {
            Self::Ping => Some(Method::Ping),
            Self::Input(request) => Method::from_name(request.method()),
        }
    }

    /// The method's name on the wire.
    pub fn method_name(&self) -> &str {
        match self {
            Self::Ping => Method::Ping.as_str(),
            Self::Input(request) => request.method(),
        }
    }
}

impl From<InputRequest> for ServerRequest {
    fn from(request: InputRequest) -> Self {
        Self::Input(request)
    }
}

/// What a client answers to a [`ServerRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientResponse {
    /// The client is there.
    Pong,
    /// The input.
    Input(InputResponse),
    /// No input.
    Fault(Fault),
}

impl From<InputResponse> for ClientResponse {
    fn from(response: InputResponse) -> Self {
        Self::Input(response)
    }
}

impl From<Fault> for ClientResponse {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}
