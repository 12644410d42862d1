//! Extensions without methods. The suite compares their settings with those that a client receives, and
//! asks a tool for the extensions of the client.

use mcp::extension::{Extension, ServerExtension, ServerSetup};
use mcp::prelude::*;
use mcp::types::JsonObject;
use mcp::{ClientInfo, RawArgs};
use serde_json::{Value, json};

/// An extension with settings of several types.
struct Nested;

impl Extension for Nested {
    const ID: &'static str = "com.example/conformance";
    type ServerSettings = Value;
    type ClientSettings = Value;
}

impl ServerExtension for Nested {
    fn settings(&self) -> Value {
        json!({"nested": {"enabled": true, "limit": 3}, "values": [null, "b", 4]})
    }

    fn register(self, _: &mut ServerSetup<Self>) {}
}

/// An extension without settings.
struct Empty;

impl Extension for Empty {
    const ID: &'static str = "com.example/empty";
    type ServerSettings = ();
    type ClientSettings = ();
}

impl ServerExtension for Empty {
    fn settings(&self) {}

    fn register(self, _: &mut ServerSetup<Self>) {}
}

/// Adds the extensions, and the tool that returns those of the client.
pub(crate) fn add(server: Server) -> Server {
    let name = "test_legacy_extension_capabilities";
    let schema = JsonObject::from_iter([("type".to_owned(), json!("object"))]);
    let tool = Tool::new(name)
        .input_schema(schema)
        .description("Returns the extensions that the client declares");
    let extensions = |client: ClientInfo, _: RawArgs| {
        let extensions = &client.capabilities().extensions;
        json!({"extensions": extensions}).to_string()
    };
    server
        .extension(Nested)
        .extension(Empty)
        .tool(tool.handler(extensions))
}
