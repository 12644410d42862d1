//! Examples, one file each in `src/bin`: start with `quickstart`.

#![allow(clippy::exhaustive_structs, reason = "examples are not published")]

pub mod budget;
#[rustfmt::skip]
/// The client that `mcp gen` made for the server of the examples `shop` and `snapshot`.
pub mod shop;
