//! Extensions without methods, whose settings a server receives.

use mcp::apps::Apps;
use mcp::extension::{ClientExtension, ClientSetup, Extension};
use mcp::prelude::*;
use mcp::{ConnectMode, Result};
use serde_json::{Value, json};

/// An extension with settings of several types.
struct Nested;

impl Extension for Nested {
    const ID: &'static str = "com.example/conformance";
    type ServerSettings = Value;
    type ClientSettings = Value;
}

impl ClientExtension for Nested {
    fn settings(&self) -> Value {
        json!({"nested": {"enabled": false, "limit": 0}, "values": ["a", 2, null]})
    }

    fn register(self, _: &mut ClientSetup<Self>) {}
}

/// An extension without settings.
struct Empty;

impl Extension for Empty {
    const ID: &'static str = "com.example/empty";
    type ServerSettings = ();
    type ClientSettings = ();
}

impl ClientExtension for Empty {
    fn settings(&self) {}

    fn register(self, _: &mut ClientSetup<Self>) {}
}

/// Sends the extensions of the server back to it.
pub(crate) async fn run(url: &str, mode: ConnectMode) -> Result<()> {
    let builder = Client::builder()
        .identity("everything-client", env!("CARGO_PKG_VERSION"))
        .extension(Apps::new())
        .extension(Nested)
        .extension(Empty);
    let client = builder.mode(mode).connect(url).await?;
    if client.server_capabilities().is_none() {
        client.discover().await?;
    }
    let server = client.server_capabilities().unwrap_or_default();
    let arguments = json!({"extensions": server.extensions});
    let result = client
        .call("test_legacy_extension_capabilities", arguments)
        .await?;
    println!("{}", result.text());
    Ok(client.close().await?)
}
