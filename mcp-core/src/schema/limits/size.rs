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
        Self::at(value, 0)
    }

    fn at(value: &Value, depth: usize) -> Self {
        let mut size = Self {
            values: 1,
            depth,
            ..Self::default()
        };
        match value {
            // A deeper value is not traversed.
            _ if depth > MAX_LEVELS => {}
            Value::String(text) => size.string_bytes = text.len() as u64,
            Value::Array(elements) => {
                for element in elements {
                    size.add(Self::at(element, depth + 1));
                }
                let nested = elements
                    .iter()
                    .filter(|element| element.is_array() || element.is_object());
                let compared = size
                    .values
                    .saturating_add((size.string_bytes + size.key_bytes) / 16);
                let compared = compared.saturating_mul(1 + nested.count() as u64);
                size.unique += compared / COMPARED_PER_UNIT;
            }
            Value::Object(members) => {
                for (name, member) in members {
                    size.key_bytes += name.len() as u64;
                    size.add(Self::at(member, depth + 1));
                }
            }
            _ => {}
        }
        size
    }

    fn add(&mut self, child: Self) {
        self.values += child.values;
        self.depth = self.depth.max(child.depth);
        self.string_bytes += child.string_bytes;
        self.key_bytes += child.key_bytes;
        self.unique = self.unique.saturating_add(child.unique);
    }
}
