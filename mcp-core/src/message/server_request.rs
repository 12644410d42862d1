//! Server requests and client responses, independent of the wire.
//!
//! Only sessions have server requests. In the modern era a result asks for input instead: see
//! [`InputRequired`](mcp_types::InputRequired).

use mcp_types::{InputRequest, InputResponse, Method, RawObject};

use super::fault::Fault;

/// A server request to its client.
// spec: BASE-18
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerRequest {
    /// A check that the client is alive.
    Ping,
    /// A request for input: elicitation, sampling or roots.
    Input(InputRequest),
}

impl ServerRequest {
    /// Returns the method. `None` for an extension method.
    pub fn method(&self) -> Option<Method> {
        Method::from_name(self.method_name())
    }

    /// Returns the method name.
    pub(crate) fn method_name(&self) -> &str {
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

/// The client's response to a [`ServerRequest`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientResponse {
    /// The response to a ping.
    Pong,
    /// The input.
    Input(InputResponse),
    /// The error of a client that provides no input.
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

/// The input that a client sends along when it repeats a request.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InputState {
    /// The responses, by key.
    pub responses: Option<RawObject>,
    /// The state that the server has sent. It is untrusted until its seal was checked.
    pub state: Option<Box<str>>,
}
