use mcp_macros::Output;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Serialize, Output)]
#[output(crate = mcp_server)]
struct Sum {
    total: f64,
}

#[derive(JsonSchema, Output)]
#[output(crate = mcp_server)]
struct Difference {
    total: f64,
}

fn main() {}
