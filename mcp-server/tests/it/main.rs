//! The macros, used as a user of the library uses them.

#![expect(clippy::panic, clippy::unwrap_used, reason = "helpers of tests")]

mod arguments;
mod blocks;
mod extractors;
mod kit;
mod output;
mod schemas;
#[deny(
    missing_docs,
    unused,
    unused_qualifications,
    clippy::pedantic,
    clippy::nursery
)]
mod strict;
mod ui;
