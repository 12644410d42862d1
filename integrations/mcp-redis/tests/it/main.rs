//! The parts of this crate with a real Redis server, which each test starts on a free port.

#![cfg(test)]

mod changes;
mod event_log;
mod event_nodes;
mod failures;
mod killed_node;
mod partition;
mod relay;
mod server;
mod sizes;
mod stores;
mod task_nodes;
mod tasks;
mod webhooks;
