//! The guide: one page per topic.
//!
//! Every code block is compiled. Blocks that need no network and no other process are also run. If a
//! page and an item's documentation differ, the item's documentation is correct.
//!
//! | topic | page |
//! |---|---|
//! | defining and running a server | [`servers`] |
//! | tools: functions for language models | [`tools`] |
//! | tool schemas, their validation, and client compatibility | [`schemas`] |
//! | resources: data that clients read by URI | [`resources`] |
//! | prompts: message templates that users select; argument completion | [`prompts`] |
//! | progress, log messages, cancellation, changed lists and resources | [`notifications`] |
//! | stdio, child processes, sockets | [`stdio`] |
//! | elicitation, sampling and roots from a handler | [`asking`] |
//! | calls that run for minutes, and their results after a restart | [`tasks`] |
//! | skills: folders with instructions for language models | [`skills`] |
//! | many servers behind one, for clients on every revision | [`gateways`] |
//! | what a language model sees of servers: definitions, calls, results, approval | [`toolsets`] |
//! | user interfaces for tools, and hosts that show them | [`apps`] |
//! | events by poll, stream and webhook (draft) | [`events`] |
//! | time limits, authorization and logs around calls | [`middleware`] |
//! | writing a protocol extension, on both sides | [`extensions`] |
//! | Streamable HTTP, alone or in a web application; sessions for older revisions; server cards | [`http`] |
//! | calling servers, handling their requests, several servers at once | [`clients`] |
//! | OAuth: a user logs in with a browser | [`authorization`] |
//! | OAuth without a login page: secrets, assertions, workloads, company identity providers | [`authorization_machines`] |
//! | token stores: files, keychain, several processes, DPoP; login errors | [`authorization_tokens`] |
//! | servers that demand access tokens: issuers, scopes, proof of possession | [`protecting`] |
//! | typed clients and server traits, generated from a catalog | [`typed_clients`] |
//! | testing a server | [`testing`] |
//! | traces and metrics with OpenTelemetry, dashboards | [`telemetry`] |
//! | deployment behind a proxy and on several nodes | [`deployment`] |
//! | secure defaults, and how to change them | [`security`] |
//! | all limits with their defaults and setters | [`limits`] |
//! | error messages whose fix is not in the message | [`errors`] |
//! | migration from rmcp | [`coming_from_rmcp`] |
//! | migration from FastMCP, the Python SDK and the TypeScript SDK | [`coming_from_others`] |
//! | what does not work, and what was never tried on a real system | [`shortcomings`] |
//! | versions, compatibility, the minimum Rust version | [`stability`] |
//!
//! # Questions
//!
//! | how do I … | answer |
//! |---|---|
//! | write the smallest server, with or without macros | [a server](crate::guide::servers) |
//! | add it to Claude, VS Code or Cursor | [hosts](crate::guide::stdio#hosts) |
//! | try it in the browser | `mcp inspect -- target/debug/calculator`, or with a URL |
//! | test a server | [tests](crate::guide::testing) |
//! | inject dependencies, such as a database pool | a value behind `&self`, or [`State<T>`](crate::State), which is cloned for each call: a pool or an `Arc` ([extractors](crate::guide::tools#extractors)). A value for each call is an extractor of your own, [`FromCall`](crate::FromCall) |
//! | keep state per session or user | [state](crate::guide::tools#state-per-session-or-user) |
//! | read a request header | [`Headers`](crate::Headers), [`Header<T>`](crate::Header), both in an `Option` for stdio ([extractors](crate::guide::tools#extractors)) |
//! | return JSON with a schema, images, files | [results](crate::guide::tools#results) |
//! | report an error that the model can correct; hide a message | [errors of tools](crate::guide::tools#errors) |
//! | restrict an argument's values | [arguments](crate::guide::tools#arguments) |
//! | report progress; clean up when a call is cancelled | [progress](crate::guide::notifications) |
//! | ask the user | [questions](crate::guide::asking); do something only once: [idempotency keys](crate::guide::asking#request-state) |
//! | serve from an axum application; allow a web page (CORS) | [HTTP](crate::guide::http) |
//! | run in Docker or behind a proxy | [containers](crate::guide::deployment#containers-docker) |
//! | require tokens (OAuth) | [protected servers](crate::guide::protecting); other credentials: [authentication](crate::guide::security#authentication) |
//! | serve several tenants | [one server per tenant](crate::guide::http#one-server-per-tenant), or an extractor with the tenant |
//! | limit a tool's time | a `TimeoutLayer` ([tower layers](crate::guide::middleware#tower-layers)); in the macro `#[tool(layer = …)]` |
//! | limit the rate of calls | [rate limits](crate::guide::middleware#rate-limits) |
//! | send traces to OpenTelemetry | [traces and metrics](crate::guide::telemetry); without its feature [`RequestLog`](crate::middleware::RequestLog) |
//! | add tools at run time; show a tool to some callers | [changes](crate::guide::notifications) |
//! | serve a directory | [templates](crate::guide::resources#templates) |
//! | start a server as a child process | [child processes](crate::guide::stdio#starting-a-server) |
//! | send a token, and renew it | [headers and tokens](crate::guide::clients#headers-tokens-proxies) |
//! | use several servers | [several servers](crate::guide::clients#several-servers) |
//! | build an agent for any provider | a [`ToolSet`](crate::guide::toolsets): definitions, calls, results; `mcp new --template agent` is a program |
//! | offer a model hundreds of tools | [many tools](crate::guide::toolsets#many-tools) |
//! | call servers without `async`, or from WebAssembly | a current-thread runtime's `block_on` around each call; WebAssembly: `mcp::types` and `mcp::core` with a channel of your own ([`Channel`](crate::core::Channel)) |
//! | choose the revision, skip the handshake | [`ConnectMode`](crate::ConnectMode): `Pin` a revision, or `Prior` with the result of an earlier connection |

