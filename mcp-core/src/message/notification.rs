//! Notifications of both sides, independent of the wire.

use mcp_types::{
    Cancelled, ElicitationComplete, LogMessage, Method, ProgressToken, ProgressUpdate, RawObject,
    SubscriptionFilter,
};

/// A server notification.
///
/// The [wire](crate::wire) of a revision knows which of them exist and on which stream they may be
/// sent.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerNotification {
    /// Progress of a call.
    Progress {
        /// The token that the client has chosen.
        token: ProgressToken,
        /// The progress.
        progress: ProgressUpdate,
    },
    /// A log message of a handler.
    Log(LogMessage),
    /// The server has cancelled a request to the client. In the modern era: the server has ended a
    /// subscription whose request it cannot answer.
    // spec: GAP-01
    Cancelled(Cancelled),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// The content of a resource has changed.
    ResourceUpdated {
        /// The resource's URI. It may be below the URI that the client subscribed to.
        uri: String,
    },
    /// A subscription has started, to these changes.
    Acknowledged(SubscriptionFilter),
    /// The user has completed an elicitation at a URL (2025-11-25 only).
    ElicitationComplete(ElicitationComplete),
    /// An extension notification.
    Other {
        /// The method.
        method: Box<str>,
        /// The parameters.
        params: Option<RawObject>,
    },
}

impl ServerNotification {
    /// Returns the method. `None` for an extension method.
    pub(crate) fn method(&self) -> Option<Method> {
        Some(match self {
            Self::Progress { .. } => Method::Progress,
            Self::Log(_) => Method::LogMessage,
            Self::Cancelled(_) => Method::Cancelled,
            Self::ToolsChanged => Method::ToolsChanged,
            Self::PromptsChanged => Method::PromptsChanged,
            Self::ResourcesChanged => Method::ResourcesChanged,
            Self::ResourceUpdated { .. } => Method::ResourceUpdated,
            Self::Acknowledged(_) => Method::SubscriptionAcknowledged,
            Self::ElicitationComplete(_) => Method::ElicitationComplete,
            Self::Other { method, .. } => return Method::from_name(method),
        })
    }

    /// Returns the method name, also that of an extension.
    pub(crate) fn method_name(&self) -> &str {
        match (self, self.method()) {
            (Self::Other { method, .. }, _) => method,
            (_, Some(method)) => method.as_str(),
            (_, None) => "",
        }
    }

    /// Returns the URI of the resource that the notification names.
    pub(crate) fn uri(&self) -> Option<&str> {
        match self {
            Self::ResourceUpdated { uri } => Some(uri),
            _ => None,
        }
    }
}

/// A client notification.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientNotification {
    /// The handshake of a session is complete (legacy era only).
    Initialized,
    /// The client has cancelled a request.
    Cancelled(Cancelled),
    /// The progress of a server's request (legacy era only).
    Progress {
        /// The token that the server has chosen.
        token: ProgressToken,
        /// The progress.
        progress: ProgressUpdate,
    },
    /// The roots have changed (legacy era only).
    RootsChanged,
    /// An extension notification.
    Other {
        /// The method.
        method: Box<str>,
        /// The parameters.
        params: Option<RawObject>,
    },
}

impl ClientNotification {
    /// Returns the method. `None` for an extension method.
    pub(crate) fn method(&self) -> Option<Method> {
        Some(match self {
            Self::Initialized => Method::Initialized,
            Self::Cancelled(_) => Method::Cancelled,
            Self::Progress { .. } => Method::Progress,
            Self::RootsChanged => Method::RootsChanged,
            Self::Other { method, .. } => return Method::from_name(method),
        })
    }
}
