//! The resources of the suite. The suite reads the first one, so its position must not change.

use conformance::PNG;
use mcp::prelude::*;
use serde_json::{Value, json};

pub(crate) struct Resources;

#[mcp::server(routes = routes)]
impl Resources {
    /// A static text resource for testing
    #[resource("test://static-text", name = "static-text", mime_type = "text/plain")]
    fn static_text() -> &'static str {
        "This is the content of the static text resource."
    }

    /// A static binary resource for testing
    #[resource(
        "test://static-binary",
        name = "static-binary",
        mime_type = "image/png"
    )]
    fn static_binary() -> &'static [u8] {
        PNG
    }

    /// A resource to subscribe to
    #[resource(
        "test://watched-resource",
        name = "watched-resource",
        mime_type = "text/plain"
    )]
    fn watched_resource() -> &'static str {
        "Watched resource content"
    }

    /// Data of the given id
    #[resource("test://template/{id}/data", name = "template-data")]
    fn template_data(id: String) -> Json<Value> {
        Json(json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")}))
    }
}
