//! Updates of resources, from the servers to the clients that are subscribed to them.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `stream` | one subscription to resources of a server |
//! | `subscribed` | the resources that clients are subscribed to, at their servers |

mod stream;
pub(crate) mod subscribed;
