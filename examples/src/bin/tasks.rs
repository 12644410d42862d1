//! A long render as a task: one client starts it and ends, another one takes the result up again.
//!
//! `cargo run -p examples --bin tasks`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::time::Duration;

use futures_util::StreamExt;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::tasks::Tasks;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::sleep;

struct Studio;

#[mcp::server]
impl Studio {
    /// Renders a scene, frame by frame.
    #[tool(task = "after 200ms")]
    async fn render(&self, scene: String, frames: u32, progress: Progress) -> String {
        for frame in 1..=frames {
            sleep(Duration::from_millis(300)).await;
            let message = format!("frame {frame} of {frames}");
            progress.report(frame.into(), frames.into(), message).await;
        }
        format!("{scene}.mp4")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let tasks = Tasks::in_memory().poll_interval(Duration::from_millis(500));
    let server = Server::of(Studio).tasks(tasks);
    let serving = tokio::spawn(Serve::new(server).run(listener));

    let id = start(&url).await?;
    println!("the first client has started the task {id} and ends");
    println!(
        "the second client has received {}",
        finish(&url, &id).await?
    );
    serving.abort();
    Ok(())
}

/// Starts the render. Returns its task's id, which a program would store.
async fn start(url: &str) -> mcp::Result<String> {
    let client = Client::builder().tasks().connect(url).await?;
    let args = json!({"scene": "dawn", "frames": 8});
    let task = client.call("render", args).start().await?;
    let id = task.id().unwrap_or_default().to_owned();
    client.close().await?;
    Ok(id)
}

/// Follows a task that another client has started.
async fn finish(url: &str, id: &str) -> mcp::Result<String> {
    let client = Client::builder().tasks().connect(url).await?;
    let task = client.task(id).await?;
    let mut updates = task.updates();
    while let Some(update) = updates.next().await {
        let task = update?;
        let message = task.status_message.unwrap_or_default();
        println!("{}: {message}", task.status);
    }
    let result = task.result().await?;
    client.close().await?;
    Ok(result.text())
}
