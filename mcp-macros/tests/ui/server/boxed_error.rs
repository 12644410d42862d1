//! Results with the error type that `main` often has.

use std::error::Error;

use mcp::prelude::*;

struct Desk;

#[mcp::server(routes = tools)]
impl Desk {
    #[tool]
    async fn sum(&self, text: String) -> Result<f64, Box<dyn Error>> {
        Ok(text.parse::<f64>()?)
    }

    #[resource("desk://{id}")]
    fn read(&self, id: u64) -> Result<String, Box<dyn Error>> {
        Ok(id.to_string())
    }
}

#[mcp::tool]
fn free(text: String) -> Result<f64, Box<dyn Error>> {
    Ok(text.parse::<f64>()?)
}

fn main() {
    let _ = Tool::new("by_hand").handler(|| Ok::<_, Box<dyn Error>>(1.0));
    let _ = std::sync::Arc::new(Desk).tools();
    let _ = Server::new("s", "1").tool(free);
}
