//! Writing.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Shape, WriteMembers};
use crate::{Blob, JsonObject, Settings};

/// What a value is for a serializer.
pub enum Piece<'a> {
    Null,
    Flag(bool),
    Whole(i64),
    Natural(u64),
    Fraction(f64),
    Text(&'a str),
    Blob(&'a Blob),
    Raw(&'a RawValue),
    Value(&'a Value),
    Object(&'a JsonObject),
    List(&'a dyn WriteList),
    Entries(&'a dyn WriteEntries),
    Members(&'a dyn WriteMembers),
    /// Members behind one that says which kind of object it is.
    Tagged(&'static str, &'a dyn WriteMembers),
}

/// A value that can be written.
pub trait Write {
    fn piece(&self) -> Piece<'_>;

    /// As a member that may be left out, it is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// An array.
pub trait WriteList {
    fn give(&self, take: &mut dyn FnMut(Piece<'_>));
}

/// An object whose names are data.
pub trait WriteEntries {
    fn give(&self, take: &mut dyn FnMut(&str, Piece<'_>));
}

/// Writes JSON behind what `out` holds. What this crate has as types cannot fail: their names are
/// strings, and `out` is memory.
pub fn write(out: &mut Vec<u8>, value: &dyn Write) {
    let mut serializer = serde_json::Serializer::new(out);
    let written = value.piece().serialize(&mut serializer);
    debug_assert!(written.is_ok(), "{written:?}");
}

impl Serialize for Piece<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Piece::Null => serializer.serialize_unit(),
            Piece::Flag(flag) => serializer.serialize_bool(flag),
            Piece::Whole(number) => serializer.serialize_i64(number),
            Piece::Natural(number) => serializer.serialize_u64(number),
            Piece::Fraction(number) => serializer.serialize_f64(number),
            Piece::Text(text) => serializer.serialize_str(text),
            Piece::Blob(blob) => serializer.serialize_str(&blob.to_base64()),
            Piece::Raw(raw) => raw.serialize(serializer),
            Piece::Value(value) => value.serialize(serializer),
            Piece::Object(members) => members.serialize(serializer),
            Piece::List(list) => write_list(list, serializer),
            Piece::Entries(entries) => write_entries(entries, serializer),
            Piece::Members(members) => write_members(None, members, serializer),
            Piece::Tagged(tag, members) => write_members(Some(tag), members, serializer),
        }
    }
}

fn write_list<S: Serializer>(list: &dyn WriteList, serializer: S) -> Result<S::Ok, S::Error> {
    let mut seq = serializer.serialize_seq(None)?;
    let mut written = Ok(());
    list.give(&mut |piece| {
        if written.is_ok() {
            written = seq.serialize_element(&piece);
        }
    });
    written?;
    seq.end()
}

fn write_entries<S: Serializer>(
    entries: &dyn WriteEntries,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    let mut written = Ok(());
    entries.give(&mut |key, piece| {
        if written.is_ok() {
            written = map.serialize_entry(key, &piece);
        }
    });
    written?;
    map.end()
}

fn write_members<S: Serializer>(
    tag: Option<&'static str>,
    members: &dyn WriteMembers,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(tag) = tag {
        map.serialize_entry("type", &Piece::Text(tag))?;
    }
    let mut written = Ok(());
    members.give(&mut |shape, values, other| {
        written = write_each(shape, values, other, &mut map);
    });
    written?;
    map.end()
}

fn write_each<M: SerializeMap>(
    shape: &Shape,
    values: &[&dyn Write],
    other: Option<&Settings>,
    map: &mut M,
) -> Result<(), M::Error> {
    for (member, value) in shape.members.iter().zip(values) {
        if !(member.rule.may_be_left_out() && value.is_absent()) {
            map.serialize_entry(member.key, &value.piece())?;
        }
    }
    for (key, value) in other.into_iter().flat_map(Settings::as_object) {
        map.serialize_entry(key.as_str(), &Piece::Value(value))?;
    }
    Ok(())
}
