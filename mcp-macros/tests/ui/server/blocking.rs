use mcp_macros::{server, tool};

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool(blocking)]
    async fn read() -> String {
        String::new()
    }

    #[tool(blocking = "yes")]
    fn count() -> u32 {
        7
    }
}

#[tool(crate = mcp_server, blocking)]
async fn write() {}

fn main() {
    let _ = Desk::tools();
}
