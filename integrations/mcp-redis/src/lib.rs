//! Unstable: several nodes of a server behind one address, on Redis.
//!
//! [`Redis`] is the connection. It provides a [`SessionStore`](mcp_core::store::SessionStore), an
//! [`EventStore`](mcp_core::store::EventStore), a [`TaskStore`](mcp_core::store::TaskStore), a
//! [`ChangeBus`](mcp_core::ChangeBus), and for the events extension an
//! [`EventLog`](mcp_events::EventLog) and a [`WebhookStore`](mcp_events::WebhookStore). Nodes that use the same server and [`prefix`](Redis::prefix) serve
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
//! `P` is the prefix, `v1` the version of the layout, `ID` the id of a session, a task or a request state. Both keys of a session's
//! events have one hash tag, so that they are on one node of a Redis Cluster. So do the task
//! keys.
//!
//! | key | type | content | lifetime |
//! |---|---|---|---|
//! | `P:v1:{ID}:session` | string | the record of the session as JSON; 200 to 500 bytes for usual clients | twice the idle timeout |
//! | `P:v1:{ID}:events` | stream | the events of all streams in the session; about 60 bytes more than each message | maximum age of events |
//! | `P:v1:{ID}:streams` | hash | number of events and first complete event per stream; about 100 bytes per stream | maximum age of events |
//! | `P:v1:{tasks}:task:ID` | hash | the record of a task as JSON, its revision and its last write; about 700 bytes without a result | that of the task |
//! | `P:v1:{tasks}:expiry`, `sizes`, `totals` | sorted set, hashes | time of expiry, size and owner of each task; number of tasks per owner, and size of all; about 250 bytes per task | as long as a task |
//! | `P:v1:{tasks}:node:NODE` | string | mark of a node that runs tasks | 30 s, renewed every 10 s |
//! | `P:v1:{event:NAME}:log` | stream | the published events of one type; about 100 bytes more than each payload, with an id of 36 bytes | maximum age of published events |
//! | `P:v1:{event:NAME}:position` | hash | epoch, newest and newest dropped event, size of the payloads; about 200 bytes | unlimited |
//! | `P:v1:{event:NAME}:mark:EVENT` | string | mark of a published event, so that it is stored once; about 200 bytes | 10 s, and the timeout |
//! | `P:v1:{webhooks}:webhook:ID` | hash | a subscription of a webhook **with its secret**, and its progress; about 900 bytes | that of the subscription |
//! | `P:v1:{webhooks}:expiry`, `owners`, `leases` | sorted set, hashes | time of expiry, owner and lease of each subscription; about 400 bytes per subscription | unlimited |
//! | `P:v1:{webhooks}:verified` | sorted set | digests of the last 10,000 URLs that have agreed to receive events; about 170 bytes each | unlimited |
//! | `P:v1:{ID}:used` | string | mark of a request state that was used | lifetime of request states |
//! | `P:v1:relay:NODE:alive` | string | mark of a node with sessions | 2 s, renewed every 500 ms |
//! | `P:v1:stream-number` | string | number of the last GET stream | unlimited |
//! | `P:v1:changes` | hash | number of the last change | unlimited |
//!
//! The sizes are those of `MEMORY USAGE` with Redis 7.0; the test
//! `memory_per_session_event_stream_and_task_is_as_documented` checks them, and
//! `memory_per_published_event_and_webhook_is_as_documented`. The webhook secrets are stored as they are:
//! protect Redis like a database of passwords.
//!
//! | channel | messages |
//! |---|---|
//! | `P:v1:changes` | changes of lists and resources |
//! | `P:v1:events` | names of the types with published events |
//! | `P:v1:tasks` | ids of changed tasks |
//! | `P:v1:relay` | cancellations, changed and ended sessions, opened GET streams |
//! | `P:v1:relay:NODE` | client responses to requests of the node `NODE` |
//!
//! # Failures
//!
//! The names are those of the tests in `tests/it`.
//!
//! | failure | effect |
//! |---|---|
//! | Redis does not answer, or is stopped | each operation waits for at most [`Redis::timeout`] and tries again in that time; after one without an answer, only one waits so long, and the others for an eighth of it (`silent_redis_is_waited_for_by_one_operation`, `slow_redis_fails_an_operation_in_time_and_recovers`, `stopped_redis_fails_operations_until_it_runs_again`); then session requests do not run and are answered with the status 503, and events are sent without an id or stored later. Calls of 2026-07-28 need no Redis. |
//! | Redis does not answer, or is out of memory, while events are published | `publish` returns an error, and polls fail with an internal error; streams continue afterwards (`full_or_slow_redis_refuses_events_in_time_and_recovers`). A node that cannot extend its leases stops its webhook deliveries before they end. |
//! | Redis restarts | the connections are restored by themselves, and an operation in flight is repeated once (`operation_during_a_restart_is_repeated_and_events_are_stored_once`, `tasks_survive_when_redis_restarts`). Data that Redis did not save is lost: clients open new sessions, and streams are not continued with a gap (`events_that_redis_lost_are_not_skipped_silently`); clients learn that published events are lost (`published_events_that_redis_lost_are_a_gap`), and one that was repeated is stored once (`events_published_during_a_restart_are_stored_once_and_in_order`). Subscribers are notified of all their lists and resources if they may have missed a change (`interrupted_subscriber_is_told_what_it_may_have_missed`). |
//! | Redis is out of memory | new sessions, changed sessions and events are refused, as above; existing sessions continue (`full_redis_refuses_writes_and_serves_existing_sessions`). |
//! | a node is partitioned from Redis | as if Redis were stopped, for this node only. Afterwards its subscribers are notified of all their lists and resources if there were changes (`node_that_was_cut_off_for_ten_seconds_fails_in_time_and_recovers`). |
//! | a node is killed | its running calls fail at their clients: a client that resumes a stream at another node learns within 5 s that the call may have run (`call_on_a_killed_node_fails_within_seconds_and_the_session_continues`). Sessions continue on other nodes. Its tasks are reported failed when its mark expires, after at most 30 s (`task_on_a_killed_server_fails_when_its_lease_ends`). Its webhooks are delivered by another node within 40 s (`webhooks_from_a_killed_server_are_delivered_by_another`). |
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `error`, `keys` | errors, key names, channels |
//! | `connection` | commands with timeouts and retries |
//! | `pub_sub`, `watchers` | the connection of subscriptions; waits for messages |
//! | `changes`, `events`, `event_log`, `relay`, `tasks`, `webhooks` | the parts that use Redis |
//! | `sessions` | the session store, with the relay between its nodes |
//! | `client` | [`Redis`] |

mod changes;
mod client;
mod connection;
mod error;
mod event_log;
mod events;
mod keys;
mod pub_sub;
mod relay;
mod sessions;
mod tasks;
mod watchers;
mod webhooks;

pub use changes::RedisBus;
pub use client::Redis;
pub use error::RedisError;
pub use event_log::RedisEventLog;
pub use events::RedisEvents;
pub use relay::RedisRelay;
pub use sessions::RedisSessions;
pub use tasks::RedisTasks;
pub use webhooks::RedisWebhooks;
