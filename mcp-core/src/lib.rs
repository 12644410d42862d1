//! mcp-core.
