//! Methods that the library answers by itself, before any service sees them.

pub mod modern;
