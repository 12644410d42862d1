//! Handlers without macros: parameters that are not extractors, results that are not results of tools.

use mcp_server::{Args, PromptExt, ResourceExt, ToolExt};
use mcp_types::{Prompt, Resource, Tool};

#[derive(serde::Deserialize)]
struct NoSchema {
    text: String,
}

fn main() {
    let _ = Tool::new("add").handler(|a: f64, b: f64| a + b);
    let _ = Tool::new("show").handler(|Args(it): Args<NoSchema>| it.text);
    let _ = Resource::new("desk://a").read(|| 1_u32);
    let _ = Prompt::new("greet").handler(|| async { Some("Hello") });
}
