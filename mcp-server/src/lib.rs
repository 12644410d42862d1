//! mcp-server.
