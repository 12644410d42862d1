//! List cursors.
//!
//! A cursor contains the registration number of the last item of the previous page, so items that are
//! added or removed between two pages do not move others. It grants no access: every page omits items
//! that the caller may not see.

use mcp_types::Cursor;

use super::listed::ListKind;

/// Returns the page's cursor after the item with number `after`.
pub(super) fn write(kind: ListKind, after: u64) -> Cursor {
    let (letter, checksum) = (letter(kind), checksum(kind, after));
    Cursor::new(format!("{letter}{after:x}-{checksum:08x}"))
}

/// Returns the number of the last item before the page. Returns `None` for a malformed cursor and for
/// one of another list.
// spec: PAG-05
pub(super) fn read(kind: ListKind, cursor: &Cursor) -> Option<u64> {
    let (after, _) = cursor
        .as_str()
        .strip_prefix(letter(kind))?
        .split_once('-')?;
    let after = u64::from_str_radix(after, 16).ok()?;
    (write(kind, after) == *cursor).then_some(after)
}

fn letter(kind: ListKind) -> char {
    match kind {
        ListKind::Tool => 't',
        ListKind::Resource => 'r',
        ListKind::Template => 'u',
        ListKind::Prompt => 'p',
    }
}

/// Returns an FNV-1a checksum, which detects cursors that a client has constructed.
fn checksum(kind: ListKind, after: u64) -> u32 {
    let bytes = after.to_be_bytes();
    let bytes = bytes.into_iter().chain([letter(kind) as u8]);
    bytes.fold(0x811c_9dc5, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use mcp_types::Cursor;

    use super::{ListKind, read, write};

    #[test]
    fn written_cursor_is_read_for_same_list_only() {
        let kinds = [
            ListKind::Tool,
            ListKind::Resource,
            ListKind::Template,
            ListKind::Prompt,
        ];
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
    fn changed_cursor_is_rejected() {
        let cursor = write(ListKind::Tool, 0x1f);
        let text = cursor.as_str();
        for (at, _) in text.char_indices() {
            for replacement in ["0", "F", "+", "é", ""] {
                let mut changed = text.to_owned();
                changed.replace_range(at..=at, replacement);
                if changed != text {
                    let cursor = Cursor::new(changed);
                    assert_eq!(read(ListKind::Tool, &cursor), None, "{cursor:?}");
                }
            }
        }
        for broken in ["", "t", "t-", "1f", "t1f", "T1f-0", "null"] {
            assert_eq!(read(ListKind::Tool, &Cursor::new(broken)), None, "{broken}");
        }
    }
}
