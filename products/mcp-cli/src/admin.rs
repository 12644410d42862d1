//! The admin page of `mcp gateway`: the servers behind it, their health, tools, calls and last failures. It shows, and
//! changes nothing.

use std::future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use axum::extract::State;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use mcp::gateway::{GatewayControl, GatewayError, GatewayStatus, ServerStatus};
use mcp::group::Health;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::failure::Failure;
use crate::output;
use crate::page_guard::{self, Guard};

const INDEX: &str = include_str!("admin/page/index.html");
const SCRIPT: &str = include_str!("admin/page/admin.js");
const STYLE: &str = include_str!("admin/page/admin.css");

/// An admin page that listens at a port of this machine.
pub(crate) struct AdminPage {
    listener: TcpListener,
    guard: Arc<Guard>,
    control: GatewayControl,
}

impl AdminPage {
    /// Listens at a port of this machine; 0 selects a free one.
    pub(crate) async fn bind(port: u16, control: GatewayControl) -> Result<Self, Failure> {
        let (listener, port) = page_guard::listen(port).await?;
        let guard = Guard::new(port, None)?;
        Ok(Self {
            listener,
            guard: Arc::new(guard),
            control,
        })
    }

    /// Returns the URL with the token, which lets one browser in.
    pub(crate) fn url(&self) -> String {
        self.guard.url()
    }

    /// Serves the page until the program ends.
    pub(crate) async fn run(self) {
        let base = self.guard.base();
        let router = Router::new()
            .route(
                &format!("{base}/"),
                get(async || page_guard::file("index.html", INDEX)),
            )
            .route(
                &format!("{base}/page/admin.js"),
                get(async || page_guard::file("admin.js", SCRIPT)),
            )
            .route(
                &format!("{base}/page/admin.css"),
                get(async || page_guard::file("admin.css", STYLE)),
            )
            .route(&format!("{base}/api/status"), get(status))
            .layer(from_fn_with_state(self.guard, page_guard::check))
            .with_state(self.control);
        let router = router.into_make_service_with_connect_info::<SocketAddr>();
        if let Err(error) = axum::serve(self.listener, router).await {
            output::status(&format!("the admin page has ended: {error}"));
            future::pending::<()>().await;
        }
    }
}

async fn status(State(control): State<GatewayControl>) -> Result<Json<Value>, Response> {
    let status = control.status().await;
    let failed =
        |error: GatewayError| (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response();
    status.map(|status| Json(to_json(&status))).map_err(failed)
}

fn to_json(status: &GatewayStatus) -> Value {
    json!({"servers": status.servers.iter().map(server_to_json).collect::<Vec<_>>()})
}

fn server_to_json(server: &ServerStatus) -> Value {
    let calls = &server.calls;
    let ended = calls.succeeded + calls.failed + calls.interrupted;
    let mean = (ended > 0).then(|| calls.total_time.as_secs_f64() * 1000.0 / ended as f64);
    let failure = server.last_failure.as_ref().map(|failure| {
        let time = failure.time.duration_since(UNIX_EPOCH);
        let time = time.unwrap_or(Duration::ZERO).as_secs();
        json!({"unixSeconds": time, "text": failure.text})
    });
    let (state, reason) = match &server.health {
        Health::Running => ("running", None),
        Health::Idle => ("idle", None),
        Health::Unused(reason) => ("unused", Some(reason)),
        Health::Down(reason) => ("down", Some(reason)),
        _ => ("unknown", None),
    };
    json!({
        "name": server.name,
        "state": state,
        "reason": reason,
        "tools": server.tools,
        "held": server.held,
        "isListed": server.is_listed,
        "prompts": server.prompts,
        "resources": server.resources,
        "templates": server.templates,
        "running": calls.running,
        "succeeded": calls.succeeded,
        "failed": calls.failed,
        "interrupted": calls.interrupted,
        "meanMilliseconds": mean,
        "lastFailure": failure,
    })
}
