//! The macro `mcp::client!`.

#[cfg(test)]
mod calls;
#[cfg(test)]
mod ui;
