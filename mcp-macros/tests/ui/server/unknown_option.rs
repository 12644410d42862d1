use mcp_macros::server;

struct Desk;

#[server(crate = mcp_server, nme = "desk")]
impl Desk {
    #[tool(readonly, cached)]
    fn add(&self, #[arg(min = 1)] a: f64, #[arg(range = 5)] b: f64) -> f64 {
        a + b
    }

    #[tool(read_only = "yes", name = "add numbers")]
    fn sum(&self, #[arg(header = "my region")] a: String) -> String {
        a
    }

    #[tool = "title"]
    fn title(&self) {}

    #[tool(meta = "team", icon)]
    fn extras(&self) {}
}

struct Clock;

#[server(crate = mcp_server, routes = tools, name = "clock", icon)]
impl Clock {
    #[tool]
    fn now() {}
}

#[server(crate = mcp_server, routes = "more")]
impl Clock {
    #[tool]
    fn later() {}
}

fn main() {
    let _ = mcp_server::Server::of(Desk);
}
