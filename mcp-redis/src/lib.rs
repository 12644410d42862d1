//! Several nodes of a server behind one address, on Redis.
//!
//! [`Redis`] is the connection. It provides a [`SessionStore`](mcp_core::store::SessionStore), an
//! [`EventStore`](mcp_core::store::EventStore), a [`TaskStore`](mcp_core::store::TaskStore) and a
//! [`ChangeBus`](mcp_core::ChangeBus). Nodes that use the same server and [`prefix`](Redis::prefix) serve
//! one endpoint: any of them answers any request.
//!
//! ```no_run
//! use mcp::prelude::*;
//! use mcp::Sessions;
//! use mcp::redis::Redis;
//!
//! # async fn run(server: Server) -> Result<(), Box<dyn std::error::Error>> {
//! let redis = Redis::connect("redis://cache:6379").await?.prefix("shop");
//! let endpoint = StreamableHttp::new(server.change_bus(redis.bus()))
//!     .sessions(Sessions::shared(redis.sessions()))
//!     .events(redis.events());
//! # Ok(())
//! # }
//! ```
//!
//! # Requirements
//!
//! Redis 6 or later, or a server that is compatible with it, such as Valkey. The user of the URL needs
//! the commands of the table, `PING`, `EVALSHA`, `SCRIPT LOAD`, `SUBSCRIBE` and `PUBLISH`. Set the eviction
//! policy to `noeviction` or `volatile-*`: with another one, sessions end when memory is short. For
//! `rediss://`, enable the feature `tokio-rustls-comp` of the crate `redis` in your program.
//!
//! # Keys
//!
//! `P` is the prefix, `v1` the version of the layout, `ID` the id of a session. Both keys of a session's
//! events have one hash tag, so that they are on one node of a Redis Cluster.
//!
//! | key | type | content | lifetime |
//! |---|---|---|---|
//! | `P:v1:{ID}:session` | string | the record of the session as JSON; 150 to 400 bytes for usual clients | twice the idle timeout |
//! | `P:v1:{ID}:events` | stream | the events of all streams of the session; about 40 bytes more than each message | maximum age of events |
//! | `P:v1:{ID}:streams` | hash | number of events and first complete event per stream; about 100 bytes per stream | maximum age of events |
//! | `P:v1:changes` | hash | number of the last change | unlimited |
//!
//! | channel | messages |
//! |---|---|
//! | `P:v1:changes` | changes of lists and resources |
//! | `P:v1:relay` | cancellations, changed and ended sessions |
//! | `P:v1:relay:NODE` | responses of clients to requests of the node `NODE` |
//!
//! # Failures
//!
//! | failure | effect |
//! |---|---|
//! | Redis does not answer, or is stopped | each operation waits for at most [`Redis::timeout`] and tries again in that time; then requests of sessions are answered with the status 500, and events are sent without an id. Calls of 2026-07-28 need no Redis. |
//! | Redis restarts | the connections are restored by themselves. Data that Redis did not save is lost: clients open new sessions. Subscribers are notified of all their lists and resources. |
//! | Redis is out of memory | new sessions, changed sessions and events are refused, as above; existing sessions continue. |
//! | a node is partitioned from Redis | as if Redis were stopped, for this node only. Afterwards its subscribers are notified of all their lists and resources if there were changes. |
//! | a node is killed | its running calls fail at their clients, at the latest with their timeouts. Sessions continue on other nodes. |
//!
//! Modules in layers, lowest first. Each uses only modules above it in the table:
//!
//! | module | contents |
//! |---|---|
//! | `error`, `keys` | errors, names of keys and channels |
//! | `connection` | commands with timeouts and retries |
//! | `pub_sub` | the connection of subscriptions |
//! | `changes`, `events`, `relay`, `tasks` | the parts that use Redis |
//! | `sessions` | the store of sessions, with the relay between its nodes |
//! | `client` | [`Redis`] |

mod changes;
mod client;
mod connection;
mod error;
mod events;
mod keys;
mod pub_sub;
mod relay;
mod sessions;
mod tasks;

pub use changes::RedisBus;
pub use client::Redis;
pub use error::RedisError;
pub use events::RedisEvents;
pub use relay::RedisRelay;
pub use sessions::RedisSessions;
pub use tasks::RedisTasks;
