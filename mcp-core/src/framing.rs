//! The bytes around a message on a stream.

/// The bytes that a transport writes around every message: a line break, or the fields of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Framing {
    /// The bytes before a message.
    pub prefix: &'static [u8],
    /// The bytes after a message.
    pub suffix: &'static [u8],
}

impl Framing {
    /// A frame with a prefix and a suffix.
    pub const fn new(prefix: &'static [u8], suffix: &'static [u8]) -> Self {
        Self { prefix, suffix }
    }
}
