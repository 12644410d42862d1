//! Authorization of the Model Context Protocol: OAuth for clients, and servers that demand access tokens.
//!
//! Each half has a feature. A server that checks tokens compiles no login: no browser, no keychain, no
//! list of public suffixes.
//!
//! # Servers (feature `server`)
//!
//! [`ResourceServer`] has a protected server's settings. [`Protection`] checks each request, as a
//! tower layer around an endpoint. The modules are below `server`.
//!
//! # Clients (feature `client`)
//!
//! [`OAuth`] has the settings: a login of the user, or a grant without a user. An [`Authorizer`]
//! obtains and renews the tokens for one server. An [`AuthService`] adds them to an HTTP client's
//! requests, and answers responses that demand authorization. The modules are below `client`.
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table.
//!
//! | module | contents |
//! |---|---|
//! | `secret`, `clock`, `excerpt`, `lenient`, `limits`, `scope`, `challenge`, `error` | basic types, headers of responses that demand authorization |
//! | `egress` | URL rules |
//! | `fetch`, `flight`, `key` | the HTTP client of requests to issuers, one task for many callers, signatures |
//! | `metadata` | documents of servers |
//! | `oauth_client`, `dpop`, `token` | requests to an authorization server |
//! | `client` | the client; see its module documentation |
//! | `server` | the protected server; see its module documentation |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>

// A server uses a part of what both halves share; a build with the client finds dead code.
#![cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "shared with the client")
)]

mod challenge;
#[cfg(feature = "client")]
mod client;
mod clock;
mod dpop;
mod egress;
mod error;
mod excerpt;
mod fetch;
mod flight;
mod key;
mod lenient;
mod limits;
mod metadata;
mod oauth_client;
mod scope;
mod secret;
#[cfg(feature = "server")]
mod server;
mod token;

pub use challenge::Challenge;
pub use dpop::Dpop;
pub use egress::{Egress, Zone};
pub use error::{AuthError, OAuthCode};
pub use key::PrivateKey;
pub use limits::Limits;
pub use scope::Scopes;
pub use secret::Secret;

#[cfg(feature = "client")]
pub use client::{
    AuthDocument, AuthEvent, AuthService, AuthStatus, Authorizer, CredentialStore, DeviceLogin,
    DocumentKind, EnterpriseIdp, FileStore, LoginPage, LoginPrompt, LoginSupport, LoopbackRedirect,
    ManualRedirect, MemoryStore, OAuth, Redirect, RedirectSession, StoreKey, StoreLock,
    StoredCredentials,
};

#[cfg(feature = "keychain")]
pub use client::KeychainStore;

#[cfg(feature = "server")]
pub use server::{
    AccessToken, Algorithm, Claims, IdentityHeader, Introspection, Protected, Protection,
    ResourceServer, StaticTokens, TokenExchange, TokenVerifier, VerifiedToken, VerifyError,
};
