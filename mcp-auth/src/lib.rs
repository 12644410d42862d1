//! Authorization of the Model Context Protocol: OAuth for clients, and servers that demand access tokens.
//!
//! # Servers
//!
//! [`ResourceServer`] has the settings of a protected server. [`Protection`] checks each request, as a
//! tower layer around an endpoint. The modules are below `server`; they use those of the client for
//! requests to issuers, for signatures and for challenges.
//!
//! # Clients
//!
//! [`OAuth`] has the settings: a login of the user, or a grant without a user. An [`Authorizer`]
//! obtains and renews the tokens for one server. An [`AuthService`] adds them to the requests of an
//! HTTP client, and answers responses that demand authorization.
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table:
//!
//! | module | contents |
//! |---|---|
//! | `error`, `secret`, `clock`, `limits`, `scope`, `site` | basic types |
//! | `source`, `challenge`, `egress` | functions of the program, headers, URL rules |
//! | `fetch`, `key` | the HTTP client of the login, signatures |
//! | `document`, `event` | documents of servers without secrets, events |
//! | `metadata` | documents of servers |
//! | `client`, `dpop`, `registration`, `token` | requests to an authorization server |
//! | `store`, `redirect`, `consent`, `login`, `device`, `enterprise` | stores, the user's browser and decision, the parts of grants |
//! | `oauth`, `discovery` | settings, and the order in which documents are fetched |
//! | `record`, `state` | stored tokens, the state of an authorizer |
//! | `grants`, `renewal`, `flight` | obtaining and renewing tokens, once for all callers |
//! | `authorizer`, `service` | [`Authorizer`], [`AuthService`] |
//! | `__private` | the parser of challenges, for its fuzz target |
//! | `server` | the protected server; see its module documentation |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization>

#[doc(hidden)]
pub mod __private;
mod authorizer;
mod challenge;
mod client;
mod clock;
mod consent;
mod device;
mod discovery;
mod document;
mod dpop;
mod egress;
mod enterprise;
mod error;
mod event;
mod fetch;
mod flight;
mod grants;
mod key;
mod limits;
mod login;
mod metadata;
mod oauth;
mod record;
mod redirect;
mod registration;
mod renewal;
mod scope;
mod secret;
mod server;
mod service;
mod site;
mod source;
mod state;
mod store;
mod token;

pub use authorizer::{AuthStatus, Authorizer};
pub use consent::LoginPrompt;
pub use device::DeviceLogin;
pub use document::{AuthDocument, DocumentKind};
pub use dpop::Dpop;
pub use egress::{Egress, Zone};
pub use enterprise::EnterpriseIdp;
pub use error::{AuthError, OAuthCode};
pub use event::{AuthEvent, AuthEvents};
pub use key::PrivateKey;
pub use limits::Limits;
pub use metadata::server::IssuerMatch;
pub use oauth::OAuth;
pub use redirect::{LoginPage, LoopbackRedirect, ManualRedirect, Redirect, RedirectSession};
pub use scope::Scopes;
pub use secret::Secret;
pub use server::{
    AccessToken, Algorithm, Claims, DpopPolicy, Introspection, MetadataService, NonceKey,
    Protected, ProtectedBody, ProtectedFuture, Protection, ResourceServer, StaticTokens,
    TokenExchange, TokenVerifier, VerifiedToken, VerifyError,
};
pub use service::{AuthFuture, AuthService};
#[cfg(feature = "keychain")]
pub use store::KeychainStore;
pub use store::{CredentialStore, FileStore, MemoryStore, StoreKey, StoreLock};
