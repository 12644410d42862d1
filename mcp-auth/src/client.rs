//! Client authorization: logins, stored tokens, authorized requests.
//!
//! | layer | modules | content |
//! |---|---|---|
//! | 1 | `site`, `source`, `document`, `event` | sites of URLs, functions of the program, documents without secrets, events |
//! | 2 | `store`, `redirect`, `consent`, `device`, `enterprise`, `record` | stores, the user's browser and decision, the parts of grants, tokens in a store and in use |
//! | 3 | `oauth`, `records`, `login` | settings, a store's records for one server, the login at one server |
//! | 4 | `discovery`, `code_flow` | steps of a login: documents, the authorization code flow |
//! | 5 | `grants`, `registration`, `refresh`, `probe` | obtaining and refreshing tokens, new clients, what a server supports |
//! | 6 | `renewal`, `logout` | a token for a need, the end of a login |
//! | 7 | `authorizer`, `service` | [`Authorizer`], [`AuthService`] |

mod authorizer;
mod code_flow;
mod consent;
mod device;
mod discovery;
mod document;
mod enterprise;
mod event;
mod grants;
mod login;
mod logout;
mod oauth;
mod probe;
mod record;
mod records;
mod redirect;
mod refresh;
mod registration;
mod renewal;
mod service;
mod site;
mod source;
mod store;

pub use authorizer::{AuthStatus, Authorizer};
pub use consent::LoginPrompt;
pub use device::DeviceLogin;
pub use document::{AuthDocument, DocumentKind};
pub use enterprise::EnterpriseIdp;
pub use event::AuthEvent;
pub use oauth::OAuth;
pub use probe::LoginSupport;
pub use record::StoredCredentials;
pub use redirect::{LoginPage, LoopbackRedirect, ManualRedirect, Redirect, RedirectSession};
pub use service::AuthService;
#[cfg(feature = "keychain")]
pub use store::KeychainStore;
pub use store::{CredentialStore, FileStore, MemoryStore, StoreKey, StoreLock};
