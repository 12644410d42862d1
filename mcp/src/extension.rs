//! Extensions of the protocol: settings, custom requests and notifications, and layers.
//!
//! An [`Extension`] is defined once and registered on servers, on clients, or on both. The page
//! [writing an extension](crate::guide::extensions) shows a complete one.
//!
//! | item | use |
//! |---|---|
//! | [`Extension`], [`CustomRequest`], [`CustomNotification`] | the definition, which both sides share |
//! | [`ServerExtension`], [`ServerSetup`], [`Server::extension`](crate::Server::extension) | handlers, layers and requirements of a server |
//! | [`Declared`], [`Notifier`], [`Ask::request`](crate::Ask::request) | extractors of the server's handlers |

pub use mcp_core::extension::{
    CustomMethod, CustomNotification, CustomRequest, Extension, InvalidSettings,
    RegisteredExtension,
};
#[cfg(feature = "server")]
pub use mcp_server::{
    Declared, IntoMethodResult, MethodHandler, Notifier, RequestError, ServerExtension, ServerSetup,
};
