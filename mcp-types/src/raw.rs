//! JSON that is validated on arrival and read as a type on demand.

mod object;
mod repeated;
mod value;

pub use object::{RawObject, RawObjectError};
pub use value::RawJson;
