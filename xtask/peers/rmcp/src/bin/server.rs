//! Server with rmcp for both eras, with the fixtures of the everything server that the checks use. It
//! prints its address on stderr.

// The newest revision deprecates sampling; the checks exercise it.
#![allow(deprecated)]

use std::borrow::Cow;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CreateMessageRequest,
    CreateMessageRequestParams, ElicitRequest, ElicitRequestParams, GetPromptRequestParams,
    GetPromptResponse, GetPromptResult, InputRequest, InputRequests, InputRequiredResult,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, Prompt, PromptArgument, PromptMessage, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, Role, SamplingMessage, ServerCapabilities, ServerConfig, SubscriptionFilter,
    Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::broadcast;

const URI: &str = "test://static-text";
const PROMPT: &str = "test_prompt_with_arguments";

/// State shared by all sessions and requests.
#[derive(Clone)]
struct Fixtures {
    probes: Arc<Mutex<HashMap<String, &'static str>>>,
    changed: broadcast::Sender<()>,
}

impl Fixtures {
    fn probes(&self) -> MutexGuard<'_, HashMap<String, &'static str>> {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn cancel_probe(&self, arguments: &Value, context: &RequestContext<RoleServer>) {
        let token = arguments["token"].as_str().unwrap_or_default().to_owned();
        let time = Duration::from_secs_f64(arguments["seconds"].as_f64().unwrap_or_default());
        self.probes().insert(token.clone(), "running");
        let outcome = tokio::select! {
            () = context.ct.cancelled() => "cancelled",
            () = tokio::time::sleep(time) => "done",
        };
        self.probes().insert(token, outcome);
    }

    async fn change(&self, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if is_modern(context) {
            // An error means that there is no receiver, which is allowed.
            let _ = self.changed.send(());
            return Ok(());
        }
        context
            .peer
            .notify_tool_list_changed()
            .await
            .map_err(failed)
    }
}

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
}

fn failed(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn say(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn ask(key: &str, question: InputRequest) -> CallToolResponse {
    let questions = InputRequests::from([(key.to_owned(), question)]);
    InputRequiredResult::from_input_requests(questions).into()
}

async fn report(context: &RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let token = context
        .meta
        .get_progress_token()
        .ok_or_else(|| failed("no progress token"))?;
    for progress in [0.0, 50.0, 100.0] {
        let report = ProgressNotificationParam::new(token.clone(), progress).with_total(100.0);
        context.peer.notify_progress(report).await.map_err(failed)?;
    }
    Ok(say("done"))
}

async fn elicit(
    request: &CallToolRequestParams,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let text = json!({"type": "string"});
    let form = json!({
        "type": "object",
        "properties": {"username": text, "email": text},
        "required": ["username", "email"],
    });
    let question = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: arguments["message"].as_str().unwrap_or_default().to_owned(),
        requested_schema: serde_json::from_value(form).map_err(failed)?,
    };
    if !is_modern(context) {
        let answer = context
            .peer
            .create_elicitation(question)
            .await
            .map_err(failed)?;
        return Ok(say(json!(answer).to_string()));
    }
    let answers = request.input_responses.as_ref();
    Ok(match answers.and_then(|answers| answers.get("user")) {
        Some(answer) => say(answer.to_string()),
        None => ask(
            "user",
            InputRequest::Elicitation(ElicitRequest::new(question)),
        ),
    })
}

async fn sample(
    request: &CallToolRequestParams,
    arguments: &Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let prompt = arguments["prompt"].as_str().unwrap_or_default();
    let messages = vec![SamplingMessage::user_text(prompt)];
    let question = CreateMessageRequestParams::new(messages, 100);
    if !is_modern(context) {
        let answer = context
            .peer
            .create_message(question)
            .await
            .map_err(failed)?;
        return Ok(say(json!(answer).to_string()));
    }
    let answers = request.input_responses.as_ref();
    Ok(match answers.and_then(|answers| answers.get("answer")) {
        Some(answer) => say(answer.to_string()),
        None => ask(
            "answer",
            InputRequest::CreateMessage(CreateMessageRequest::new(question)),
        ),
    })
}

fn tool(name: &'static str, arguments: &[(&str, &str)]) -> Tool {
    let properties = arguments
        .iter()
        .map(|(name, kind)| ((*name).to_owned(), json!({"type": kind})));
    let properties: serde_json::Map<String, Value> = properties.collect();
    let names: Vec<&String> = properties.keys().collect();
    let mut schema = serde_json::Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("required".to_owned(), json!(names));
    schema.insert("properties".to_owned(), Value::Object(properties.clone()));
    Tool::new(name, "", Arc::new(schema))
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts();
        ServerConfig::new(capabilities.build())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        const VERSIONS: [ProtocolVersion; 3] = [
            ProtocolVersion::V_2026_07_28,
            ProtocolVersion::V_2025_11_25,
            ProtocolVersion::V_2025_06_18,
        ];
        Cow::Borrowed(&VERSIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![
            tool("test_simple_text", &[]),
            tool("test_tool_with_progress", &[]),
            tool("test_elicitation", &[("message", "string")]),
            tool("test_sampling", &[("prompt", "string")]),
            tool(
                "test_cancel_probe",
                &[("token", "string"), ("seconds", "number")],
            ),
            tool("test_cancel_status", &[("token", "string")]),
            tool("test_trigger_tool_change", &[]),
        ]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::from(request.arguments.clone().unwrap_or_default());
        match &*request.name {
            "test_simple_text" => Ok(say("This is a simple text response for testing.")),
            "test_tool_with_progress" => report(&context).await,
            "test_elicitation" => elicit(&request, &arguments, &context).await,
            "test_sampling" => sample(&request, &arguments, &context).await,
            "test_cancel_probe" => {
                self.cancel_probe(&arguments, &context).await;
                Ok(say("over"))
            }
            "test_cancel_status" => {
                let token = arguments["token"].as_str().unwrap_or_default();
                Ok(say(self.probes().get(token).copied().unwrap_or("unknown")))
            }
            "test_trigger_tool_change" => {
                self.change(&context).await?;
                Ok(say("told"))
            }
            other => Err(ErrorData::invalid_params(format!("no tool {other}"), None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(vec![Resource::new(
            URI,
            "static-text",
        )]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != URI {
            return Err(ErrorData::resource_not_found("no such resource", None));
        }
        let contents = ResourceContents::text("This is the static text resource.", URI);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let arguments = ["arg1", "arg2"].map(|name| PromptArgument::new(name).with_required(true));
        let prompt = Prompt::new(PROMPT, None::<String>, Some(arguments.into()));
        Ok(ListPromptsResult::with_all_items(vec![prompt]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != PROMPT {
            return Err(ErrorData::invalid_params("no such prompt", None));
        }
        let arguments = request.arguments.unwrap_or_default();
        let value = |name| {
            arguments
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let text = format!("{} {}", value("arg1"), value("arg2"));
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changed = self.changed.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changed.recv() => {
                    change.map_err(failed)?;
                    context.sink().notify_tool_list_changed().await.map_err(failed)?;
                }
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fixtures = Fixtures {
        probes: Arc::default(),
        changed: broadcast::Sender::new(16),
    };
    let service = StreamableHttpService::new(
        move || Ok(fixtures.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(true),
    );
    let app = axum::Router::new().nest_service("/mcp", service);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, app).await?;
    Ok(())
}