/// Declares the pages of the guide, each with the features that its code blocks need: the pages exist
/// with all features, but a test of the documentation skips the pages whose features are missing.
macro_rules! pages {
    ($($name:ident: $file:literal, $($feature:literal)+;)*) => {
        $(
            #[cfg_attr(
                any(not(doctest), all($(feature = $feature),+)),
                doc = include_str!(concat!("docs/", $file))
            )]
            pub mod $name {}
        )*
    };
}

pages! {
    servers: "servers.md", "server" "http";
    tools: "tools.md", "macros";
    schemas: "schemas.md", "macros";
    resources: "resources.md", "macros";
    prompts: "prompts.md", "macros";
    notifications: "notifications.md", "macros" "client";
    stdio: "stdio.md", "client" "server" "stdio";
    asking: "asking.md", "macros";
    tasks: "tasks.md", "macros" "client" "tasks";
    skills: "skills.md", "client" "server" "skills";
    toolsets: "toolsets.md", "client" "toolset" "stdio" "http";
    gateways: "gateways.md", "gateway" "client" "http" "server" "stdio" "auth";
    apps: "apps.md", "apps" "client" "http" "macros";
    events: "events.md", "events" "client" "http" "server";
    middleware: "middleware.md", "server";
    extensions: "extensions.md", "client" "server";
    http: "http.md", "server" "http" "client";
    clients: "clients.md", "client" "http" "server";
    authorization: "authorization.md", "auth" "client";
    authorization_machines: "authorization-machines.md", "auth" "client";
    authorization_tokens: "authorization-tokens.md", "auth" "client" "keychain";
    protecting: "protecting.md", "auth" "client" "macros" "http";
    typed_clients: "typed_clients.md", "gen" "server" "stdio";
    testing: "testing.md", "macros" "http" "client";
    telemetry: "telemetry.md", "client" "http" "macros" "telemetry";
    deployment: "deployment.md", "macros" "stdio" "http" "client" "redis";
    security: "security.md", "macros" "stdio" "http" "client";
    limits: "limits.md", "macros" "stdio" "http" "client" "redis" "skills";
    errors: "errors.md", "macros" "stdio" "http" "client" "redis" "skills";
    coming_from_rmcp: "coming_from_rmcp.md", "macros" "stdio" "http" "client";
    coming_from_others: "coming_from_others.md", "macros" "stdio" "http" "client";
    shortcomings: "shortcomings.md", "server" "client" "toolset";
    stability: "stability.md", "client";
}
