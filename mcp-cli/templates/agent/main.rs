//! An agent without a language model: it connects to an `mcp.json`'s servers, lists their tools, and calls one.
//!
//! `cargo run -- [mcp.json [TOOL [ARGUMENTS]]]`

use std::env;
use std::io::Error;

use mcp::Group;
use mcp::group::GroupConfig;
use mcp::prelude::*;
use serde_json::{Map, Value};

/// Loads a file's servers. A server starts when it is first needed.
fn load(path: &str) -> mcp::Result<Group> {
    let client = Client::builder().identity(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let config = GroupConfig::read(path).map_err(Error::other)?;
    Ok(Group::builder().config(config, client).build())
}

/// Lists the tools of all servers, as a language model would see them.
async fn describe(group: &Group) -> Vec<String> {
    let tools = group.list_tools().await;
    for (server, error) in &tools.failures {
        eprintln!("{server}: {error}");
    }
    let lines = tools.items.iter().map(|tool| {
        let description = tool.item.description.as_deref().unwrap_or_default();
        format!("{}: {description}", tool.name)
    });
    lines.collect()
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut arguments = env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "mcp.json".to_owned());
    let group = load(&path)?;
    match arguments.next() {
        Some(tool) => {
            let text = arguments.next().unwrap_or_else(|| "{}".to_owned());
            let input: Map<String, Value> = serde_json::from_str(&text).map_err(Error::other)?;
            println!("{}", group.call(&tool, input).await?.text());
        }
        None => println!("{}", describe(&group).await.join("\n")),
    }
    group.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp::Group;
    use serde_json::json;

    use super::describe;

    struct Shout;

    #[mcp::server]
    impl Shout {
        /// Shouts.
        #[tool]
        fn upper(&self, text: String) -> String {
            text.to_uppercase()
        }
    }

    #[tokio::test]
    async fn tools_of_the_group_are_listed_and_called() -> mcp::Result<()> {
        let group = Group::builder()
            .server("shout", || mcp_testing::connect(Shout))
            .build();
        assert_eq!(describe(&group).await, ["shout__upper: Shouts."]);
        let reply = group.call("shout__upper", json!({"text": "hey"})).await?;
        assert_eq!(reply.text(), "HEY");
        Ok(())
    }
}
