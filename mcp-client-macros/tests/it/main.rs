//! The macro `mcp::client!`.

#[cfg(test)]
mod calls;
