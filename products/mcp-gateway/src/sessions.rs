//! Sessions with a server.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `questions` | a server's requests and notifications while a call runs, and the calls that wait for their client |
//! | `pool` | sessions of a legacy server, by caller |

pub(crate) mod pool;
pub(crate) mod questions;
