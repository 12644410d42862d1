//! The rules of the Model Context Protocol without IO.
//!
//! This crate has no socket and no runtime, and its rules read no clock: times and ids are arguments, effects are return
//! values. The stores in memory take a clock as a function, `Instant::now` by default. The only randomness is the
//! jitter of retries. Transports do the IO, and contain no rule that could be here.
//!
//! ```text
//!   bytes ─► Message::parse ─► modern::read_request ─► RunningCall::start ─► Exchange ─► Service
//!   bytes ◄──────────────────────────────────────────── ReplyTarget::encode ◄─ Reply ◄───────┘
//! ```
//!
//! A module uses modules above it only.
//!
//! | module | content, lowest first | items |
//! |---|---|---|
//! | `message` | messages as values | [`Call`], [`Reply`], [`Fault`], [`ServerNotification`], [`ServerRequest`] |
//! | `connection` | the two sides of a connection, its transport, and what comes beside a message | [`ClientContext`], [`ServerProfile`], [`Extensions`] |
//! | `panic` | panics of user code, which end one call only | [`catch_panic`] |
//! | `close_signal` | a flag that is set once and wakes all that wait for it | |
//! | `time` | deadlines, delays, expiry and rates | [`LogLimit`], [`Pace`] |
//! | `deserialize` | JSON errors with the path of the value | |
//! | `egress` | network zones of addresses that others name | [`egress::Zone`] |
//! | `extension` | the identity, settings and messages of protocol extensions | [`extension::Extension`] |
//! | `authorization` | the verified caller, and what admits its calls | [`Principal`], [`CallerKey`], [`Gate`] |
//! | `observe` | what telemetry, metrics and logs see of messages | [`Observer`], [`EndpointMetrics`] |
//! | `schema` | tool schemas: validation, limits, lints, arguments in headers | [`ParamHeaders`] |
//! | `store` | stored sessions, events and tasks, which outlive a process | [`store::SessionStore`] |
//! | `wire` | messages as JSON, per revision | [`ReplyTarget`], [`Framing`] |
//! | `versioning` | the era and the revision of a message | |
//! | `changes` | changes of lists and resources, from handlers to subscribers | [`Changes`], [`ChangeBus`] |
//! | `call` | a call on its way to its reply, its notifications and its questions | [`Service`], [`Exchange`], [`Input`], [`NotificationSender`] |
//! | `tower` | layers around calls | [`tower::Middleware`] |
//! | `inbound` | messages of a client on their way into a service | [`modern`], [`InboundRequest`], [`RunningCall`], [`subscriptions`] |
//! | `legacy` | sessions of the legacy era | [`legacy::Session`] |
//! | `channel` | client transports, and the one to a service in the same process | [`Channel`], [`InProcessChannel`] |

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
pub use channel::{
    CancelHook, Channel, ChannelError, CloseReason, Frame, Frames, InProcessChannel,
    MirroredHeaders, OneWayMessage, OutgoingRequest, TlsError, with_causes,
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
pub use time::backoff::Backoff;
pub use time::{LogLimit, Pace};
#[doc(hidden)]
pub use time::{backoff, deadline};
pub use wire::framing::Framing;
pub use wire::reply::ReplyTarget;

pub use futures_util::future::BoxFuture;
