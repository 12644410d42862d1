//! A server that asks its client, for tests with a terminal.

#[cfg(unix)]
use axum::{
    Router,
    extract::Request,
    http::Method,
    middleware::{Next, from_fn},
    response::Response,
};
#[cfg(unix)]
use mcp::IntoServer as _;
use mcp::prelude::*;

use crate::kit::on_thread;

/// A desk.
#[derive(Debug)]
struct Desk;

/// A desk.
#[mcp::server(name = "desk", version = "1.0.0")]
impl Desk {
    /// Never ends, and reports that it is half way.
    #[tool]
    async fn wait(&self, progress: Progress) -> String {
        progress.report(5.0, 10.0, "painting").await;
        std::future::pending().await
    }

    /// Sends the user to a page.
    #[tool]
    async fn pay(&self, ask: Ask) -> Result<String, ToolError> {
        let page = "https://pay.example.com/start?order=7";
        let answer = ask.url("pay", "Pay your order.", page).await?;
        if answer.is_accepted() {
            Ok("paid".to_owned())
        } else {
            Err(ToolError::new("not paid"))
        }
    }

    /// Asks the language model.
    #[tool]
    async fn notes(&self, ask: Ask) -> Result<String, ToolError> {
        let notes = Sampling::user("Write release notes.").max_tokens(200);
        Ok(ask.sample("notes", notes).await?.content.text())
    }
}

/// The request that closes a session waits forever.
#[cfg(unix)]
async fn keep_sessions(request: Request, next: Next) -> Response {
    if *request.method() == Method::DELETE {
        std::future::pending().await
    } else {
        next.run(request).await
    }
}

/// Starts the desk over HTTP. Returns the URL.
pub(crate) fn http_desk() -> String {
    let origin = on_thread(|listener| async { drop(mcp::serve_http(Desk, listener).await) });
    format!("{origin}/mcp")
}

/// Starts the desk over HTTP, with sessions that never close. Returns the URL.
#[cfg(unix)]
pub(crate) fn http_desk_with_endless_sessions() -> String {
    let origin = on_thread(|listener| async {
        let endpoint = StreamableHttp::new(Desk.into_server());
        let app = Router::new()
            .route_service("/mcp", endpoint)
            .layer(from_fn(keep_sessions));
        drop(axum::serve(listener, app).await);
    });
    format!("{origin}/mcp")
}
