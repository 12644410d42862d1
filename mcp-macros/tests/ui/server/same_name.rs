use mcp_macros::server;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn add(a: f64, b: f64) -> f64 {
        a + b
    }

    #[tool(name = "add")]
    fn sum(a: f64, b: f64) -> f64 {
        a + b
    }
}

fn main() {
    let _ = Desk::tools();
}
