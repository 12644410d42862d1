//! The events of changes.

use std::sync::Arc;

use mcp_types::{ElicitationComplete, Method, RawObject, ServerCapabilities};

use crate::authorization::CallerKey;
use crate::message::ServerNotification;

/// A change of a server's lists or resources.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeEvent {
    /// The list of tools has changed.
    Tools,
    /// The list of prompts has changed.
    Prompts,
    /// The resource list or the template list has changed.
    Resources,
    /// The content of a resource has changed.
    Resource {
        /// The resource's URI.
        uri: Box<str>,
    },
    /// An extension notification, for the clients that declare the extension.
    Notification(Arc<ExtensionNotification>),
}

/// Prefix of [`ExtensionNotification::extension`] in a notification for one session. Extension identifiers have
/// no colon.
const OF_SESSION: &str = "session:";

/// A notification that belongs to no call: of an extension, or of a finished elicitation for one session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ExtensionNotification {
    /// The extension identifier. `session:` and an elicitation id for the session that has sent it.
    pub extension: Box<str>,
    /// The method.
    pub method: Box<str>,
    /// The parameters, a JSON object.
    pub params: Box<str>,
    /// The caller whose clients receive it. `None`: all clients.
    pub caller: Option<CallerKey>,
}

impl ExtensionNotification {
    /// A notification with its parameters.
    pub fn new(
        extension: impl Into<Box<str>>,
        method: impl Into<Box<str>>,
        params: &RawObject,
    ) -> Self {
        Self {
            extension: extension.into(),
            method: method.into(),
            params: params.as_str().into(),
            caller: None,
        }
    }

    /// The notification that the user has finished at an elicitation's URL. The session whose
    /// [topic](crate::BackChannel::topic) is the beginning of `id` receives it.
    // spec: ELIC-10
    pub fn elicitation_complete(id: &str) -> Self {
        let params = RawObject::from_value(&ElicitationComplete::from(id));
        let params = params.unwrap_or_default();
        let method = Method::ElicitationComplete.as_str();
        Self::new(format!("{OF_SESSION}{id}"), method, &params)
    }

    /// Returns true if the notification is for the session with this topic.
    pub(super) fn is_for_session(&self, topic: &str) -> bool {
        let id = self.extension.strip_prefix(OF_SESSION);
        id.is_some_and(|id| id.starts_with(topic))
    }

    /// Returns the number of bytes that the notification occupies in a queue.
    pub(super) fn size(&self) -> usize {
        self.extension.len() + self.method.len() + self.params.len()
    }
}

impl ChangeEvent {
    /// Returns true if a server with these capabilities sends notifications of such changes.
    // spec: SUB-03, SUB-12
    pub fn is_offered(&self, capabilities: &ServerCapabilities) -> bool {
        let resources = capabilities.resources.as_ref();
        if let Self::Notification(notification) = self {
            let extension = &notification.extension;
            return extension.starts_with(OF_SESSION) || capabilities.has_extension(extension);
        }
        let declared = match self {
            Self::Tools => capabilities.tools.as_ref().map(|tools| tools.list_changed),
            Self::Prompts => capabilities
                .prompts
                .as_ref()
                .map(|prompts| prompts.list_changed),
            Self::Resources => resources.map(|resources| resources.list_changed),
            _ => resources.map(|resources| resources.subscribe),
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
            ChangeEvent::Notification(notification) => {
                let params = &*notification.params;
                if notification.extension.starts_with(OF_SESSION)
                    && let Ok(complete) = serde_json::from_str(params)
                {
                    return Self::ElicitationComplete(complete);
                }
                Self::Other {
                    method: notification.method.clone(),
                    params: RawObject::from_text(params).ok(),
                }
            }
        }
    }
}
