//! Generators of all values in messages, for tests of the wires.

mod basics;
mod calls;
mod content;
mod definitions;
mod inputs;
mod notifications;
mod profile;
mod results;

pub(crate) use basics::{Range, id, token};
pub(crate) use calls::asked;
pub(crate) use inputs::{asked_and_answered, retried};
pub(crate) use notifications::{client_note, server_note};
pub(crate) use profile::{client_capabilities, implementation};
pub(crate) use results::reply;
