//! What a server tells to have changed.

use mcp_core::ServerNotification;
use mcp_types::{RawObject, SubscriptionFilter};

/// Something that a subscription tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources or of templates has changed.
    Resources,
    /// A resource has changed.
    Resource {
        /// Which one, or one below the one that was asked for.
        uri: String,
    },
    /// The stream broke and goes on now: each of these may have changed in between.
    Missed(SubscriptionFilter),
    /// What an extension tells.
    Other {
        /// The method.
        method: Box<str>,
        /// Its parameters.
        params: Option<RawObject>,
    },
}

impl Change {
    /// The change that a notification tells.
    pub(crate) fn of(note: ServerNotification) -> Option<Self> {
        Some(match note {
            ServerNotification::ToolsChanged => Self::Tools,
            ServerNotification::PromptsChanged => Self::Prompts,
            ServerNotification::ResourcesChanged => Self::Resources,
            ServerNotification::ResourceUpdated { uri } => Self::Resource { uri },
            ServerNotification::Other { method, params } => Self::Other { method, params },
            _ => return None,
        })
    }

    /// Somebody who asked for `filter` wants to know of it.
    // spec: SUB-02
    pub(crate) fn is_in(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource { uri } => filter.covers(uri),
            Self::Missed(_) => true,
            Self::Other { .. } => !filter.extra.is_empty() || !filter.task_ids.is_empty(),
        }
    }
}
