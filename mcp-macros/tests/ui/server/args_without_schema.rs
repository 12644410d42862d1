//! Arguments in a struct that has only one of the two derives.

use mcp::prelude::*;

#[derive(serde::Deserialize)]
struct NoSchema {
    text: String,
}

#[derive(schemars::JsonSchema)]
struct NoDeserialize {
    text: String,
}

struct Desk;

#[mcp::server(routes = tools)]
impl Desk {
    #[tool]
    fn schema(&self, Args(all): Args<NoSchema>) -> String {
        all.text
    }

    #[tool]
    fn deserialize(&self, Args(all): Args<NoDeserialize>) -> String {
        all.text
    }
}

fn main() {
    let _ = std::sync::Arc::new(Desk).tools();
}
