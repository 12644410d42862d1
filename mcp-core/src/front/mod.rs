//! Methods that the library answers by itself, before any service sees them.

pub mod modern;
mod recipient;
mod running;

pub use recipient::Recipient;
pub use running::{Running, Said};
