//! Extractors: types of handler parameters whose values come from the call. Each has a file of its name.
//!
//! | module | content |
//! |---|---|
//! | `from_call`, `async_value` | the trait, and the one of extractors that await |
//! | `json_arguments`, `string_arguments` | arguments for [`Args`] and generated code: of tools, and of prompts, templates and completions |
//! | `reason` | messages of serde in words for language models |

mod args;
mod async_value;
mod cancel;
mod client_info;
mod declared;
mod extension;
mod from_call;
mod headers;
mod identity;
mod json_arguments;
mod log;
mod notifier;
mod prefix;
mod progress;
mod reason;
mod request_meta;
mod state;
mod string_arguments;

pub use args::{Args, RawArgs};
pub use async_value::{Async, FromCallAsync};
pub use cancel::Cancel;
pub use client_info::ClientInfo;
pub use declared::Declared;
pub use extension::Extension;
pub use from_call::FromCall;
pub use headers::{FromHeader, Header, Headers};
pub use identity::Identity;
pub use log::Log;
pub use notifier::Notifier;
pub use prefix::Prefix;
pub use progress::Progress;
pub use request_meta::RequestMeta;
pub use state::State;
