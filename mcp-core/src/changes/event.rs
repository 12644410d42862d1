//! The events of changes.

use mcp_types::ServerCapabilities;

use crate::ServerNotification;

/// A change of a server's lists or resources.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeEvent {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources or of resource templates has changed.
    Resources,
    /// The content of a resource has changed.
    Resource {
        /// The URI of the resource.
        uri: Box<str>,
    },
}

impl ChangeEvent {
    /// Returns true if a server with these capabilities sends notifications of such changes.
    // spec: SUB-03, SUB-12
    pub fn is_offered(&self, capabilities: &ServerCapabilities) -> bool {
        let resources = capabilities.resources.as_ref();
        let declared = match self {
            Self::Tools => capabilities.tools.as_ref().map(|tools| tools.list_changed),
            Self::Prompts => capabilities
                .prompts
                .as_ref()
                .map(|prompts| prompts.list_changed),
            Self::Resources => resources.map(|resources| resources.list_changed),
            Self::Resource { .. } => resources.map(|resources| resources.subscribe),
        };
        declared.flatten() == Some(true)
    }
}

impl From<ChangeEvent> for ServerNotification {
    fn from(event: ChangeEvent) -> Self {
        match event {
            ChangeEvent::Tools => Self::ToolsChanged,
            ChangeEvent::Prompts => Self::PromptsChanged,
            ChangeEvent::Resources => Self::ResourcesChanged,
            ChangeEvent::Resource { uri } => Self::ResourceUpdated { uri: uri.into() },
        }
    }
}
