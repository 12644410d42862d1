//! The servers.

use std::io::BufRead as _;

use bench::Failure;
use bench::arguments::Echo;
use mcp::prelude::*;
use mcp::types::{FormSchema, StringSchema};
use serde_json::{Value, json};
use tokio::runtime;

use crate::peer::{Kind, Peer};

/// Runs the server of a kind until its input ends.
pub(crate) fn run(kind: &str) -> Result<(), Failure> {
    if kind == "modern" {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        return Ok(runtime.block_on(mcp::serve_stdio(modern()))?);
    }
    let peer = Peer::start(Kind::parse(kind).ok_or("unknown kind of server")?);
    for line in std::io::stdin().lock().split(b'\n') {
        let message = serde_json::from_slice(&line?).unwrap_or(Value::Null);
        peer.receive(&message)?;
    }
    Ok(())
}

/// A server of both eras whose tools ask, wait forever and announce changes.
fn modern() -> Server {
    Server::new("modern", env!("CARGO_PKG_VERSION"))
        .tool(
            Tool::new("echo").handler(async |Args(echo): Args<Echo>, notify: Notify| {
                notify.tools_changed();
                notify.prompts_changed();
                echo.message
            }),
        )
        .tool(Tool::new("ask").handler(async |ask: Ask| {
            let form = FormSchema::new().required("word", StringSchema::new());
            let answer = ask.raw_form("word", "Which word?", form).await?;
            Ok::<_, ToolError>(format!("{answer:?}"))
        }))
        .tool(Tool::new("wait").handler(async || {
            std::future::pending::<()>().await;
            json!({})
        }))
}
