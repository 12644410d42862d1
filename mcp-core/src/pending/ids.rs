//! RequestIds for requests of our own.

use mcp_types::RequestId;

/// Makes the ids of one side of a connection: 1, 2, 3 and so on, so that none comes twice. The two
/// sides count apart from each other.
///
/// The progress token of a request is its id as well: progress finds its request without a table
/// of its own.
// spec: BASE-04, PROG-01
#[derive(Debug, Clone, Default)]
pub struct RequestIds {
    /// Before the first one.
    start: i64,
    last: i64,
}

impl RequestIds {
    /// The ids from 1 on.
    pub fn new() -> Self {
        Self::default()
    }

    /// The ids after `start`: for several makers of which none may make what another one makes.
    pub fn starting_after(start: i64) -> Self {
        Self { start, last: start }
    }

    /// The next id.
    pub fn next_id(&mut self) -> RequestId {
        self.last = self.last.wrapping_add(1);
        self.last.into()
    }

    /// This id was made here: what carries it is late, not foreign.
    pub(crate) fn contains(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Number(number) if *number > self.start && *number <= self.last)
    }
}
