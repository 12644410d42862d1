//! Examples, one file each in `src/bin`: start with `quickstart`.

#![allow(clippy::exhaustive_structs, reason = "examples are not published")]

pub mod budget;
#[rustfmt::skip]
pub mod shop;
