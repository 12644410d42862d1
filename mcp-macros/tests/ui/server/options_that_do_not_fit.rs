use mcp_macros::server;
use mcp_server::Progress;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn wait(#[arg(default, range = 1..)] progress: Progress) {
        drop(progress);
    }

    #[tool]
    fn name(#[arg(range = 1..=10)] name: String) -> String {
        name
    }

    #[tool]
    fn count(#[arg(default = "ten")] count: u32) -> u32 {
        count
    }
}

fn main() {
    let _ = Desk::tools();
}
