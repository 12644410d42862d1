use mcp_macros::server;

struct Sum {
    total: f64,
}

struct Failure;

struct Desk;

#[server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn sum(&self, a: f64, b: f64) -> Sum {
        Sum { total: a + b }
    }

    #[tool]
    async fn try_sum(&self) -> Result<f64, Failure> {
        Err(Failure)
    }
}

fn main() {
    let _ = std::sync::Arc::new(Desk).tools();
}
