//! The request ids of one side.

use mcp_types::RequestId;

/// A generator of request ids: 1, 2, 3 and so on. Each side of a connection has its own.
///
/// The progress token of a request is its id, so that progress finds the request without another
/// table.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestIds {
    /// The number before the first id.
    start: i64,
    last: i64,
}

impl RequestIds {
    /// A generator that starts at `start + 1`, for several generators with distinct ids.
    pub(crate) fn starting_after(start: i64) -> Self {
        Self { start, last: start }
    }

    /// Returns the next id.
    pub(crate) fn next_id(&mut self) -> RequestId {
        // spec: BASE-04
        self.last = self.last.wrapping_add(1);
        self.last.into()
    }

    /// Returns the number of the id that was made last.
    pub(crate) fn last(&self) -> i64 {
        self.last
    }

    /// Returns true if this generator has made the id. A response with such an id is late rather
    /// than foreign.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Number(number) if *number > self.start && *number <= self.last)
    }
}
