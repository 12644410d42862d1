//! mcp-client.
