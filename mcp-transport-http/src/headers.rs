//! HTTP headers of the Model Context Protocol: names, value encoding, and the comparison of
//! headers with the message in the body.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | [`names`], `value`, `single` | constants, the Base64 sentinel, headers that may occur once |
//! | 2 | [`cors`] | headers that a browser must be told about |
//! | 2 | `params` | `Mcp-Param-*`: arguments of tools |
//! | 3 | `mirror` | `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` |

pub mod cors;
mod mirror;
pub mod names;
mod params;
mod single;
mod value;

#[cfg(feature = "server")]
pub(crate) use mirror::McpHeaders;
#[cfg(feature = "server")]
pub(crate) use mirror::version;
pub use mirror::{emit, verify};
pub use params::verify_arguments;
#[cfg(feature = "server")]
pub(crate) use single::SingleHeader;
pub use value::{ValueError, decode, encode};
#[cfg(feature = "server")]
pub(crate) use value::{parse_decimal, trim_blanks};
