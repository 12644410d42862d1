//! An app document, as a host reads it.

use mcp::apps::{AppDocument, Csp, DocumentError, MIME_TYPE, ResourceUi};
use mcp::prelude::*;
use mcp::types::meta::keys;
use mcp::types::{Meta, ReadResourceResult};
use serde_json::json;

fn read(contents: ResourceContents) -> ReadResourceResult {
    ReadResourceResult::from(vec![contents])
}

fn html() -> ResourceContents {
    ResourceContents::text("ui://a", "<!doctype html>").mime_type(MIME_TYPE)
}

#[test]
fn metadata_in_contents_wins_over_the_list_entry() {
    let mut listed = Resource::new("ui://a");
    let mut ui = ResourceUi::default();
    ui.csp = Some(Csp::new().connect("https://listed.example"));
    listed.meta = Some(Meta::default().with(keys::UI, serde_json::to_value(&ui).unwrap()));

    let document = AppDocument::new("ui://a", &read(html()), Some(&listed)).unwrap();
    assert!(document.csp_header().contains("https://listed.example"));

    let contents = html().meta("ui", json!({"prefersBorder": true}));
    let document = AppDocument::new("ui://a", &read(contents), Some(&listed)).unwrap();
    assert!(!document.csp_header().contains("listed"));
    assert_eq!(document.ui().prefers_border, Some(true));
}

#[test]
fn blob_is_read_as_text() {
    let contents = ResourceContents::blob("ui://a", &b"<!doctype html>"[..]).mime_type(MIME_TYPE);
    let document = AppDocument::new("ui://a", &read(contents), None).unwrap();
    assert_eq!(document.html(), "<!doctype html>");
}

// spec: APP-02
#[test]
fn resource_that_is_no_app_is_refused() {
    let error = |uri: &str, contents| AppDocument::new(uri, &read(contents), None).unwrap_err();
    assert!(matches!(
        error("https://a", html()),
        DocumentError::Scheme(_)
    ));
    let plain = ResourceContents::text("ui://a", "x").mime_type("text/html");
    assert!(matches!(error("ui://a", plain), DocumentError::MimeType(_)));
    let binary = ResourceContents::blob("ui://a", &b"\xff"[..]).mime_type(MIME_TYPE);
    assert!(matches!(error("ui://a", binary), DocumentError::NoText(_)));
    let malformed = html().meta("ui", json!({"csp": 7}));
    assert!(matches!(
        error("ui://a", malformed),
        DocumentError::Metadata(_)
    ));
    let injected = html().meta(
        "ui",
        json!({"csp": {"connectDomains": ["https://a; script-src *"]}}),
    );
    assert!(matches!(error("ui://a", injected), DocumentError::Csp(_)));
}
