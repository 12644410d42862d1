//! A host of MCP Apps, and a server that posts events, for tests with programs of other authors.
//!
//! `interop-host view PROGRAM…` starts a view whose messages are lines of its standard streams.
//! `interop-host webhook PROGRAM…` starts a receiver of webhooks, with a secret as its last argument. Both
//! print `ok`, or fail.

#![allow(clippy::print_stdout, reason = "prints the result")]

use std::error::Error;
use std::process::Stdio;
use std::time::Duration;

use conformance::view_process;
use mcp::apps::{DisplayMode, HostBridge, HostContext, Theme};
use mcp::core::Principal;
use mcp::events::{
    EventClient, EventQuery, EventType, Events, HttpWebhooks, WebhookSecret, WebhookTarget,
    Webhooks, Zone,
};
use mcp::middleware::{Exchange, Next, from_fn};
use mcp::prelude::*;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The step of a link that is never opened.
const SLOW_LINK: &str = "link https://example.com/slow";
/// The step of its handler's end.
const CANCELLED: &str = "cancelled";

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
        .resource(Resource::new("data://1").read(|| "some data"))
        .resource(Resource::new("data://2").read(|| "more data").unlisted());
    Ok(Client::connect(mcp::InProcess(server)).await?)
}

/// The steps of the view that the host has seen.
#[derive(Clone)]
struct Report(mpsc::Sender<String>);

impl Report {
    fn step(&self, step: String) {
        // Fails if a step repeats without end.
        let _ = self.0.try_send(step);
    }
}

/// Reports the end of a handler that never ends by itself.
struct ReportOnDrop(Report);

impl Drop for ReportOnDrop {
    fn drop(&mut self) {
        self.0.step(CANCELLED.to_owned());
    }
}

/// A host with all handlers. Links to `/slow` are never opened.
fn bridge(client: Client, report: &Report) -> HostBridge {
    let [link, file, sample, message, log, size, teardown] =
        std::array::from_fn(|_| report.clone());
    HostBridge::new("interop-host", "1.0.0")
        .context(HostContext::new().theme(Theme::Dark))
        .serve(client)
        .with_list_changes()
        .with_model_context()
        .on_open_link(move |url| {
            link.step(format!("link {url}"));
            let is_slow = url.path() == "/slow";
            let slow = is_slow.then(|| ReportOnDrop(link.clone()));
            async move {
                match slow {
                    Some(_slow) => std::future::pending().await,
                    None => Ok(()),
                }
            }
        })
        .on_download(move |files| {
            let names: Vec<_> = files.files().map(|(name, _)| name).collect();
            file.step(format!("download {}", names.join(", ")));
            async { Ok(()) }
        })
        .on_sample(false, move |params| {
            sample.step(format!("sample {}", params.max_tokens));
            async { Ok(CreateMessageResult::new("model", ContentBlock::text("4"))) }
        })
        .on_message(move |received| {
            let text = received.content[0].as_text().unwrap_or_default();
            message.step(format!("message {text}"));
            async { Ok(()) }
        })
        .on_display_mode(&[DisplayMode::Fullscreen], async |mode| mode)
        .on_log(move |message| log.step(format!("log {}", message.data)))
        .on_size(move |changed| size.step(format!("size {:?}", changed.height)))
        .on_teardown_request(move || teardown.step("teardown requested".to_owned()))
}

async fn host_view(mut child: Child) -> Result<(), Failure> {
    let (incoming, outgoing) = view_process::connect(&mut child)?;
    let (sender, mut steps) = mpsc::channel::<String>(16);
    let bridge = bridge(client().await?, &Report(sender));
    let (view, connection) = bridge.connect(incoming, outgoing);
    let connection = tokio::spawn(connection);

    view.send_partial_input(&json!({"city": "Ro"})).await?;
    view.send_input(&json!({"city": "Rome"})).await?;
    view.send_result(&CallToolResult::from_text("sunny"))
        .await?;
    view.send_context(&HostContext::new().locale("it")).await?;
    view.send_tools_changed().await?;
    view.send_resources_changed().await?;
    let expected = [
        "link https://example.com/",
        SLOW_LINK,
        CANCELLED,
        "download report.csv",
        "sample 5",
        "message hello",
        "log \"all checks passed\"",
        "size Some(200.0)",
        "teardown requested",
    ];
    for expected in expected {
        let step = timeout(LIMIT, steps.recv())
            .await?
            .ok_or("the view has ended")?;
        if step != expected {
            return Err(format!("{step:?} instead of {expected:?}").into());
        }
        // The view waits for this before it cancels its request, and before it goes on.
        if [SLOW_LINK, CANCELLED].contains(&expected) {
            view.send_context(&HostContext::new().locale(expected))
                .await?;
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
    let transport = HttpWebhooks::in_zone(Zone::Loopback)?;
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
    if line == expected {
        Ok(())
    } else {
        Err(format!("{line:?} instead of {expected:?}").into())
    }
}
