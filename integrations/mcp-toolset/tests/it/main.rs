//! Tests of tool sets, over the catalogs of real servers.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "test helpers, and figures for the guide"
)]

mod approvals;
mod checker;
mod generated;
mod hostile;
mod kit;
mod ranking;
mod search;
mod sets;
