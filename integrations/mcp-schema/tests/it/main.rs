//! Tests of the public API.

mod hostile;
mod keywords;
mod reading;
mod suite;
