use mcp_macros::{server, tools};

#[server(crate = mcp_server)]
struct Desk;

#[tools(crate = mcp_server)]
impl Default for Desk {
    fn default() -> Self {
        Self
    }
}

#[tools(crate = mcp_server)]
impl Desk {
    fn forgotten(&self) {}
}

fn main() {
    Desk::default().forgotten();
}
