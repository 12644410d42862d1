//! How the types of this crate are written and read: not by code for each type and each serializer,
//! but by one writer and one reader that ask a value what it consists of ([`Piece`]) or where its parts
//! go ([`Slot`]).
//!
//! What a type adds is a list of its members ([`members!`](crate::members)) and a few tables. `derive`
//! would write both directions anew for every type, and compile them in every crate that writes or
//! reads it.
//!
//! For the crates of this workspace: it may change in any release.

mod members;
mod piece;
mod slot;
mod tagged;
mod values;

pub use members::{Member, ReadMembers, Rule, Shape, Take, TakeFields, WriteMembers};
pub use piece::{Piece, Write, WriteEntries, WriteList, write};
pub use serde;
pub use slot::{
    FromText, OneOrMany, Read, ReadEntries, ReadList, Slot, Tagged, Via, from_str, read,
};
pub(crate) use slot::{read_text, unknown_text};

pub use crate::{members, read_and_written, read_via, written_as_content, written_via};
