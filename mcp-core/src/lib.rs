//! The rules of the Model Context Protocol without IO.
//!
//! This crate knows no socket, clock or runtime: times and ids are arguments, effects are return
//! values. Chance spreads waits, and decides nothing else. Transports do the IO and own no rule that could live here.
//!
//! ```text
//!   bytes ─► Message::parse ─► versioning::classify ─► Wire::decode_request ─► Exchange ─► Service
//!   bytes ◄───────────────────────────────────────────── Wire::encode_reply ◄─ Reply ◄────┘
//! ```
//!
//! | you look for | module |
//! |---|---|
//! | the waist: what a server is | [`Service`], [`Exchange`], [`Call`], [`Reply`], [`Fault`] |
//! | what a client transport is | [`Channel`] |
//! | modern or legacy? which version? | [`versioning`] |
//! | the text of messages, per era | [`wire`] |
//! | reading modern requests | [`modern`] |
//! | requests that may be served; running calls | [`InboundRequest`], [`RunningCall`] |
//! | input for a call, round by round | [`mrtr`] |
//! | subscriptions to changes | [`subscriptions`] |
//! | progress and log messages of a running call | [`Outlet`] |
//! | notifications, of either side | [`ServerNotification`], [`ClientNotification`] |
//! | what a server asks its client | [`ServerRequest`], [`ClientResponse`] |
//! | how a call gets what it asks for | [`Input`], [`BackChannel`] |
//! | layers around calls | [`tower`] |
//! | changes of lists and resources | [`Changes`], [`ChangeBus`], [`ChangeEvent`] |
//! | arguments that are repeated in headers | [`ParamHeaders`] |
//! | schemas of tools | [`schema`] |
//! | requests that wait for an answer | [`pending`] |
//! | one message per line | [`lines`] |
//! | sessions | [`legacy`] |
//! | sessions and streams that outlive a process | [`store`] |

#[doc(hidden)]
pub mod backoff;
mod call;
mod changes;
mod channel;
#[doc(hidden)]
pub mod close_signal;
#[doc(hidden)]
pub mod deserialize;
mod exchange;
mod extensions;
mod facts;
mod fault;
mod framing;
mod gate;
mod in_process;
mod inbound;
mod input;
pub mod legacy;
pub mod lines;
pub mod modern;
pub mod mrtr;
mod notification;
mod outlet;
mod panic;
mod param_headers;
pub mod pending;
mod reply;
mod reply_target;
mod running_call;
pub mod schema;
mod server_request;
mod service;
pub mod store;
mod stream_control;
pub mod subscriptions;
pub mod tower;
pub mod versioning;
pub mod wire;

pub use call::{Call, ClientRequest, SessionRequest};
pub use changes::{ChangeBus, ChangeEvent, Changes, MemoryBus, Subscriber, Watch};
pub use channel::{
    Channel, ChannelError, CloseReason, Frame, Frames, MirroredHeaders, OneWayMessage,
    OutgoingRequest,
};
pub use exchange::Exchange;
pub use extensions::Extensions;
pub use facts::{ClientFacts, ClientProfile, Principal, ServerProfile};
pub use fault::{ErrorData, Fault, ItemKind};
pub use framing::Framing;
pub use gate::{AllowAll, Gate};
pub use in_process::InProcessChannel;
pub use inbound::InboundRequest;
pub use input::{BackChannel, BackChannelError, Input, InputState};
pub use notification::{ClientNotification, ServerNotification};
pub use outlet::{NotificationBuffer, NotificationSink, Outlet};
pub use panic::{CatchPanic, Panicked, catch_panic, catch_panic_sync};
pub use param_headers::{
    DuplicateArgument, InvalidParamHeader, MirroredArgument, PARAM_HEADER, ParamHeaders, ParamValue,
};
pub use reply::{Listing, Reply, ResultBody};
pub use reply_target::ReplyTarget;
pub use running_call::{CallOutput, RunningCall};
pub use server_request::{ClientResponse, ServerRequest};
pub use service::{BoxFuture, Service};
pub use stream_control::StreamControl;
