//! The guide: one page per topic, for people who build something.
//!
//! Every block of code on these pages is compiled, and run where nothing but this process is
//! needed. Where a page and the items that it links to differ, the items are right.
//!
//! | you want to | page |
//! |---|---|
//! | write a server, run it | [`servers`] |
//! | offer functions | [`tools`] |
//! | publish schemas that every client takes, have them checked | [`schemas`] |
//! | offer what can be read by a URI | [`resources`] |
//! | offer conversations | [`prompts`] |
//! | suggest values while users type | [`completion`] |
//! | change what is offered, tell that something has changed | [`changes`] |
//! | tell how far a call is, notice that nobody waits | [`logging_and_progress`] |
//! | speak over standard streams, start servers, use sockets | [`stdio`] |
//! | ask the user, the language model, for the roots | [`asking`] |
//! | put time limits, checks, logs around calls | [`middleware`] |
//! | serve over HTTP, inside of a web application | [`http`] |
//! | serve clients of older revisions, sessions and streams that go on, CORS | [`sessions`] |
//! | call a server, answer what it asks, several servers at once | [`clients`] |
//! | test a server | [`testing`] |
//! | run it behind a proxy, on several nodes | [`deployment`] |
//! | know what is closed by default, and open it | [`security`] |
//! | know every limit, its default, and what sets it | [`limits`] |
//! | know what an error means | [`errors`] |
//! | translate what you know of rmcp | [`coming_from_rmcp`] |
//!
//! # Adding a page
//!
//! Write `src/docs/<topic>.md` (the text starts with one sentence, then `#` headings; every block
//! compiles), add a row to the table above and a module to the list below. A page whose blocks need
//! a feature says so by its `#[cfg(feature = "…")]`.

#[cfg(feature = "http-server")]
#[doc = include_str!("docs/servers.md")]
pub mod servers {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/tools.md")]
pub mod tools {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/schemas.md")]
pub mod schemas {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/resources.md")]
pub mod resources {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/prompts.md")]
pub mod prompts {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/completion.md")]
pub mod completion {}

#[cfg(all(feature = "macros", feature = "client"))]
#[doc = include_str!("docs/changes.md")]
pub mod changes {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/logging-and-progress.md")]
pub mod logging_and_progress {}

#[cfg(all(feature = "client", feature = "server", feature = "stdio"))]
#[doc = include_str!("docs/stdio.md")]
pub mod stdio {}

#[cfg(feature = "macros")]
#[doc = include_str!("docs/asking.md")]
pub mod asking {}

#[cfg(feature = "server")]
#[doc = include_str!("docs/middleware.md")]
pub mod middleware {}

#[cfg(feature = "http-server")]
#[doc = include_str!("docs/http.md")]
pub mod http {}

#[cfg(all(feature = "http-server", feature = "server"))]
#[doc = include_str!("docs/sessions.md")]
pub mod sessions {}

#[cfg(all(feature = "http-client", feature = "server"))]
#[doc = include_str!("docs/clients.md")]
pub mod clients {}

#[cfg(all(feature = "macros", feature = "http-server", feature = "http-client"))]
#[doc = include_str!("docs/testing.md")]
pub mod testing {}

#[cfg(all(
    feature = "macros",
    feature = "stdio",
    feature = "http-server",
    feature = "http-client"
))]
#[doc = include_str!("docs/deployment.md")]
pub mod deployment {}

#[cfg(all(
    feature = "macros",
    feature = "stdio",
    feature = "http-server",
    feature = "http-client"
))]
#[doc = include_str!("docs/security.md")]
pub mod security {}

#[cfg(all(
    feature = "macros",
    feature = "stdio",
    feature = "http-server",
    feature = "http-client"
))]
#[doc = include_str!("docs/limits.md")]
pub mod limits {}

#[cfg(all(
    feature = "macros",
    feature = "stdio",
    feature = "http-server",
    feature = "http-client"
))]
#[doc = include_str!("docs/errors.md")]
pub mod errors {}

#[cfg(all(
    feature = "macros",
    feature = "stdio",
    feature = "http-server",
    feature = "http-client"
))]
#[doc = include_str!("docs/coming_from_rmcp.md")]
pub mod coming_from_rmcp {}
