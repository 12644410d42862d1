//! Identity and capabilities of the two sides. Unknown capabilities and extensions survive in every
//! revision.

use mcp_types::{
    ClientCapabilities, DiscoverResult, Implementation, InitializeParams, InitializeResult,
    ProtocolVersion, ServerCapabilities,
};

use super::narrowed::Narrow;

// spec: LIFE-16
impl Narrow for Implementation {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_titles_and_structure() {
            self.title = None;
        }
        if !to.has_icons() {
            self.description = None;
            self.website_url = None;
            self.icons.clear();
        }
    }
}

// spec: LIFE-10, VER-16, GAP-15
impl Narrow for ClientCapabilities {
    fn narrow(&mut self, to: ProtocolVersion) {
        if let Some(roots) = &mut self.roots
            && to.is_modern()
        {
            roots.list_changed = None;
        }
        if let Some(sampling) = &mut self.sampling
            && !to.has_sampling_tools()
        {
            sampling.context = None;
            sampling.tools = None;
        }
        if !to.has_url_elicitation() {
            // These revisions have forms only, without a name for the mode.
            if !self.allows_form() || !to.has_elicitation() {
                self.elicitation = None;
            }
            if let Some(elicitation) = &mut self.elicitation {
                elicitation.form = None;
                elicitation.url = None;
            }
        }
        if !to.has_experimental_tasks() {
            self.tasks = None;
        }
    }
}

/// Returns true for capabilities that contain no legacy fields.
pub(in crate::wire) fn is_modern(capabilities: &ClientCapabilities) -> bool {
    let roots = capabilities.roots.as_ref();
    capabilities.tasks.is_none() && roots.is_none_or(|roots| roots.list_changed.is_none())
}

// spec: LIFE-10, VER-16, GAP-15
impl Narrow for ServerCapabilities {
    fn narrow(&mut self, to: ProtocolVersion) {
        if !to.has_annotations_and_audio() {
            self.completions = None;
        }
        if !to.has_experimental_tasks() {
            self.tasks = None;
        }
    }
}

impl Narrow for DiscoverResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.capabilities.narrow(to);
    }
}

impl Narrow for InitializeParams {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.capabilities.narrow(to);
        self.client_info.narrow(to);
    }
}

impl Narrow for InitializeResult {
    fn narrow(&mut self, to: ProtocolVersion) {
        self.capabilities.narrow(to);
        self.server_info.narrow(to);
    }
}
