//! Every feature of the specification, with the server's and the client's side of each one.
//!
//! `cargo run -p examples --bin features` runs all with clients for 2026-07-28 and 2025-11-25.

#![allow(clippy::print_stdout, reason = "example output")]

use futures_util::TryStreamExt as _;
use mcp::Sessions;
use mcp::http::Serve;
use mcp::prelude::*;
use mcp::types::{CompleteParams, CompletionReference, LoggingLevel};
use serde_json::json;
use tokio::net::TcpListener;

/// One black pixel.
const GIF: &[u8] = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;";
/// Silence.
const WAV: &[u8] = b"RIFF\x24\x00\x00\x00WAVEfmt ";

#[derive(Elicit)]
enum Size {
    Small,
    Large,
}

/// A form with a default, a range and a choice.
#[derive(Elicit)]
struct Order {
    /// Number of cups
    #[elicit(range = 1..=9, default = 2)]
    cups: u32,
    /// Size of a cup
    size: Size,
}

struct Cafe;

#[mcp::server]
impl Cafe {
    /// Returns text.
    #[tool(read_only)]
    fn menu(&self) -> &'static str {
        "coffee, tea"
    }

    /// Returns an image, a sound and a resource.
    #[tool(read_only)]
    fn advertise(&self) -> Vec<ContentBlock> {
        let card = ResourceContents::text("cafe://card", "coffee 3 EUR");
        vec![
            ContentBlock::image(GIF.to_vec(), "image/gif"),
            ContentBlock::audio(WAV.to_vec(), "audio/wav"),
            ContentBlock::resource(card.mime_type("text/plain")),
        ]
    }

    /// Fails: the language model reads the message.
    #[tool]
    fn refund(&self) -> Result<String, ToolError> {
        Err(ToolError::new("nothing was paid; order first"))
    }

    /// Reports progress and writes a log message.
    #[tool]
    async fn brew(&self, progress: Progress, log: Log) -> &'static str {
        progress.report(1.0, 2.0, "grinding").await;
        log.info("the water is hot");
        progress.report(2.0, 2.0, "brewing").await;
        "coffee"
    }

    /// Waits until the call is cancelled.
    #[tool]
    async fn wait(&self, progress: Progress, cancel: Cancel) -> &'static str {
        progress.report(0.0, 1.0, "waiting").await;
        cancel.cancelled().await;
        "cancelled"
    }

    /// Asks the user with a form, and checks the answer.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<String, ToolError> {
        Ok(
            match ask.form::<Order>("order", "What would you like?").await? {
                Answer::Accept(Order {
                    cups,
                    size: Size::Small,
                }) => format!("{cups} small cups"),
                Answer::Accept(Order { cups, .. }) => format!("{cups} large cups"),
                Answer::Decline | Answer::Cancel => "nothing".to_owned(),
            },
        )
    }

    /// Sends the user to a page, and reports that the visit has ended.
    #[tool]
    async fn pay(&self, ask: Ask) -> Result<&'static str, ToolError> {
        let page = ask
            .url("pay", "Pay 3 EUR", "https://pay.example.com/7")
            .await?;
        ask.elicitation_complete("pay");
        Ok(if page.is_accepted() {
            "paid"
        } else {
            "not paid"
        })
    }

    /// Lets the client's language model write a text.
    #[tool]
    async fn describe(&self, ask: Ask) -> Result<String, ToolError> {
        let question = Sampling::user("Describe our coffee.").max_tokens(50);
        let reply = ask.sample("describe", question).await?;
        Ok(reply.content.text())
    }

    /// Lists the folders that the client has opened.
    #[tool]
    async fn folders(&self, ask: Ask) -> Result<String, ToolError> {
        let roots = ask.roots("folders").await?;
        Ok(roots
            .into_iter()
            .map(|root| root.uri)
            .collect::<Vec<_>>()
            .join(", "))
    }

    /// A resource with text.
    #[resource("cafe://card", mime_type = "text/plain")]
    fn card(&self) -> &'static str {
        "coffee 3 EUR"
    }

    /// A resource with bytes.
    #[resource("cafe://logo", mime_type = "image/gif")]
    fn logo(&self) -> Vec<u8> {
        GIF.to_vec()
    }

    /// A template of resources.
    #[resource("cafe://tables/{number}")]
    fn table(&self, number: u32) -> String {
        format!("table {number} is free")
    }

    #[completion(template = "cafe://tables/{number}", argument = "number")]
    fn numbers(&self, prefix: &str) -> Vec<&'static str> {
        ["1", "2", "12"]
            .into_iter()
            .filter(|number| number.starts_with(prefix))
            .collect()
    }

    /// A prompt without arguments.
    #[prompt]
    fn greet(&self) -> &'static str {
        "Greet a guest."
    }

    /// A prompt with an argument, a picture and a resource.
    #[prompt]
    fn recommend(&self, mood: String) -> Result<Vec<PromptMessage>, PromptError> {
        let card = ResourceContents::text("cafe://card", "coffee 3 EUR");
        Ok(vec![
            user(format!("Recommend a drink for a guest who is {mood}.")),
            user(ContentBlock::resource(card)),
            user(ContentBlock::image(GIF.to_vec(), "image/gif")),
        ])
    }

    #[completion(prompt = "recommend", argument = "mood")]
    fn moods(&self, prefix: &str) -> Vec<&'static str> {
        ["happy", "tired"]
            .into_iter()
            .filter(|mood| mood.starts_with(prefix))
            .collect()
    }
}

