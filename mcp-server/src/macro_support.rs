//! What the macros of `mcp-macros` write calls to. Not part of the public interface.
