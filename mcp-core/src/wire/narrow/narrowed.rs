//! The trait of values that can be narrowed.

use std::borrow::Cow;

use mcp_types::ProtocolVersion;

/// Removes from a value the fields that a revision does not have.
pub(in crate::wire) trait Narrow {
    fn narrow(&mut self, to: ProtocolVersion);
}

/// Returns a copy without the fields that a revision does not have.
pub(in crate::wire) fn narrowed<T: Narrow + Clone>(value: &T, to: ProtocolVersion) -> T {
    let mut value = value.clone();
    value.narrow(to);
    value
}

/// Returns the value without the fields that a revision does not have. Copies it only when `fits`
/// returns false.
pub(in crate::wire) fn fitting<T: Narrow + Clone>(
    value: &T,
    to: ProtocolVersion,
    fits: impl FnOnce(&T) -> bool,
) -> Cow<'_, T> {
    if fits(value) {
        Cow::Borrowed(value)
    } else {
        Cow::Owned(narrowed(value, to))
    }
}
