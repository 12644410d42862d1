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
#[cfg(feature = "openapi")]
mod service;
mod text;

pub use error::ConfigError;
#[cfg(feature = "openapi")]
pub use file::OpenApiConfig;
pub use file::{
    AccessConfig, AdminConfig, AuthorizationConfig, GatewayConfig, HttpConfig, LimitsConfig,
    NamingConfig, ServerConfig, StartConfig, ToolConfig, ToolsConfig,
};
#[cfg(feature = "auth")]
pub use file::{IdentityConfig, TokenExchangeConfig};
pub use text::ConfigText;

#[cfg(test)]
mod tests;
