//! Collects the data of a body.

use bytes::{Buf, BufMut, Bytes};

/// The data of a body so far. Data in one piece is not copied.
#[derive(Default)]
pub(crate) struct BodyBuffer {
    first: Bytes,
    whole: Vec<u8>,
}

impl BodyBuffer {
    pub(crate) fn len(&self) -> usize {
        self.first.len().max(self.whole.len())
    }

    /// Appends data, and reserves space for the `rest` of the body.
    pub(crate) fn push(&mut self, mut data: impl Buf, rest: usize) {
        let size = data.remaining();
        if self.first.is_empty() {
            self.first = data.copy_to_bytes(size);
            return;
        }
        if self.whole.is_empty() {
            self.whole.reserve(self.first.len() + size + rest);
            self.whole.extend_from_slice(&self.first);
        }
        self.whole.put(data);
    }

    pub(crate) fn into_bytes(self) -> Bytes {
        if self.whole.is_empty() {
            self.first
        } else {
            self.whole.into()
        }
    }
}
