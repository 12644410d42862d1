//! The measured server on rmcp, with the fastest documented settings: the router is built once, and
//! `TCP_NODELAY` is set.
//!
//! `rmcp-server http PORT [--stateless] [--json] [--macro-default]` or `rmcp-server stdio`

#[path = "../../../src/arguments.rs"]
mod arguments;

use std::net::Ipv4Addr;
use std::sync::Arc;

use arguments::{Add, Echo, Steps};
use axum::serve::ListenerExt;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    CallToolResult, ContentBlock, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt, tool, tool_handler, tool_router};

#[derive(Clone)]
struct Bench {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Bench {
    fn new(listed: usize) -> Self {
        let mut tool_router = Self::tool_router();
        let schema = tool_router.map["echo"].attr.input_schema.clone();
        for number in 0..listed {
            let description = "One of many tools, listed to see what a long list costs.";
            let tool = Tool::new(format!("tool_{number}"), description, Arc::clone(&schema));
            tool_router.add_route(ToolRoute::new_dyn(tool, |_| {
                Box::pin(async { Ok(text(String::new()).into()) })
            }));
        }
        Self { tool_router }
    }

    #[tool(description = "Say it again")]
    async fn echo(&self, Parameters(echo): Parameters<Echo>) -> CallToolResult {
        text(echo.message)
    }

    #[tool(description = "Add two numbers")]
    async fn add(&self, Parameters(add): Parameters<Add>) -> CallToolResult {
        text((add.a + add.b).to_string())
    }

    #[tool(description = "Report progress n times")]
    async fn progress(
        &self,
        Parameters(steps): Parameters<Steps>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        if let Some(token) = context.meta.get_progress_token() {
            for step in 1..=steps.n {
                let report = ProgressNotificationParam::new(token.clone(), step.into())
                    .with_total(steps.n.into());
                let _ = context.peer.notify_progress(report).await;
            }
        }
        text("done".to_owned())
    }
}

fn text(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

type Error = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Error> {
    // One thread by default, because one core is measured.
    let workers = number("WORKERS").unwrap_or(1);
    let mut runtime = match workers {
        1 => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    if workers > 1 {
        runtime.worker_threads(workers);
    }
    runtime.enable_all().build()?.block_on(serve())
}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

async fn serve() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let bench = Bench::new(number("NTOOLS").unwrap_or(0));
    match arguments.first().map(String::as_str) {
        Some("stdio") => {
            bench.serve(rmcp::transport::stdio()).await?.waiting().await?;
        }
        Some("http") => {
            let port: u16 = arguments.get(1).ok_or("PORT is missing")?.parse()?;
            let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
            let config = StreamableHttpServerConfig::default()
                .with_legacy_session_mode(!has("--stateless"))
                .with_json_response(has("--json"))
                .with_max_request_body_bytes(64 << 20);
            let sessions = Arc::new(LocalSessionManager::default());
            let service = StreamableHttpService::new(move || Ok(bench.clone()), sessions, config);
            let app = axum::Router::new().nest_service("/mcp", service);
            let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
            eprintln!("listening on http://{}/mcp", listener.local_addr()?);
            let listener = listener.tap_io(|stream| {
                let _ = stream.set_nodelay(true);
            });
            axum::serve(listener, app).await?;
        }
        _ => return Err("usage: rmcp-server http PORT [--stateless] [--json] | stdio".into()),
    }
    Ok(())
}
