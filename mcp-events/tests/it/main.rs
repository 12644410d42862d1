//! Tests of events: reading them, webhooks, and hostile URLs.

mod egress;
mod kit;
mod log;
mod methods;
mod receiver;
mod streams;
mod webhooks;
