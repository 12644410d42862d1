//! The bytes around a message on a stream.

/// The bytes that a transport writes around every message: a line break, or an event's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "transports construct it")]
pub struct Framing {
    /// The bytes before a message.
    pub prefix: &'static [u8],
    /// The bytes after a message.
    pub suffix: &'static [u8],
}

/// The frame around a line, for channels without a byte stream of their own.
pub(crate) const LINE_FRAMING: Framing = Framing {
    prefix: b"",
    suffix: b"\n",
};
