//! How the types of this crate are written and read: not by code for each type and each serializer,
//! but by one writer and one reader that ask a value what it consists of ([`Piece`]) or where its parts
//! go ([`Slot`]).
//!
//! What a type adds is a list of its members ([`members!`]) and a few tables. `derive` would write
//! both directions anew for every type, and compile them in every crate that writes or reads it.

mod members;
mod piece;
mod slot;
mod tagged;
mod values;

pub(crate) use members::{
    Member, ReadMembers, Rule, Shape, Take, TakeFields, WriteMembers, members, read_and_written,
    read_via, written_as_content, written_via,
};
pub(crate) use piece::{Piece, Write, WriteEntries};
pub(crate) use slot::{
    FromText, OneOrMany, Read, ReadEntries, Slot, Tagged, Via, read, read_text, unknown_text,
};
