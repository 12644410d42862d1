//! Objects of the kind that their member `type` says, which may stand anywhere among the others.

use serde::de::{Error, MapAccess};

use super::slot::{Slot, Tagged, read_members, read_text};
use crate::JsonObject;
use crate::reread::reason;
use crate::text::Str;

/// Reads the members as they come where the tag is the first of them. Else they are kept until it
/// comes, and read again.
pub(super) fn read<'de, A: MapAccess<'de>>(
    place: &mut dyn Tagged,
    mut map: A,
) -> Result<(), A::Error> {
    let mut before = JsonObject::new();
    while let Some(Str(key)) = map.next_key()? {
        if key != "type" {
            before.insert(key.into_owned(), map.next_value()?);
            continue;
        }
        let Str(kind) = map.next_value()?;
        if before.is_empty() {
            return read_rest(place.choose(&kind), &mut map);
        }
        before.shift_insert(0, "type".to_owned(), kind.into());
        keep(&mut before, &mut map)?;
        return read_again(place, &before).map_err(A::Error::custom);
    }
    Err(A::Error::missing_field("type"))
}

fn read_rest<'de, A: MapAccess<'de>>(slot: Slot<'_>, map: &mut A) -> Result<(), A::Error> {
    match slot {
        Slot::Members(members) => read_members(members, map),
        Slot::Object(members) => keep(members, map),
        Slot::Via(place) => {
            let mut done = Ok(());
            let made = place.read(&mut |slot| {
                done = read_rest(slot, map);
                done.is_ok()
            });
            done?;
            made.map_err(A::Error::custom)
        }
        _ => Ok(()),
    }
}

fn keep<'de, A: MapAccess<'de>>(members: &mut JsonObject, map: &mut A) -> Result<(), A::Error> {
    while let Some((key, value)) = map.next_entry()? {
        members.insert(key, value);
    }
    Ok(())
}

/// Reads an object whose tag comes first now.
fn read_again(place: &mut dyn Tagged, members: &JsonObject) -> Result<(), String> {
    let text = serde_json::to_string(members);
    let read = text.and_then(|text| read_text(&text, Slot::Tagged(place)));
    read.map_err(|error| reason(&error))
}
