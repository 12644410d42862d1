//! One call on its way from a client to a server and back.
//!
//! ```text
//!   client                        gateway                               server
//!     │                                                                   │
//!     ├─ request ──► Request ──► Forwarded ──► RunningCall ── request ───►│
//!     │                              in the session of a Lease, which a   │
//!     │                              QuotaPermit counts for an Owner      │
//!     │                                                                   │
//!     │◄─ progress, logs ── CallEvent ◄───────────────────── notification ┤
//!     │◄─ question ── Question ◄── CallEvent ◄── Questions ◄───── request ┤
//!     │                                                                   │
//!     │   A client before 2026-07-28 answers while the request runs:      │
//!     ├─ answer ──────────► Question ──────────────────────── response ──►│
//!     │                                                                   │
//!     │   A client since 2026-07-28 answers with its next request:        │
//!     │◄─ RequestState ──── Forwarded ends, Parked has the RunningCall    │
//!     ├─ answer, RequestState ─► Request ─► Forwarded ─► RunningCall      │
//!     │                                       Question ────── response ──►│
//!     │                                                                   │
//!     │◄─ reply ──────────── Step ◄───────────────────────────── response ┤
//! ```
//!
//! | type | maker | holder | end |
//! |---|---|---|---|
//! | [`Request`](request::Request) | the gateway's server, for each request of a client | the route's handler | the reply |
//! | [`Forwarded`](forward::Forwarded) | the route's handler | itself, in the handler's future | the reply |
//! | [`RunningCall`](running::RunningCall) | `Forwarded`, for each request to the server | `Forwarded`; `Parked` while the client answers | the server's response |
//! | [`Lease`](crate::sessions::lease::Lease) | [`Upstream`](upstream::Upstream) | `RunningCall` | the server's response |
//! | [`QuotaPermit`](crate::limits::quota::QuotaPermit) | `Upstream`, before a call waits for a session | `Lease` | that of the `Lease` |
//! | [`Owner`](crate::limits::quota::Owner) | the request's caller | `QuotaPermit`, `Parked` | that of its holder |
//! | [`CallEvent`](crate::sessions::questions::CallEvent) | the client of the server, or `Questions` | the event channel of `RunningCall` | when it is passed on |
//! | [`Questions`](crate::sessions::questions::Questions) | the session | the session | the session's end |
//! | [`Question`](crate::sessions::questions::Question) | `Questions` | `RunningCall` | the client's answer |
//! | [`Parked`](parked::Parked) | the gateway's start | each `Upstream` | the gateway's end; a call is in it for 5 minutes at most |
//! | [`RequestState`](state::RequestState) | `Forwarded`, before each question | the client, sealed | the client's next request |
//! | [`Step`](mcp_client::Step) | the client of the server | `Forwarded` | a result becomes the reply; with input, the next `RunningCall` starts |
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `failure` | a call without a result, and who is to blame |
//! | `server_info` | a server's identity in results |
//! | `usage` | the calls and tasks of a server that run |
//! | `caller` | who makes a call, and how servers learn it |
//! | `state` | what the gateway needs when the client repeats its request |
//! | `request` | the client's side: its request, and the ways back to it |
//! | `running` | the server's side: one call while it runs |
//! | `parked` | calls between two requests of their client |
//! | `upstream` | one server, as its requests use it; the servers by their names |
//! | `forward` | a call of the gateway: one call of a server, or several with input between them |

pub(crate) mod caller;
pub(crate) mod failure;
mod forward;
pub(crate) mod parked;
pub(crate) mod request;
mod running;
pub(crate) mod server_info;
pub(crate) mod state;
pub(crate) mod upstream;
pub(crate) mod usage;
