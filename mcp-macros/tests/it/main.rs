//! The macros, as users of servers write them.

#[cfg(test)]
mod documentation;
#[cfg(test)]
pub mod library;
#[cfg(test)]
mod ui;
