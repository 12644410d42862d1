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
//! requests, and answers responses that demand authorization.
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table. Both halves use those
//! marked with *:
//!
//! | module | contents |
//! |---|---|
//! | `secret`*, `clock`*, `excerpt`*, `lenient`*, `limits`*, `scope`*, `site`, `challenge`*, `error`* | basic types, headers of responses that demand authorization |
//! | `source`, `egress`* | functions of the program, URL rules |
//! | `fetch`*, `flight`*, `key`* | the HTTP client of requests to issuers, one task for many callers, signatures |
//! | `document`, `event` | documents of servers without secrets, events |
//! | `metadata`* | documents of servers |
//! | `client`*, `dpop`*, `token`* | requests to an authorization server |
//! | `store`, `redirect`, `consent`, `device`, `enterprise`, `record` | stores, the user's browser and decision, the parts of grants, tokens in a store and in use |
//! | `oauth`, `records`, `login` | settings, a store's records for one server, the login at one server |
//! | `discovery`, `registration`, `code_flow` | steps of a login: documents, new clients, the authorization code flow |
//! | `grants`, `refresh`, `probe` | obtaining and refreshing tokens, what a server supports |
//! | `renewal`, `logout` | a token for a need, the end of a login |
//! | `authorizer`, `service` | [`Authorizer`], [`AuthService`] |
//! | `server` | the protected server; see its module documentation |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>

// A server uses a part of what both halves share; a build with the client finds dead code.
#![cfg_attr(
    not(feature = "client"),
    allow(dead_code, reason = "shared with the client")
)]

#[cfg(feature = "client")]
mod authorizer;
mod challenge;
mod client;
mod clock;
#[cfg(feature = "client")]
mod code_flow;
#[cfg(feature = "client")]
mod consent;
#[cfg(feature = "client")]
mod device;
#[cfg(feature = "client")]
mod discovery;
#[cfg(feature = "client")]
mod document;
mod dpop;
mod egress;
#[cfg(feature = "client")]
mod enterprise;
mod error;
#[cfg(feature = "client")]
mod event;
mod excerpt;
mod fetch;
mod flight;
#[cfg(feature = "client")]
mod grants;
mod key;
mod lenient;
mod limits;
#[cfg(feature = "client")]
mod login;
#[cfg(feature = "client")]
mod logout;
mod metadata;
#[cfg(feature = "client")]
mod oauth;
#[cfg(feature = "client")]
mod probe;
#[cfg(feature = "client")]
mod record;
#[cfg(feature = "client")]
mod records;
#[cfg(feature = "client")]
mod redirect;
#[cfg(feature = "client")]
mod refresh;
#[cfg(feature = "client")]
mod registration;
#[cfg(feature = "client")]
mod renewal;
mod scope;
mod secret;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "client")]
mod service;
#[cfg(feature = "client")]
mod site;
#[cfg(feature = "client")]
mod source;
#[cfg(feature = "client")]
mod store;
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
pub use {
    authorizer::{AuthStatus, Authorizer},
    consent::LoginPrompt,
    device::DeviceLogin,
    document::{AuthDocument, DocumentKind},
    enterprise::EnterpriseIdp,
    event::AuthEvent,
    oauth::OAuth,
    probe::LoginSupport,
    record::StoredCredentials,
    redirect::{LoginPage, LoopbackRedirect, ManualRedirect, Redirect, RedirectSession},
    service::AuthService,
    store::{CredentialStore, FileStore, MemoryStore, StoreKey, StoreLock},
};

#[cfg(feature = "keychain")]
pub use store::KeychainStore;

#[cfg(feature = "server")]
pub use server::{
    AccessToken, Algorithm, Claims, IdentityHeader, Introspection, Protected, ProtectedFuture,
    Protection, ResourceServer, StaticTokens, TokenExchange, TokenVerifier, VerifiedToken,
    VerifyError,
};
