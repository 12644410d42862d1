//! Pages of tools: a host shows the page that a tool names beside its results, so it must be the tool's own server that
//! answers for its URI.

use std::collections::HashMap;
use std::sync::Arc;

use mcp_types::Tool;
use mcp_types::ext::apps::ToolUi;
use mcp_types::meta::keys;

/// A key of `_meta` that some hosts read as the URI of a page.
const OUTPUT_TEMPLATE: &str = "openai/outputTemplate";

/// The URIs of the pages, with the server whose tools have named each first.
#[derive(Debug, Default)]
pub(crate) struct Pages(HashMap<String, Arc<str>>);

impl Pages {
    /// Adds the pages of a tool. Returns false if one of them is that of another server.
    pub(crate) fn add(&mut self, server: &Arc<str>, uris: &[String]) -> bool {
        uris.iter().fold(true, |is_own, uri| {
            let owner = self.0.entry(uri.clone()).or_insert_with(|| server.clone());
            is_own && owner == server
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Arc<str>)> {
        self.0.iter().map(|(uri, server)| (uri.as_str(), server))
    }
}

/// Returns the URIs of a tool's pages.
pub(crate) fn uris(tool: &Tool) -> Vec<String> {
    let meta = tool.meta.as_ref();
    let flat = |key| meta.and_then(|meta| meta.get::<String>(key));
    let ui = ToolUi::of(tool).and_then(|ui| ui.resource_uri);
    let all = [ui, flat(keys::UI_RESOURCE_URI), flat(OUTPUT_TEMPLATE)];
    all.into_iter().flatten().collect()
}

/// Removes the pages of a tool. Who may call it stays.
pub(crate) fn remove(tool: &mut Tool) {
    if let Some(mut ui) = ToolUi::of(tool) {
        ui.resource_uri = None;
        *tool = std::mem::take(tool).ui(&ui);
    }
    if let Some(meta) = &mut tool.meta {
        meta.remove(keys::UI_RESOURCE_URI);
        meta.remove(OUTPUT_TEMPLATE);
    }
}
