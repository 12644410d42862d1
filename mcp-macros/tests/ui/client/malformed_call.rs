//! The macro without a module.

mcp::client!("shop.json");
mcp::client!(shop, mod shop);
mcp::client!("shop.json", shop);

fn main() {}
