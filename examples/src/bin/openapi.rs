//! An HTTP service as a server: `cargo run -p examples --bin openapi -- DOCUMENT BASE_URL` serves the operations of an
//! OpenAPI document as tools at <http://127.0.0.1:8000/mcp>, and sends their requests to the base URL. Without arguments,
//! it serves the tools of a service in this program.

#![allow(clippy::print_stdout, reason = "a command line program")]

use axum::Router;
use axum::extract::Path;
use axum::response::IntoResponse;
use axum::routing::get;
use mcp::HttpClient;
use mcp::gateway::openapi::OpenApi;
use serde_json::json;
use tokio::net::TcpListener;

/// The document of this program's service.
const DOCUMENT: &str = r#"
openapi: 3.1.0
info: { title: menu, version: 1.0.0 }
paths:
  /dishes/{name}:
    get:
      operationId: get_dish
      summary: The price of a dish.
      tags: [menu]
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
      responses: {}
  /orders:
    delete:
      operationId: delete_orders
      tags: [admin]
      responses: {}
"#;

async fn dish(Path(name): Path<String>) -> impl IntoResponse {
    let dish = json!({ "name": name, "price": 9 }).to_string();
    ([("content-type", "application/json")], dish)
}

/// Starts this program's service. Returns its base URL.
async fn service() -> mcp::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    let service = Router::new().route("/dishes/{name}", get(dish));
    tokio::spawn(async { axum::serve(listener, service).await });
    Ok(url)
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let server = match (arguments.next(), arguments.next()) {
        (Some(document), Some(url)) => {
            let document = std::fs::read_to_string(document)?;
            OpenApi::parse(&document)?.base_url(url)?
        }
        // Without the tag, clients could delete the orders.
        _ => OpenApi::parse(DOCUMENT)?
            .base_url(service().await?)?
            .tags(["menu"]),
    };
    // A token of the service: `.header("Authorization", "Bearer …")`.
    let server = server.server(HttpClient::new()?)?;
    // A `Gateway` can have it beside other servers.
    println!("http://127.0.0.1:8000/mcp");
    mcp::serve_http(server, "127.0.0.1:8000").await
}
