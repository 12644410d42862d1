//! Functions with two parameters that take all arguments.

use mcp_server::{Args, RawArgs};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

struct Desk;

#[mcp_macros::server(crate = mcp_server, routes = tools)]
impl Desk {
    #[tool]
    fn twice(Args(a): Args<Text>, Args(b): Args<Text>) -> String {
        a.text + &b.text
    }

    #[prompt]
    fn also_raw(Args(a): Args<Text>, _raw: RawArgs) -> String {
        a.text
    }
}

fn main() {
    let _ = Desk::tools();
}
