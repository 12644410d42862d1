//! Files as the packages of the SDK read and write them: bounded, regular, private where secrets may stand, and replaced at
//! once.
//!
//! A file of others can have any size, be a link to a device that never ends, or a pipe whose reader waits. A program that
//! is killed while it writes leaves half a file. These functions are the one place that takes care of it.
//!
//! | module | contents |
//! |---|---|
//! | `read` | reading of regular files, with a limit |
//! | `replace` | files that are replaced at once, and new ones |

mod read;
mod replace;

pub use read::{open_own, open_regular, read, read_from};
pub use replace::{create_new, remove_leftovers, replace, replace_private, replace_with};
