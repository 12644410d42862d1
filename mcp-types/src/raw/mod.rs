//! JSON as text: checked once, read when somebody asks for it.

mod object;
mod plain;
mod scan;
mod value;

pub(crate) use scan::{Malformed, Scanner};

pub use object::{RawObject, RawObjectError};
pub use plain::plain_until;
pub use value::RawJson;
