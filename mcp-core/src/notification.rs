//! Notifications, without the wire they go over.

use mcp_types::{
    Cancelled, ElicitationComplete, LogMessage, Method, ProgressToken, ProgressUpdate, RawObject,
    SubscriptionFilter,
};

/// What a server tells without being asked.
///
/// Which of them a revision has, and where it may say them, its wire knows: what does not exist is
/// not written.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ServerNotification {
    /// How far a call is.
    Progress {
        /// The token that the client gave.
        token: ProgressToken,
        /// How far.
        progress: ProgressUpdate,
    },
    /// What a handler has to say.
    Log(LogMessage),
    /// The server waits no longer for an answer of the client; in the modern era: it has ended a
    /// subscription and cannot answer the request that began it.
    // spec: CAN-01, CAN-09, GAP-01
    Cancelled(Cancelled),
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The list of resources has changed.
    ResourcesChanged,
    /// A resource has changed.
    ResourceUpdated {
        /// Which one, or one below the one that was asked for.
        uri: String,
    },
    /// A subscription begins: the changes that the server will tell.
    // spec: SUB-03
    Acknowledged(SubscriptionFilter),
    /// The user has done what there was to do at a URL (2025-11-25 alone).
    ElicitationComplete(ElicitationComplete),
    /// What an extension adds.
    Other {
        /// The method.
        method: Box<str>,
        /// Its parameters.
        params: Option<RawObject>,
    },
}

impl ServerNotification {
    /// The method, when it is one of the protocol.
    pub fn method(&self) -> Option<Method> {
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
}

/// What a client tells without being asked.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientNotification {
    /// The handshake is done (legacy era alone).
    // spec: LIFE-03
    Initialized,
    /// The client waits no longer for an answer.
    // spec: CAN-01
    Cancelled(Cancelled),
    /// How far the answer to a request of the server is (legacy era alone).
    Progress {
        /// The token that the server gave.
        token: ProgressToken,
        /// How far.
        progress: ProgressUpdate,
    },
    /// The roots have changed (legacy era alone).
    // spec: ROOT-02
    RootsChanged,
    /// What an extension adds.
    Other {
        /// The method.
        method: Box<str>,
        /// Its parameters.
        params: Option<RawObject>,
    },
}

impl ClientNotification {
    /// The method, when it is one of the protocol.
    pub fn method(&self) -> Option<Method> {
        Some(match self {
            Self::Initialized => Method::Initialized,
            Self::Cancelled(_) => Method::Cancelled,
            Self::Progress { .. } => Method::Progress,
            Self::RootsChanged => Method::RootsChanged,
            Self::Other { method, .. } => return Method::from_name(method),
        })
    }
}
