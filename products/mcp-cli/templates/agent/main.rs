//! An agent: a loop between a language model and the tools of the servers in `mcp.json`.
//!
//! `ANTHROPIC_API_KEY=… MODEL=… cargo run -- "Which tools do you have?"`

use std::env;
use std::io::{Error, Write as _};

use mcp::Group;
use mcp::toolset::{Answer, Approval, ProposedCall, Provider, Tokens, ToolSet};
use serde_json::{Value, json};

/// Runs the model until it replies without a call. Another provider needs another [`Provider`] and shapes of messages.
async fn run(
    tools: &ToolSet,
    task: &str,
    model: impl AsyncFn(Value) -> mcp::Result<Value>,
) -> mcp::Result<String> {
    let mut messages = vec![json!({"role": "user", "content": task})];
    for _ in 0..50 {
        let definitions = tools.definitions(Provider::Anthropic).await?;
        let reply = model(json!({"messages": messages, "tools": definitions})).await?;
        let results = tools.run(Provider::Anthropic, &reply).await?;
        if results.is_empty() {
            let blocks = reply["content"].as_array().into_iter().flatten();
            return Ok(blocks.filter_map(|block| block["text"].as_str()).collect());
        }
        messages.push(json!({"role": "assistant", "content": reply["content"]}));
        messages.push(json!({"role": "user", "content": results}));
    }
    Err(Error::other("the model has not finished in 50 turns").into())
}

/// Sends a request to the model. The key and the name of the model are environment variables.
async fn ask_anthropic(mut request: Value) -> mcp::Result<Value> {
    let variable = |name: &str| env::var(name).map_err(|_| Error::other(format!("set {name}")));
    request["model"] = variable("MODEL")?.into();
    request["max_tokens"] = 4096.into();
    let post = reqwest::Client::new().post("https://api.anthropic.com/v1/messages");
    let post = post.header("x-api-key", variable("ANTHROPIC_API_KEY")?);
    let post = post.header("anthropic-version", "2023-06-01");
    let post = post.header("content-type", "application/json");
    let reply = async { post.body(request.to_string()).send().await?.bytes().await };
    let reply: Value = serde_json::from_slice(&reply.await.map_err(Error::other)?)?;
    match reply.get("error") {
        Some(error) => Err(Error::other(error.to_string()).into()),
        None => Ok(reply),
    }
}

/// Asks the user about a call that may change something.
async fn confirm(call: ProposedCall) -> Answer {
    let line = tokio::task::spawn_blocking(move || {
        eprint!("{} {} [y/N] ", call.tool.name, call.arguments);
        std::io::stderr().flush()?;
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    match line.await {
        Ok(Ok(line)) if line.trim() == "y" => Answer::Once,
        _ => Answer::Deny,
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let group = Group::load("mcp.json")?;
    let tools = ToolSet::from(&group)
        .approve(Approval::by_annotations().ask(confirm))
        .result_budget(Tokens(20_000));
    let task = env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", run(&tools, &task, ask_anthropic).await?);
    group.close().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use mcp::Group;
    use mcp::toolset::ToolSet;
    use serde_json::json;

    struct Shout;

    #[mcp::server]
    impl Shout {
        /// Shouts.
        #[tool(read_only)]
        fn upper(&self, text: String) -> String {
            text.to_uppercase()
        }
    }

    #[tokio::test]
    async fn result_from_the_tool_reaches_the_model() -> mcp::Result<()> {
        let group = Group::builder()
            .server("shout", || mcp_testing::connect(Shout))
            .build();
        // A script in place of the model: a call, and then a sentence with its result.
        let model = async |request: serde_json::Value| {
            assert_eq!(request["tools"][0]["name"], "shout__upper");
            let content = match &request["messages"][2]["content"][0]["content"] {
                serde_json::Value::Null => {
                    json!({"type": "tool_use", "id": "1", "name": "shout__upper", "input": {"text": "hey"}})
                }
                result => {
                    json!({"type": "text", "text": format!("It says {}.", result[0]["text"])})
                }
            };
            Ok(json!({"content": [content]}))
        };
        let answer = super::run(&ToolSet::from(&group), "Shout hey.", model).await?;
        assert_eq!(answer, "It says \"HEY\".");
        Ok(())
    }
}
