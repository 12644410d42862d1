//! The protocol's extensions: settings, custom requests and notifications, and layers.
//!
//! An [`Extension`] is defined once and registered on servers, on clients, or on both. The page
//! [writing an extension](crate::guide::extensions) shows a complete one.
//!
//! | item | use |
//! |---|---|
//! | [`Extension`], [`CustomRequest`], [`CustomNotification`] | the definition, which both sides share |
//! | [`ServerExtension`], [`ServerSetup`], [`Server::extension`](crate::Server::extension) | handlers, layers and requirements of a server |
//! | [`ClientExtension`], [`ClientSetup`], [`ClientBuilder::extension`](crate::ClientBuilder::extension) | handlers, layers and requirements of a client |
//! | [`ListRequest`], [`ExtensionClient::list`] | a list with pages, and its items |
//! | [`ExtensionClient`], [`Client::extension`](crate::Client::extension) | settings of the server, requests and notifications to it |
//! | [`Declared`], [`Notifier`], [`Ask::request`](crate::Ask::request) | extractors of the server's handlers |
//! | [`RawExtension`], [`Client::request`](crate::Client::request), [`Client::notify`](crate::Client::notify) | extensions of other programs, as JSON |
//! | [`RawExtensions`], [`Server::extensions`](crate::Server::extensions) | extensions that a running server gets or loses |
//! | [`Broadcaster`] | notifications to all clients, at any time |

#[cfg(feature = "client")]
pub use mcp_client::{Asker, ClientExtension, ClientSetup, ExtensionClient, IntoClientExtension};
pub use mcp_core::extension::{
    CustomNotification, CustomRequest, Extension, InvalidSettings, ListRequest,
};
#[cfg(feature = "server")]
pub use mcp_server::{
    Broadcaster, Declared, IntoServerExtension, Method, MethodHandler, Notifier, RawExtension,
    RawExtensions, RequestError, ServerExtension, ServerSetup,
};
