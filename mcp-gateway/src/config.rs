//! Configuration files of gateways, in TOML: [`GatewayConfig`].
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `error` | [`ConfigError`] |
//! | `text` | [`ConfigText`]: variables and secrets |
//! | `file` | the tables of a file |
//! | `service` | servers of OpenAPI documents |
//! | `build` | a [`Gateway`](crate::Gateway) of a file |

mod build;
mod error;
mod file;
mod service;
mod text;

pub use error::ConfigError;
pub use file::{
    AccessConfig, AdminConfig, AuthorizationConfig, GatewayConfig, HttpConfig, IdentityConfig,
    LimitsConfig, OpenApiConfig, PinNew, ServerConfig, StartConfig, TokenExchangeConfig,
    ToolConfig, ToolsConfig,
};
pub use text::ConfigText;

#[cfg(test)]
mod tests;
