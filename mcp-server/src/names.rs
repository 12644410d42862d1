//! Places by their names. One type for all that look names up, since a hash map is much code.

use std::collections::HashMap;

/// The author chose the names: nobody can make them collide.
pub(crate) type Names = HashMap<Box<str>, usize, foldhash::fast::RandomState>;
