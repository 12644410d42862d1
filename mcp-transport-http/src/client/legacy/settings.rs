//! Options of a channel that concern sessions.

/// Options of a channel that concern sessions. Both are on by default.
#[derive(Debug, Clone, Copy)]
pub(in crate::client) struct SessionSettings {
    /// Opens the standalone GET stream once the session is initialized.
    pub(in crate::client) standalone: bool,
    /// Tries HTTP+SSE of 2024-11-05 when the server refuses Streamable HTTP.
    pub(in crate::client) http_sse: bool,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            standalone: true,
            http_sse: true,
        }
    }
}