/// A tool whose schema is written by hand, with keywords of JSON Schema 2020-12.
fn weigh() -> mcp::ToolRoute {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"beans": {"$ref": "#/$defs/grams"}},
        "required": ["beans"],
        "$defs": {"grams": {"type": "number", "exclusiveMinimum": 0}},
    });
    let tool = Tool::new("weigh").description("Weighs coffee beans.");
    let weigh = |RawArgs(arguments): RawArgs| format!("weighed {}", json!(arguments));
    tool.input_schema(schema.as_object().cloned().unwrap_or_default())
        .handler(weigh)
}

/// A client that answers the server's requests, at one revision.
fn client(version: ProtocolVersion) -> mcp::ClientBuilder {
    Client::builder()
        .mode(ConnectMode::Pin(version))
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"size": "Large"})) })
        .on_elicit_url(|_: UrlRequest| async { ElicitResult::accept_url() })
        .on_sample(|_: SampleRequest| async {
            Ok::<_, Rejected>(CreateMessageResult::new("parrot", "Strong and sweet."))
        })
        .roots(["file:///home/ada"])
}

async fn tools(client: &Client) -> mcp::Result<()> {
    // Lists have pages; this server has three items on each. The client asks for all, or page by page.
    assert_eq!(client.list_tools().await?.len(), 10);
    let mut pages = client.list_tools().stream();
    assert_eq!(
        pages.try_next().await?.map(|tool| tool.name).as_deref(),
        Some("menu")
    );

    assert_eq!(client.call("menu", ()).await?.text(), "coffee, tea");
    let content = client.call("advertise", ()).await?.content;
    let [
        ContentBlock::Image(_),
        ContentBlock::Audio(_),
        ContentBlock::Resource(_),
    ] = &content[..]
    else {
        return Err(std::io::Error::other("other content").into());
    };
    let failed = client.call("refund", ()).await?;
    assert!(failed.is_error() && failed.text().contains("order first"));
    let weighed = client.call("weigh", json!({"beans": 12})).await?;
    assert_eq!(weighed.text(), r#"weighed {"beans":12}"#);
    let refused = client.call("weigh", json!({"beans": -1})).await?;
    assert!(refused.is_error() && refused.text().contains("above 0"));
    Ok(())
}

async fn running_calls(client: &Client) -> mcp::Result<()> {
    let mut seen = Vec::new();
    let mut logged = None;
    let brewed = client
        .call("brew", ())
        .log_level(LoggingLevel::Info)
        .on_progress(|step| seen.extend(step.message))
        .on_log(|message| logged = Some(message.data))
        .await?;
    assert_eq!(brewed.text(), "coffee");
    assert_eq!(seen, ["grinding", "brewing"]);
    assert_eq!(logged, Some(json!("the water is hot")));

    // Dropping the future cancels the call, as a time limit or a signal does.
    let (cancel, signal) = tokio::sync::oneshot::channel();
    let mut cancel = Some(cancel);
    let cancelled = client
        .call("wait", ())
        .on_progress(|_| {
            if let Some(cancel) = cancel.take() {
                let _ = cancel.send(());
            }
        })
        .cancel_on(async { drop(signal.await) })
        .await;
    assert!(cancelled.is_err_and(|error| error.is_cancelled()));
    Ok(())
}

async fn requests_of_the_server(client: &Client) -> mcp::Result<()> {
    assert_eq!(client.call("order", ()).await?.text(), "2 large cups");
    assert_eq!(client.call("pay", ()).await?.text(), "paid");
    assert_eq!(
        client.call("describe", ()).await?.text(),
        "Strong and sweet."
    );
    assert_eq!(client.call("folders", ()).await?.text(), "file:///home/ada");
    // The server of a session is notified.
    client.set_roots(["file:///home/bob"]).await?;
    assert_eq!(client.call("folders", ()).await?.text(), "file:///home/bob");
    Ok(())
}

async fn resources(client: &Client) -> mcp::Result<()> {
    assert_eq!(client.list_resources().await?.len(), 2);
    assert_eq!(client.list_resource_templates().await?.len(), 1);
    for (uri, expected) in [
        ("cafe://card", Some("coffee 3 EUR")),
        ("cafe://logo", None),
        ("cafe://tables/7", Some("table 7 is free")),
    ] {
        let contents = client.read_resource(uri).await?.contents;
        match &contents[0] {
            ResourceContents::Text(text) => assert_eq!(Some(text.text.as_str()), expected),
            ResourceContents::Blob(bytes) => assert_eq!(bytes.blob.as_bytes(), GIF),
            other => println!("{other:?}"),
        }
    }
    Ok(())
}

async fn prompts(client: &Client) -> mcp::Result<()> {
    assert_eq!(client.list_prompts().await?.len(), 2);
    let greeting = client.get_prompt("greet", ()).await?;
    assert_eq!(
        greeting.messages[0].content.as_text(),
        Some("Greet a guest.")
    );
    let recommendation = client
        .get_prompt("recommend", json!({"mood": "tired"}))
        .await?;
    assert_eq!(recommendation.messages.len(), 3);
    for (reference, argument, typed, expected) in [
        (
            CompletionReference::prompt("recommend"),
            "mood",
            "t",
            ["tired"].as_slice(),
        ),
        (
            CompletionReference::template("cafe://tables/{number}"),
            "number",
            "1",
            &["1", "12"],
        ),
    ] {
        let found = client
            .complete(CompleteParams::new(reference, argument, typed))
            .await?;
        assert_eq!(found.completion.values, expected);
    }
    Ok(())
}

async fn changes(client: &Client, server: &Handles) -> mcp::Result<()> {
    let mut changes = client
        .subscribe(["cafe://card"])
        .tools_changed()
        .resources_changed()
        .prompts_changed()
        .await?;
    let tip = Tool::new("tip").handler(|| "thanks");
    server.tools.put(tip).map_err(std::io::Error::other)?;
    assert_eq!(changes.try_next().await?, Some(Change::Tools));
    server.notify.resource_updated("cafe://card");
    let uri = "cafe://card".to_owned();
    assert_eq!(changes.try_next().await?, Some(Change::Resource { uri }));
    // Dropping the subscription ends it.
    drop(changes);
    server.tools.remove("tip");
    Ok(())
}

/// Handles that change the server while it runs.
struct Handles {
    tools: Tools,
    notify: Notify,
}

async fn run(url: &str, version: ProtocolVersion, server: &Handles) -> mcp::Result<()> {
    // Versions and capabilities are negotiated.
    let client = client(version).connect(url).await?;
    println!("{}", client.negotiation());
    client.ping().await?;
    client.set_log_level(LoggingLevel::Debug).await?;
    tools(&client).await?;
    running_calls(&client).await?;
    requests_of_the_server(&client).await?;
    resources(&client).await?;
    prompts(&client).await?;
    changes(&client, server).await?;
    client.close().await?;
    Ok(())
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let server = Server::of(Cafe).tool(weigh()).page_size(3);
    let handles = Handles {
        tools: server.tools(),
        notify: server.notify(),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let origin = format!("http://{}", listener.local_addr()?);
    // HTTP+SSE of 2024-11-05 is off by default. Clients fall back to it where a POST is refused.
    let endpoint = StreamableHttp::new(server).sessions(Sessions::in_memory().http_sse());
    tokio::spawn(Serve::service(endpoint).run(listener));
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        run(&format!("{origin}/mcp"), version, &handles).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_feature_works_on_both_revisions() {
        super::main().unwrap();
    }
}
