use mcp_macros::server;

#[server(crate = mcp_server)]
struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Default for Desk {
    fn default() -> Self {
        Self
    }
}

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    fn forgotten(&self) {}
}

fn main() {
    Desk::default().forgotten();
}
