//! One call on its way from a client to a server and back.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `failure` | a call without a result, and who is to blame |
//! | `server_info` | a server's identity in results |
//! | `usage` | the calls and tasks of a server that run |
//! | `running` | one call of a server |
//! | `upstream` | one server, as its requests use it; the servers by their names |
//! | `forward` | a call of the gateway: one call of a server, or several with input between them |

pub(crate) mod failure;
pub(crate) mod forward;
pub(crate) mod running;
pub(crate) mod server_info;
pub(crate) mod upstream;
pub(crate) mod usage;
