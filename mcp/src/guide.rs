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
//! compiles), add a row to the table above, and one to the list below with the features that its
//! blocks need.

/// Hooks a page into the guide, where the features are on that its blocks need.
macro_rules! pages {
    ($($name:ident: $file:literal, $($feature:literal)+;)*) => {
        $(
            #[cfg(all($(feature = $feature),+))]
            #[doc = include_str!(concat!("docs/", $file))]
            pub mod $name {}
        )*
    };
}

pages! {
    servers: "servers.md", "http-server";
    tools: "tools.md", "macros";
    schemas: "schemas.md", "macros";
    resources: "resources.md", "macros";
    prompts: "prompts.md", "macros";
    completion: "completion.md", "macros";
    changes: "changes.md", "macros" "client";
    logging_and_progress: "logging-and-progress.md", "macros";
    stdio: "stdio.md", "client" "server" "stdio";
    asking: "asking.md", "macros";
    middleware: "middleware.md", "server";
    http: "http.md", "http-server";
    sessions: "sessions.md", "http-server" "server";
    clients: "clients.md", "http-client" "server";
    testing: "testing.md", "macros" "http-server" "http-client";
    deployment: "deployment.md", "macros" "stdio" "http-server" "http-client";
    security: "security.md", "macros" "stdio" "http-server" "http-client";
    limits: "limits.md", "macros" "stdio" "http-server" "http-client";
    errors: "errors.md", "macros" "stdio" "http-server" "http-client";
    coming_from_rmcp: "coming_from_rmcp.md", "macros" "stdio" "http-server" "http-client";
}
