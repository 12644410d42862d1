//! The rules of the Model Context Protocol without IO.
//!
//! This crate has no socket and no runtime, and reads no clock: times and ids are arguments, effects are return
//! values. Stores and session limits take a clock as a function; the default is `Instant::now`. The only randomness is
//! the jitter of retries. Transports do the IO, and contain no rule
//! that could be here.
//!
//! ```text
//!   bytes ─► Message::parse ─► modern::read_request ─► RunningCall::start ─► Exchange ─► Service
//!   bytes ◄──────────────────────────────────────────── ReplyTarget::encode ◄─ Reply ◄───────┘
//! ```
//!
//! | topic | items |
//! |---|---|
//! | servers | [`Service`], [`Exchange`], [`Call`], [`Reply`], [`Fault`] |
//! | client transports | [`Channel`] |
//! | eras and revisions | [`versioning`], [`modern`], [`legacy`] |
//! | messages as JSON, per revision | [`wire`] |
//! | decoded requests, running calls | [`InboundRequest`], [`RunningCall`], [`CallOutput`] |
//! | progress and log messages of a call | [`NotificationSender`], [`NotificationBuffer`] |
//! | notifications of either side | [`ServerNotification`], [`ClientNotification`] |
//! | input that a call asks its client for | [`Input`], [`BackChannel`], [`ServerRequest`] |
//! | changes of lists and resources | [`Changes`], [`ChangeBus`], [`subscriptions`] |
//! | layers around calls | [`tower`] |
//! | tool schemas, arguments in headers | [`schema`], [`ParamHeaders`] |
//! | stored sessions, events and tasks | [`store`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod authorization;
mod call;
mod changes;
mod channel;
#[doc(hidden)]
pub mod close_signal;
mod connection;
#[doc(hidden)]
pub mod deserialize;
pub mod egress;
pub mod extension;
mod inbound;
#[doc(hidden)]
pub mod legacy;
mod message;
mod observe;
mod panic;
pub mod schema;
pub mod store;
mod time;
pub mod tower;
pub mod versioning;
pub mod wire;

pub use authorization::{CallerKey, Gate, Principal, RequiredScopes, ScopedItem};
pub use call::{
    BackChannel, BackChannelError, Exchange, HeaderMismatch, Input, MessageSink,
    NotificationBuffer, NotificationSender, Service, TaskCall, TaskChanges, TaskChannel,
    TaskEngine, TaskMode, TaskReply,
};
pub use changes::{
    ChangeBus, ChangeEvent, Changes, ExtensionNotification, MemoryBus, SubscribedResources,
    Subscriber, Watch,
};
#[doc(hidden)]
pub use channel::with_causes;
pub use channel::{
    CancelHook, Channel, ChannelError, CloseReason, Frame, Frames, InProcessChannel,
    MirroredHeaders, OneWayMessage, OutgoingRequest, TlsError,
};
pub use connection::{
    ClientAddress, ClientContext, ClientProfile, Connection, ConnectionState, Extensions,
    ServerIdentity, ServerProfile, SessionId, StreamControl, Transport,
};
pub use inbound::{
    CallOutput, InboundNotification, InboundRequest, RunningCall, modern, subscriptions,
};
pub use message::{
    Call, ClientNotification, ClientRequest, ClientResponse, Fault, InputState, ItemKind, Listing,
    Omission, RawResult, Reply, RequestMetaObject, ResultBody, ServerNotification, ServerRequest,
    SessionRequest,
};
pub use observe::{
    AuthMetrics, EndpointMetrics, Observation, ObservedMessage, Observer, RequestName, TaskMetrics,
};
pub use panic::{CatchPanic, Panicked, catch_panic, catch_panic_sync};
pub use schema::param_headers::{InvalidParamHeader, PARAM_HEADER, ParamHeaders};
pub use time::{LogLimit, Pace};
#[doc(hidden)]
pub use time::{backoff, deadline};
pub use wire::{Framing, ReplyTarget};

pub use futures_util::future::BoxFuture;
