//! The server side.

mod body;
mod guard;
