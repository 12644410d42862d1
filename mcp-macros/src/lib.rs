//! mcp-macros.
