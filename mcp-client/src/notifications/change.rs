//! Changes that a server notifies of.

use mcp_core::ServerNotification;
use mcp_types::{RawObject, SubscriptionFilter};

/// A change that a subscription delivers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The list of resources or templates has changed.
    Resources,
    /// A resource has changed.
    Resource {
        /// The subscribed URI, or a URI below it.
        uri: String,
    },
    /// The stream broke and was opened again. Each item of the filter may have changed in between.
    Missed(SubscriptionFilter),
    /// An extension notification.
    Other {
        /// The method.
        method: Box<str>,
        /// The parameters.
        params: Option<RawObject>,
    },
}

impl Change {
    /// Converts a notification. Returns `None` when it reports no change.
    pub(crate) fn from_notification(notification: ServerNotification) -> Option<Self> {
        Some(match notification {
            ServerNotification::ToolsChanged => Self::Tools,
            ServerNotification::PromptsChanged => Self::Prompts,
            ServerNotification::ResourcesChanged => Self::Resources,
            ServerNotification::ResourceUpdated { uri } => Self::Resource { uri },
            ServerNotification::Other { method, params } => Self::Other { method, params },
            _ => return None,
        })
    }

    /// Returns whether a subscription with `filter` covers the change.
    pub(crate) fn matches(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource { uri } => filter.covering(uri).is_some(),
            Self::Missed(_) => true,
            Self::Other { .. } => {
                !filter.extra.is_empty()
                    || !filter.task_ids.is_empty()
                    || filter.events_list_changed
            }
        }
    }
}
