//! The guide: one page per topic, for people who build something.
//!
//! Every block of code on these pages is compiled, and run where nothing but this process is
//! needed. Where a page and the items that it links to differ, the items are right.
//!
//! | you want to | page |
//! |---|---|
//! | write a server, run it | [`servers`] |
//! | put time limits, checks, logs around calls | [`middleware`] |
//!
//! # Adding a page
//!
//! Write `src/docs/<topic>.md` (the text starts with one sentence, then `#` headings; every block
//! compiles), add a row to the table above and a module to the list below. A page whose blocks need
//! a feature says so by its `#[cfg(feature = "…")]`.

#[cfg(feature = "http-server")]
#[doc = include_str!("docs/servers.md")]
pub mod servers {}

#[cfg(feature = "server")]
#[doc = include_str!("docs/middleware.md")]
pub mod middleware {}
