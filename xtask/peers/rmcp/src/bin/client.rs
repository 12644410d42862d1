//! Client with rmcp for the server at a URL, at a revision: `client URL REVISION` prints `ok FEATURE`
//! or `no FEATURE: PROBLEM` for each feature.

// The newest revision deprecates sampling; the checks exercise it.
#![allow(deprecated)]

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ElicitationAction, GetPromptRequestParams, Implementation,
    ProgressNotificationParam, ProtocolVersion, ReadResourceRequestParams, SamplingMessage,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

const LIMIT: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);

type Checked = Result<(), Box<dyn Error>>;

/// Answers for elicitation and sampling, and the notifications that arrived.
#[derive(Clone)]
struct Handler {
    revision: ProtocolVersion,
    reports: Arc<Mutex<Vec<f64>>>,
    changes: Arc<AtomicUsize>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder()
            .enable_elicitation()
            .enable_sampling();
        let identity = Implementation::new("interop", "1.0.0");
        ClientConfig::new(capabilities.build(), identity)
            .with_protocol_version(self.revision.clone())
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let user = json!({"username": "ada", "email": "ada@example.org"});
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(user))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let message = SamplingMessage::assistant_text("forty-two");
        Ok(CreateMessageResult::new(message, "test-model".to_owned()))
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        reports.push(report.progress);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }
}

type Client = RunningService<RoleClient, Handler>;

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    CallToolRequestParams::new(name).with_arguments(arguments)
}

fn text(result: &CallToolResult) -> String {
    let first = result.content.first();
    let text = first.and_then(|content| content.as_text());
    text.map(|text| text.text.clone()).unwrap_or_default()
}

fn has(answer: &str, wanted: &[&str]) -> Checked {
    match wanted.iter().find(|text| !answer.contains(**text)) {
        Some(missing) => Err(format!("`{missing}` is not in `{answer}`").into()),
        None => Ok(()),
    }
}

async fn tools(client: &Client) -> Checked {
    let tools = client.list_all_tools().await?;
    if !tools.iter().any(|tool| tool.name == "test_simple_text") {
        return Err("the tool is not listed".into());
    }
    let answer = client
        .call_tool(call("test_simple_text", json!({})))
        .await?;
    has(&text(&answer), &["simple text response"])
}

async fn resources(client: &Client) -> Checked {
    let uri = "test://static-text";
    if !client
        .list_all_resources()
        .await?
        .iter()
        .any(|resource| resource.uri == uri)
    {
        return Err("the resource is not listed".into());
    }
    let read = client
        .read_resource(ReadResourceRequestParams::new(uri))
        .await?;
    has(&json!(read).to_string(), &["static text resource"])
}

async fn prompts(client: &Client) -> Checked {
    let name = "test_prompt_with_arguments";
    if !client
        .list_all_prompts()
        .await?
        .iter()
        .any(|tool| tool.name == name)
    {
        return Err("the prompt is not listed".into());
    }
    let arguments = json!({"arg1": "hello", "arg2": "world"});
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let request = GetPromptRequestParams::new(name).with_arguments(arguments);
    has(
        &json!(client.get_prompt(request).await?).to_string(),
        &["hello", "world"],
    )
}

async fn progress(client: &Client) -> Checked {
    client
        .call_tool(call("test_tool_with_progress", json!({})))
        .await?;
    // rmcp handles notifications concurrently, also with the response: their order is not fixed, not
    // even with its own server.
    sleep(PAUSE).await;
    let reports = &client.service().reports;
    let mut reports = reports.lock().unwrap_or_else(PoisonError::into_inner);
    reports.sort_by(f64::total_cmp);
    if *reports != [0.0, 50.0, 100.0] {
        return Err(format!("the reports were {reports:?}").into());
    }
    Ok(())
}

async fn elicitation(client: &Client) -> Checked {
    let arguments = json!({"message": "Who are you?"});
    let answer = client
        .call_tool(call("test_elicitation", arguments))
        .await?;
    has(&text(&answer), &["accept", "ada@example.org"])
}

async fn sampling(client: &Client) -> Checked {
    let arguments = json!({"prompt": "What is the answer?"});
    let answer = client.call_tool(call("test_sampling", arguments)).await?;
    has(&text(&answer), &["forty-two"])
}

async fn status(client: &Client, token: &str) -> Result<String, Box<dyn Error>> {
    let answer = client
        .call_tool(call("test_cancel_status", json!({"token": token})))
        .await?;
    Ok(text(&answer))
}

async fn cancellation(client: &Client) -> Checked {
    let token = format!("rmcp-{}", std::process::id());
    let probe = call("test_cancel_probe", json!({"token": token, "seconds": 60}));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(probe));
    let handle = client
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await?;
    while status(client, &token).await? != "running" {
        sleep(PAUSE).await;
    }
    handle.cancel(None).await?;
    for _ in 0..30 {
        if status(client, &token).await? == "cancelled" {
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    let last = status(client, &token).await?;
    Err(format!("the server says that the call is `{last}`").into())
}

async fn list_changed(client: &Client) -> Checked {
    let change = || client.call_tool(call("test_trigger_tool_change", json!({})));
    if client.service().revision == ProtocolVersion::V_2026_07_28 {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut changes = client.listen(filter).await?;
        change().await?;
        return match changes.next().await? {
            Some(_) => Ok(changes.cancel().await?),
            None => Err("the subscription has ended".into()),
        };
    }
    // The session's GET stream may open a moment later.
    while client.service().changes.load(Ordering::Relaxed) == 0 {
        change().await?;
        sleep(5 * PAUSE).await;
    }
    Ok(())
}

async fn tell(feature: &str, check: impl Future<Output = Checked>) {
    match timeout(LIMIT, check).await {
        Ok(Ok(())) => println!("ok {feature}"),
        Ok(Err(error)) => println!("no {feature}: {error}"),
        Err(_) => println!("no {feature}: not done after {} s", LIMIT.as_secs()),
    }
}

#[tokio::main]
async fn main() -> Checked {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, revision] = &arguments[..] else {
        return Err("usage: client URL REVISION".into());
    };
    let known = ProtocolVersion::KNOWN_VERSIONS.iter();
    let revision = known.into_iter().find(|version| version.as_str() == revision);
    let revision = revision.ok_or("rmcp does not know the revision")?.clone();
    let lifecycle = if revision == ProtocolVersion::V_2026_07_28 {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![revision.clone()],
            legacy_version: None,
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    let handler = Handler {
        revision,
        reports: Arc::default(),
        changes: Arc::default(),
    };
    let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = handler.serve_with_lifecycle(transport, lifecycle).await?;
    let settled = client.peer().peer_info();
    let settled = settled.map(|result| result.protocol_version.to_string());
    println!("revision {}", settled.unwrap_or_default());
    tell("tools", tools(&client)).await;
    tell("resources", resources(&client)).await;
    tell("prompts", prompts(&client)).await;
    tell("progress", progress(&client)).await;
    tell("elicitation", elicitation(&client)).await;
    tell("sampling", sampling(&client)).await;
    tell("cancellation", cancellation(&client)).await;
    tell("list_changed", list_changed(&client)).await;
    client.cancel().await?;
    Ok(())
}
