//! Several servers behind one handle: combined lists, calls by unique names, and each server's
//! health.
//!
//! A server starts when it is first needed. A server that ends is started again with backoff. The
//! other servers are not affected.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `consents` | [`Consents`]: what a user has agreed to |
//! | `config` | `mcp.json` files |
//! | `event` | [`GroupEvent`], [`Health`] |
//! | `names` | unique names of tools, prompts and resources |
//! | `health_check` | checks of running servers |
//! | `login` | the login that the servers share |
//! | `member` | one server: start, restart, close |
//! | `handle` | [`Group`] |
//! | `builder` | [`GroupBuilder`] |
//! | `servers` | servers by their target, and by the entries of a file |
//! | `lists`, `calls` | lists and calls of a group |

mod builder;
mod calls;
mod config;
mod consents;
mod event;
mod handle;
mod health_check;
mod lists;
mod login;
mod member;
mod names;
mod servers;

pub use builder::GroupBuilder;
pub use config::{
    ConfigError, EntryError, EntryOAuth, GroupConfig, PendingCommand, ServerEntry, ServerSpec,
    Variables,
};
pub use consents::{Consent, ConsentError, Consents, Subject};
pub use event::{GroupEvent, Health};
pub use handle::Group;
pub use lists::{GroupList, Listed};
pub use names::{
    ItemNames, MAX_TOOL_NAME, Naming, distinct_name, is_portable_name, portable_names,
};
