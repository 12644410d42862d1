//! JSON as text: checked once, read when somebody asks for it.

mod object;
mod scan;
mod value;

pub(crate) use scan::{Malformed, Scanner};

pub use object::{RawObject, RawObjectError};
pub use value::RawJson;
