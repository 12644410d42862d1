//! HTTP headers of the Model Context Protocol: their names, the encoding of their values, and the
//! rules that tie them to the message in the body.

mod found;
mod mirror;
pub mod names;
mod params;
mod value;

#[cfg(feature = "server")]
pub(crate) use found::Found;
#[cfg(feature = "server")]
pub(crate) use mirror::Mirrored;
pub use mirror::{emit, verify, version};
pub use params::verify_arguments;
pub use value::{ValueError, decode, encode};
#[cfg(feature = "server")]
pub(crate) use value::{number, trim_blanks};
