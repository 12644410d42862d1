//! Configuration files of gateways, in TOML: [`GatewayConfig`].
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`ConfigError`] |
//! | `text` | [`ConfigText`]: variables and secrets |
//! | `file` | the tables of a file |
//! | `build` | a [`Gateway`](crate::Gateway) of a file |

mod build;
mod error;
mod file;
mod text;

pub use error::ConfigError;
pub use file::{
    AccessConfig, AuthorizationConfig, GatewayConfig, HttpConfig, LimitsConfig, NamingConfig,
    ServerConfig, ToolConfig,
};
pub use text::ConfigText;

#[cfg(test)]
mod tests;
