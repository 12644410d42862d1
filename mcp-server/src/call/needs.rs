//! Resources that a handler needs while it runs.

/// Resources that a handler needs while it runs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HandlerNeeds {
    /// The handler asks its client.
    pub(crate) input_round: bool,
    /// The handler waits for the end of the call.
    pub(crate) close_signal: bool,
}
