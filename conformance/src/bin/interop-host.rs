//! A host of MCP Apps, and a server that posts events, for tests with programs of other authors.
//!
//! `interop-host view PROGRAM…` starts a view whose messages are lines of its standard streams.
//! `interop-host webhook PROGRAM…` starts a receiver of webhooks, with a secret as its last argument. Both
//! print `ok`, or fail.

#![allow(clippy::print_stdout, reason = "prints the result")]

use std::error::Error;
use std::process::Stdio;
use std::time::Duration;

use futures_util::{sink, stream};
use mcp::apps::{DisplayMode, HostBridge, HostContext, Theme};
use mcp::core::Principal;
use mcp::events::{
    EventClient, EventQuery, EventType, Events, HttpWebhooks, SystemResolver, WebhookSecret,
    WebhookTarget, Webhooks, Zone,
};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

type Failure = Box<dyn Error + Send + Sync>;

/// Time limit of each step.
const LIMIT: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, program @ ..] = &*arguments else {
        return Err("use: interop-host view|webhook PROGRAM…".into());
    };
    match &**mode {
        "view" => host_view(start(program, None)?).await?,
        "webhook" => {
            let secret = WebhookSecret::generate()?;
            let child = start(program, Some(&secret))?;
            post_webhooks(child, secret).await?;
        }
        other => return Err(format!("unknown mode {other:?}").into()),
    }
    println!("ok");
    Ok(())
}

fn start(program: &[String], secret: Option<&WebhookSecret>) -> Result<Child, Failure> {
    let (name, arguments) = program.split_first().ok_or("the program is missing")?;
    let mut command = Command::new(name);
    command
        .args(arguments)
        .args(secret.map(WebhookSecret::expose));
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    Ok(command.spawn()?)
}

/// A client of a server with a tool for views, and one for the model only.
async fn client() -> Result<Client, Failure> {
    let server = Server::new("weather", "1.0.0")
        .tool(Tool::new("secret").model_only().handler(|| "for models"))
        .tool(Tool::new("refresh").app_only().handler(|| "for views"))
        .resource(Resource::new("data://1").read(|| "some data"));
    Ok(Client::connect(mcp::InProcess(server)).await?)
}

async fn host_view(mut child: Child) -> Result<(), Failure> {
    let stdout = BufReader::new(child.stdout.take().ok_or("no stdout")?).lines();
    let stdin = child.stdin.take().ok_or("no stdin")?;
    let incoming = stream::unfold(stdout, async |mut lines| {
        let line = lines.next_line().await.ok()??;
        Some((line, lines))
    });
    let outgoing = sink::unfold(stdin, async |mut stdin, mut line: String| {
        line.push('\n');
        stdin.write_all(line.as_bytes()).await?;
        stdin.flush().await?;
        Ok::<_, std::io::Error>(stdin)
    });
    let (sender, mut steps) = mpsc::channel::<String>(16);
    let report = move |step: String| {
        // Fails if a step repeats without end.
        let _ = sender.try_send(step);
    };
    let (link, message, log, size) = (report.clone(), report.clone(), report.clone(), report);
    let bridge = HostBridge::new("interop-host", "1.0.0")
        .context(HostContext::new().theme(Theme::Dark))
        .serve(client().await?)
        .with_model_context()
        .on_open_link(move |url| {
            link(format!("link {url}"));
            async { Ok(()) }
        })
        .on_message(move |it| {
            message(format!(
                "message {}",
                it.content[0].as_text().unwrap_or_default()
            ));
            async { Ok(()) }
        })
        .on_display_mode(&[DisplayMode::Fullscreen], async |mode| mode)
        .on_log(move |it| log(format!("log {}", it.data)))
        .on_size(move |it| size(format!("size {:?}", it.height)));
    let (view, connection) = bridge.connect(incoming, outgoing);
    let connection = tokio::spawn(connection);

    view.send_partial_input(&json!({"city": "Ro"})).await?;
    view.send_input(&json!({"city": "Rome"})).await?;
    view.send_result(&CallToolResult::from_text("sunny"))
        .await?;
    view.send_context(&HostContext::new().locale("it")).await?;
    let expected = [
        "link https://example.com/",
        "message hello",
        "log \"all checks passed\"",
        "size Some(200.0)",
    ];
    for expected in expected {
        let step = timeout(LIMIT, steps.recv())
            .await?
            .ok_or("the view has ended")?;
        if step != expected {
            return Err(format!("{step:?} instead of {expected:?}").into());
        }
    }
    let context = view.take_model_context().ok_or("no model context")?;
    if context.structured_content.map(serde_json::Value::Object) != Some(json!({"zoom": 3})) {
        return Err("another model context".into());
    }
    let tools = view.list_tools().await?;
    let params = mcp::types::CallToolParams::new(&*tools[0].name, None);
    if view.call_tool(&params).await?.text() != "called zoom" {
        return Err("another result of the view's tool".into());
    }
    view.teardown("finished").await?;
    timeout(LIMIT, connection).await???;
    Ok(())
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Order {
    number: u64,
}

async fn post_webhooks(mut child: Child, secret: WebhookSecret) -> Result<(), Failure> {
    let mut lines = BufReader::new(child.stdout.take().ok_or("no stdout")?).lines();
    let first = next_line(&mut lines).await?;
    let port = first.strip_prefix("port ").ok_or("no port")?;
    let transport = HttpWebhooks::with_resolver(Zone::Loopback, SystemResolver)?;
    let events = Events::new()
        .event(EventType::<Order>::new("order.placed").webhook())
        .webhooks(Webhooks::new(transport));
    let server = Server::new("shop", "1.0.0").extension(events.clone());
    let server = server.layer(from_fn(|mut exchange: Exchange, next: Next| async move {
        exchange.extensions.insert(Principal::new("interop", "ada"));
        next.run(exchange).await
    }));
    let builder = Client::builder().extension(Events::new());
    let client = builder.connect(mcp::InProcess(server)).await?;
    let client = EventClient::new(&client)?;
    let url = format!("http://127.0.0.1:{port}/");
    let query = || EventQuery::new("order.placed");
    client
        .subscribe(query(), &WebhookTarget::new(&*url, secret.clone()))
        .await?;
    events.publish(&Order { number: 7 }).await?;
    expect(
        &next_line(&mut lines).await?,
        "verified: order.placed {\"number\":7}",
    )?;
    // The receiver still knows the earlier secret only.
    let new = WebhookSecret::generate()?;
    client
        .subscribe(query(), &WebhookTarget::new(&*url, new))
        .await?;
    events.publish(&Order { number: 8 }).await?;
    expect(
        &next_line(&mut lines).await?,
        "verified: order.placed {\"number\":8}",
    )?;
    Ok(())
}

async fn next_line(lines: &mut Lines<BufReader<ChildStdout>>) -> Result<String, Failure> {
    let line = timeout(LIMIT, lines.next_line()).await??;
    Ok(line.ok_or("the receiver has ended")?)
}

fn expect(line: &str, expected: &str) -> Result<(), Failure> {
    match line == expected {
        true => Ok(()),
        false => Err(format!("{line:?} instead of {expected:?}").into()),
    }
}
