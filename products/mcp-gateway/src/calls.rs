//! One call on its way from a client to a server and back.
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
