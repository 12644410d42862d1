//! Methods that the library answers by itself, before any service sees them.

pub mod modern;
mod running;

pub use running::{Running, Step};
