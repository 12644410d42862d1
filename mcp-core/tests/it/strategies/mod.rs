//! Values of all kinds that travel, for every test of the wires.

mod basics;
mod calls;
mod content;
mod definitions;
mod inputs;
mod notes;
mod profile;
mod results;

pub(crate) use basics::{Range, id, token};
pub(crate) use calls::asked;
pub(crate) use inputs::{asked_and_answered, retried};
pub(crate) use notes::{client_note, server_note};
pub(crate) use profile::{client_capabilities, implementation};
pub(crate) use results::reply;
