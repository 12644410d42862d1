//! Messages as values, independent of revisions, error codes and HTTP.
//!
//! The [wire](crate::wire) encodes and decodes them. Services and transports exchange them.
//!
//! | module | content |
//! |---|---|
//! | `client_request` | calls, and the requests of a client that this library answers |
//! | `reply`, `raw_result` | replies to calls, and results that are passed on without decoding |
//! | `fault` | errors of calls |
//! | `meta` | `_meta` of a request |
//! | `notification` | notifications of both sides |
//! | `server_request` | requests of a server, the client's responses, and input that a client sends along |

mod client_request;
mod fault;
mod meta;
mod notification;
mod raw_result;
mod reply;
mod server_request;

pub use client_request::{Call, ClientRequest, SessionRequest};
pub use fault::{Fault, ItemKind};
pub use meta::RequestMetaObject;
pub use notification::{ClientNotification, ServerNotification};
pub(crate) use raw_result::DecodedResult;
pub use raw_result::RawResult;
pub use reply::{Listing, Omission, Reply, ResultBody};
pub use server_request::{ClientResponse, InputState, ServerRequest};
