//! Metadata documents of protected resources and of authorization servers.

pub(crate) mod resource;
pub(crate) mod server;
