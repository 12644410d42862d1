//! Unstable: programs between clients and servers.
//!
//! A [`Gateway`] is many servers behind one, and translates between the protocol's revisions.
//!
//! A [`Relay`] connects one client on a pair of pipes with a server behind any
//! [`Channel`](mcp_core::Channel). Messages pass unchanged in both directions, so requests of the
//! server, progress, extensions and members that this library does not know reach the other side.
//!
//! # What passes
//!
//! | message | how |
//! |---|---|
//! | tools, prompts, resources, templates | combined lists; tools and prompts are named `server__tool`, see [`Naming`](mcp_client::group::Naming) |
//! | results, errors, `_meta` | as the server sends them, with the gateway's identity instead of the server's (`io.modelcontextprotocol/serverInfo`); none in older revisions |
//! | progress, log messages | to the call's client; log messages of a pipe without a call do not pass. The gateway asks each server for progress, which restarts the time limit of a response; [`max_total_timeout`](mcp_client::ClientBuilder::max_total_timeout) ends the call in any case |
//! | cancellation | dropping or cancelling a call cancels it at its server |
//! | elicitation, sampling, roots | to the call's client, in both directions between the eras, with that client's capabilities |
//! | changes of lists | announced to all clients, at most once a second |
//! | updates of resources | of those that clients are subscribed to; see below |
//! | completion | of prompts and templates |
//! | tasks | status, messages, input, results, failures, and changes on `subscriptions/listen`; see below |
//! | other extensions | those of [`GatewayServer::extension`](crate::GatewayServer::extension); see below |
//!
//! # Sessions of callers
//!
//! A server of a revision before 2026-07-28 may keep a state in its session, or on a pipe in its process. So each
//! caller has sessions of its own. A caller is a verified [`Principal`](mcp_core::Principal): issuer, subject and
//! OAuth client. All callers without one are one anonymous caller. A caller has up to 8 sessions with each server; a
//! further call waits for 30 seconds, and is refused then (429). A server has 256 sessions at most (503). Up to 64
//! calls of a caller, or of anonymous clients at one address, have a session or wait for one; further ones are refused
//! at once (429). A session whose call has asked its client does not count. There are up to 32 of these for a caller,
//! or for anonymous clients at one address, and 256 for a server; a further question is refused at once. A session
//! without a call is closed after 5 minutes. For a server on a pipe, each session is a process.
//!
//! A session keeps what its client has answered, so it is used again only for the same answers. At a server that asks
//! for roots, the gateway asks the client for its roots before each call, and chooses a session with these roots: a
//! server of files never has those of another program. A session whose server has asked an anonymous client for
//! anything else is closed after the call. With [`one_session`](crate::GatewayServer::one_session) all calls share the
//! session, also with the answers: the server is notified when the roots have changed.
//!
//! * [`share_sessions`](crate::GatewayServer::share_sessions) (`share_sessions = true` in a file): callers share
//!   sessions, for servers that are known to keep nothing in them.
//! * Extension notifications in a caller's session reach that caller's clients only; those in the gateway's session
//!   reach all clients without an identity. A changed list in a caller's session is announced if the gateway's own
//!   list differs.
//! * The gateway lists with a session of its own, and subscribes to resources there.
//!
//! # Updates of resources
//!
//! The gateway is subscribed to the resources that its own clients are subscribed to now, each at the server that has
//! it: listed resources, and URIs of templates. A URI above others goes to all servers with resources below it. The
//! gateway's subscription ends with that of the last client.
//!
//! * A client is subscribed before the gateway is. When the server has acknowledged the subscription, and when a
//!   server was started again, the client is notified once: the resource may have changed in between.
//! * A server with subscribers is started, and runs until the last subscription ends. A server without subscribers can
//!   be stopped by its `idle_timeout`.
//! * The gateway subscribes with its own credentials, also at a server with `token_exchange`. Clients are notified of
//!   the resources that they see.
//! * The limits are 10,000 resources per server, and those of the server: in a session of older revisions often 1,024.
//! * Of several gateways, each one subscribes for its own clients.
//!
//! # Tasks
//!
//! If the server answers a call with a task, and the client declares tasks, the gateway answers with a task. It keeps
//! no task: the client's id is the server and its id, sealed with the gateway's [`StateKeys`](mcp_server::StateKeys)
//! for the caller's [`Principal`](mcp_core::Principal). Any gateway with the same keys continues it, also after a
//! restart. Without keys, a process's ids end with it.
//!
//! * The id of another caller, and that of a task whose tool the caller does not see, is like a random one.
//! * `rate` and `concurrency` count the call that creates the task, until it is answered. `max_result_bytes` and
//!   `timeout` also hold for the task's requests. Each of them is an event of the audit log, with the kind
//!   `tasks/get`, `tasks/update` or `tasks/cancel`.
//! * Requests for tasks have the client's `_meta`, such as its trace context; when the gateway itself follows a task,
//!   its polls have the call's.
//! * `idle_timeout` does not stop a server while a task is open whose end the client has not seen: for the time that
//!   the server keeps the task, 24 hours at most.
//! * A client without tasks waits for the result. If the server runs the tool as a task only, the gateway follows the
//!   task to its end, and passes its questions on.
//!
//! # Extensions that the gateway does not know
//!
//! `GatewayServer::new(…).extension("com.example/budget", ["budget/*"])` names an extension and its methods. The
//! gateway publishes the extension with the server's settings, and passes on its requests and notifications in both
//! directions whose method matches a pattern. `budget/*` also covers `notifications/budget/*`. Parameters, results and
//! errors stay JSON. In a TOML file this is the table `extensions` of a server, and in `mcp.json` the member
//! `"extensions": {"com.example/budget": ["budget/*"]}`. Two servers with the same extension or method are an error,
//! and so is a pattern that matches a method of the protocol or of an extension that this library knows.
//!
//! * The server receives the settings that the call's client declares: with the call, or in its session.
//! * Before 2026-07-28, and on pipes, a notification does not say which call it belongs to. Calls of such servers then
//!   have a session of their own, as those with questions have; for a server on a pipe that is a process.
//! * A client's notification has the client's `_meta`, and its caller's token where the calls of the server have one.
//! * A notification that a server sends to all its clients reaches all clients of the gateway that declare the
//!   extension; a legacy server's reaches the clients of each caller with an open session there (see above). A legacy
//!   server sends it in each session; one of a caller's sessions passes it on.
//! * After [`reload`](crate::GatewayControl::reload), and when a server publishes other settings, the extensions are
//!   those of the servers now: for requests since 2026-07-28 and for new sessions. A session of an older revision
//!   keeps its own.
//!
//! # Questions across the eras
//!
//! Since 2026-07-28 a server asks with its reply, and the client repeats the call with the answer. Older servers ask
//! in a session while they work.
//!
//! * A modern server behind the gateway: its state travels, sealed, through the client. Any node of the gateway can
//!   continue the call; give all nodes the same [`StateKeys`](mcp_server::StateKeys). Sessions, events and changes are
//!   shared as by other servers, with the stores of `mcp::redis`, and a session goes on when a gateway dies.
//! * A legacy server behind the gateway: the call waits at this node for a modern client's answer, 5 minutes at most.
//!   The answer must come to the same node: another one refuses it, and the call waits on.
//!
//! A legacy session does not say which call a question belongs to, so that a call whose client can be asked has a
//! session for itself while it runs. A server that keeps a state in its process, such as a browser's page, needs
//! [`one_session`](crate::GatewayServer::one_session): the calls of a caller wait for each other then.
//!
//! Clients may send the state of a question more than once, and each time the call goes on from there. A tool with a
//! `rate` therefore accepts a state once: a repetition is refused, and counts no new call. Each node counts the states
//! that it receives until they expire; [`Gateway::used_states`](crate::Gateway::used_states) with that of
//! `mcp::redis` counts for all nodes. Tools without a `rate`, and servers behind the gateway, have to expect
//! repetitions.
//!
//! # Audit
//!
//! Each call of a server is an event of `tracing` with the target `mcp_gateway::audit` at the level `INFO`: `server`,
//! `kind`, `item`, `outcome` (`ok`, `error result`, `error` for a failure of the server, `refused` for a call that the
//! gateway refused, or `interrupted` for one that was cancelled or waits for its client), `duration_ms`, and the
//! caller's `subject`, `issuer` and `client`. Arguments and results are in no event. A client reads how a server's
//! program has ended: its exit status. The last lines of its standard error are in the log alone, because they may
//! contain secrets. `mcp gateway --audit FILE` appends each of them to a file as one line of JSON with the time; `-`
//! is standard error.
//!
//! A server that changes its tools while the gateway runs is an event with the differences: at the level `WARN` where
//! they are breaking, as in [`Snapshot::diff`](mcp_client::catalog::Snapshot::diff). Lists with more than 500 tools
//! are not compared. [Pinned tools](Gateway::pin) are held until such a change is approved.
//!
//! [`GatewayControl::status`](crate::GatewayControl::status) has each server's health, tools, calls and last failure.
//! `mcp gateway --admin-port 9000`, or the table `admin` of a file, shows the same as a page that changes nothing. It
//! listens at 127.0.0.1 only, and the command prints its URL with a random token, which becomes a cookie; requests
//! without it, and those of other web pages, are refused. From another machine, use a tunnel (`ssh -L`) to the same
//! port.
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `patterns` | [`ToolPatterns`] |
//! | `relay` | messages of one client, passed on unchanged: `message` has their headers and errors, `session` the server's legacy session, `calls` the requests that wait, `tools` hidden tools and arguments that headers repeat |
//! | [`openapi`] | HTTP services as servers |
//! | `error` | [`GatewayError`] |
//! | `status` | [`GatewayStatus`], and the audit log |
//! | `changes` | kinds of lists, and changed lists |
//! | `limits` | [`CallLimits`], shares of callers, request states that clients have used |
//! | `settings` | [`GatewayServer`], [`ToolOptions`], the credentials of callers |
//! | `sessions` | sessions with a server, and what the server asks there |
//! | `calls` | one call, from the client to a server and back |
//! | `tasks` | tasks of servers, for clients with and without tasks |
//! | `extensions` | messages of extensions that the gateway does not know, and their notifications to all clients |
//! | `updates` | the resources that clients are subscribed to, at their servers |
//! | `starting` | calls of servers that are not listed yet |
//! | `search` | [`ToolMode`]: tools that are found by search |
//! | `routes` | tools, resources, templates, prompts and completions |
//! | `lists` | the lists of all servers, kept current |
//! | `gateway` | [`Gateway`]: many servers behind one |
//! | [`config`] | configuration files |

mod calls;
mod changes;
pub mod config;
mod error;
mod extensions;
mod gateway;
mod limits;
mod lists;
pub mod openapi;
mod patterns;
mod relay;
mod routes;
mod search;
mod sessions;
mod settings;
mod starting;
mod status;
mod tasks;
mod updates;

pub use error::GatewayError;
pub use gateway::{ConnectedGateway, Gateway, GatewayControl};
pub use limits::limiter::CallLimits;
pub use patterns::ToolPatterns;
pub use relay::{Relay, RelayError};
pub use search::ToolMode;
pub use settings::server::GatewayServer;
pub use settings::tool::ToolOptions;
pub use status::{CallCounts, GatewayStatus, LastFailure, ServerStatus};
