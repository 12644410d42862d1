//! A request before its call: checks of its head, its body, and its kind.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | 1 | `body` | reads a body, with limits of size, time and parts |
//! | 1 | `rejection` | requests that are answered with an error before a service is called |
//! | 2 | `guard` | checks a head: host, origin, method, media types and size |
//! | 2 | `route` | classifies a POST by its headers and its body |

pub(super) mod body;
pub(super) mod guard;
pub(super) mod rejection;
pub(super) mod route;
