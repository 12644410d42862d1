//! Where a list goes on, as text.
//!
//! A cursor holds the number that the last item of the page was given when it was registered, so
//! items that come or go between two pages move no other. It grants nothing: what a caller may not
//! see is left out of every page.

use mcp_types::Cursor;

use super::Kind;

/// The cursor behind the item with a number.
pub(super) fn write(kind: Kind, after: u64) -> Cursor {
    let (letter, sum) = (letter(kind), sum(kind, after));
    Cursor::new(format!("{letter}{after:x}-{sum:08x}"))
}

/// The number of the item before; `None` when this is no cursor of such a list.
// spec: PAG-05
pub(super) fn read(kind: Kind, cursor: &Cursor) -> Option<u64> {
    let (after, _) = cursor
        .as_str()
        .strip_prefix(letter(kind))?
        .split_once('-')?;
    let after = u64::from_str_radix(after, 16).ok()?;
    (write(kind, after) == *cursor).then_some(after)
}

fn letter(kind: Kind) -> char {
    match kind {
        Kind::Tool => 't',
        Kind::Resource => 'r',
        Kind::Template => 'u',
        Kind::Prompt => 'p',
    }
}

/// A check sum (FNV-1a): cursors are not to be made by hand.
fn sum(kind: Kind, after: u64) -> u32 {
    let bytes = after.to_be_bytes();
    let bytes = bytes.into_iter().chain([letter(kind) as u8]);
    bytes.fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use mcp_types::Cursor;

    use super::{Kind, read, write};

    #[test]
    fn reads_what_it_wrote_for_the_same_list_alone() {
        let kinds = [Kind::Tool, Kind::Resource, Kind::Template, Kind::Prompt];
        for after in [0, 1, 255, u64::MAX] {
            for kind in kinds {
                let cursor = write(kind, after);
                for other in kinds {
                    let expected = (other == kind).then_some(after);
                    assert_eq!(read(other, &cursor), expected, "{cursor:?}");
                }
            }
        }
    }

    #[test]
    fn refuses_what_was_changed() {
        let cursor = write(Kind::Tool, 0x1f);
        let text = cursor.as_str();
        for (at, _) in text.char_indices() {
            for replacement in ["0", "F", "+", "é", ""] {
                let mut changed = text.to_owned();
                changed.replace_range(at..=at, replacement);
                if changed != text {
                    let cursor = Cursor::new(changed);
                    assert_eq!(read(Kind::Tool, &cursor), None, "{cursor:?}");
                }
            }
        }
        for broken in ["", "t", "t-", "1f", "t1f", "T1f-0", "null"] {
            assert_eq!(read(Kind::Tool, &Cursor::new(broken)), None, "{broken}");
        }
    }
}
