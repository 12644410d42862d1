//! A snapshot that does not exist.

mcp::client!("no-such-file.json", mod shop);

fn main() {}
