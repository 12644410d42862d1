//! HTTP headers of the Model Context Protocol: names, encoded values, and headers that repeat the
//! message in the body.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | [`names`], `value`, `single` | constants, the Base64 sentinel, headers that may occur once |
//! | 2 | [`cors`] | headers that a browser must be told about |
//! | 2 | `params` | `Mcp-Param-*`: arguments of tools |
//! | 3 | `mirror` | `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name` |

#![cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(
        dead_code,
        unused_imports,
        reason = "a client writes headers, a server compares them"
    )
)]

pub mod cors;
mod mirror;
pub mod names;
mod params;
mod single;
mod value;

pub(crate) use mirror::{McpHeaders, emit, version};
pub(crate) use params::verify_arguments;
pub(crate) use single::SingleHeader;
pub use value::encode;
pub(crate) use value::{essence, parse_decimal, trim_blanks};
