//! [`GatewayError`].

use std::sync::Arc;

/// The error when the settings of a gateway contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// Two tools have the same exact name.
    #[error(
        "the name {name:?} belongs to the tool {first:?} of the server {first_server:?} and to the tool \
         {second:?} of the server {second_server:?}; rename one of them"
    )]
    #[non_exhaustive]
    NameTaken {
        /// The name for clients of the gateway.
        name: String,
        /// The server of the tool that is renamed.
        first_server: Arc<str>,
        /// The tool that is renamed.
        first: String,
        /// The server of the other tool.
        second_server: Arc<str>,
        /// The other tool.
        second: String,
    },
    /// A name or prefix has characters that tool names must not have.
    #[error(
        "the name {name:?} for the server {server:?} is invalid; use up to 128 letters, digits, `_`, `-` and `.`"
    )]
    #[non_exhaustive]
    InvalidName {
        /// The server.
        server: Arc<str>,
        /// The name or prefix.
        name: String,
    },
    /// A server has both `token_exchange` and `share_sessions`. With a token of their own, callers cannot
    /// share a session.
    #[error(
        "the server {server:?} has both `token_exchange` and `share_sessions`; callers cannot share a session, so \
         remove one"
    )]
    #[non_exhaustive]
    SharedSession {
        /// The server.
        server: Arc<str>,
    },
    /// Two servers claim the same extension or method.
    #[error(
        "the extension or method {claimed:?} of the server {second:?} belongs to the server {first:?} already; \
         remove it from one of them"
    )]
    #[non_exhaustive]
    ExtensionTaken {
        /// The identifier, or the method pattern.
        claimed: String,
        /// The server that claims it first.
        first: Arc<str>,
        /// The other server.
        second: Arc<str>,
    },
    /// A server claims a method or an extension that the gateway handles itself.
    #[error(
        "the extension or method {claimed:?} of the server {server:?} is one of the protocol or of an extension that \
         the gateway knows; remove it"
    )]
    #[non_exhaustive]
    ExtensionReserved {
        /// The identifier, or the method pattern.
        claimed: String,
        /// The server.
        server: Arc<str>,
    },
    /// A server that was ended could not be started again.
    #[error("the server {server:?} was not started again: {problem}")]
    #[non_exhaustive]
    NotRestarted {
        /// The server.
        server: Arc<str>,
        /// The problem, without details of the connection.
        problem: Arc<str>,
    },
    /// The gateway has no server with this name.
    #[error("the gateway has no server {server:?}")]
    #[non_exhaustive]
    UnknownServer {
        /// The name.
        server: Arc<str>,
    },
    /// The gateway has ended.
    #[error("the gateway has ended; its server was dropped")]
    Ended,
}
