//! The client side: [`HttpChannel`], one POST per call.
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table:
//!
//! | module | contents |
//! |---|---|
//! | `body` | bounded reading of bodies, excerpts for error messages |
//! | `server_url` | the URL as it is sent, and as errors show it |
//! | `tls`, `http_client`, `http_client_builder` | [`HttpClient`], the default HTTP client, and its settings |
//! | `discovery` | catalogs and server cards of a domain |
//! | `request` | the HTTP client behind a trait object, and the headers of every request |
//! | `response` | a response as one message or as an event stream |
//! | `modern` | a call of the stateless revision 2026-07-28 |
//! | `legacy` | sessions up to 2025-11-25 and the HTTP+SSE transport of 2024-11-05 |
//! | `channel` | [`HttpChannel`] |

mod body;
mod channel;
mod discovery;
mod http_client;
mod http_client_builder;
mod legacy;
mod modern;
mod request;
mod response;
mod server_url;
mod tls;

pub use channel::HttpChannel;
pub use discovery::{DiscoveredServer, DiscoveryError, discover_domain, fetch_card};
pub use http_client::{HttpBody, HttpClient};
pub use http_client_builder::HttpClientBuilder;
pub use request::ChannelService;

#[cfg(test)]
mod tests;
