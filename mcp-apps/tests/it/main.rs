//! Tests of the apps of servers, and of hosts with a scripted view.

mod csp;
mod document;
mod hostile;
mod kit;
mod order;
mod requests;
mod server;
