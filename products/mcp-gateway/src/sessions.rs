//! Sessions with a server, and what the server asks there.
//!
//! A legacy server may keep a state in a session, and asks in a session. So callers have sessions of their own, and one
//! call at a time has the turn in which the server's requests are its own.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `roots` | a client's roots, as a server that asks for them is told |
//! | `broadcast` | notifications of a server to all its clients, which one session of a caller passes on |
//! | `questions` | a server's requests and notifications in one session, and the turns of its calls |
//! | `pool` | the sessions of callers, in use and idle |
//! | `lease` | a session while a call uses it |

pub(crate) mod broadcast;
pub(crate) mod lease;
pub(crate) mod pool;
pub(crate) mod questions;
pub(crate) mod roots;
