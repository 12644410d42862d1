//! The size of a value that is validated.

use serde_json::Value;

/// The maximum depth of a JSON value, which the parser enforces.
pub(super) const MAX_LEVELS: usize = 128;
/// Values that are compared in one unit of work.
const COMPARED_PER_UNIT: u64 = 64;

/// The size of a value that is validated.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// The number of values, the value itself included.
    pub(super) values: u64,
    /// The maximum number of levels below the value.
    pub(super) depth: usize,
    pub(super) string_bytes: u64,
    pub(super) key_bytes: u64,
    /// The work in units if `uniqueItems` is evaluated on each array.
    ///
    /// Scalars are found by their hash. Other items are, too, but the hash ignores how their arrays are
    /// nested, so that each can be compared with all others.
    pub(super) unique: u64,
}

impl Size {
    pub(super) fn of(value: &Value) -> Self {
        let mut size = Self::default();
        size.add(value, 0);
        size
    }

    /// The number of values and bytes that a comparison with all of them takes.
    fn compared(self) -> u64 {
        self.values + (self.string_bytes + self.key_bytes) / 16
    }

    fn add(&mut self, value: &Value, depth: usize) {
        let before = self.compared();
        self.values += 1;
        self.depth = self.depth.max(depth);
        match value {
            // A deeper value is not traversed.
            _ if depth > MAX_LEVELS => {}
            Value::String(text) => self.string_bytes += text.len() as u64,
            Value::Array(elements) => {
                let mut nested = 0;
                for element in elements {
                    nested += u64::from(element.is_array() || element.is_object());
                    self.add(element, depth + 1);
                }
                let compared = (self.compared() - before).saturating_mul(1 + nested);
                self.unique = self.unique.saturating_add(compared / COMPARED_PER_UNIT);
            }
            Value::Object(members) => {
                for (name, member) in members {
                    self.key_bytes += name.len() as u64;
                    self.add(member, depth + 1);
                }
            }
            _ => {}
        }
    }
}
