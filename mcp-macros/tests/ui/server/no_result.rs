use mcp_macros::tools;

struct Sum {
    total: f64,
}

struct Failure;

struct Desk;

#[tools(crate = mcp_server)]
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
