//! mcp-testing.
