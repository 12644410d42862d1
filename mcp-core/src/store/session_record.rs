//! The stored state of a session.

use mcp_types::{ClientCapabilities, LoggingLevel, ProtocolVersion, RawObject};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};

use crate::authorization::CallerKey;
use crate::connection::{ClientContext, check_client_size};

/// The stored state of a session, with which another node or a later process continues it. Running
/// calls and pending requests to the client are not stored.
///
/// A record whose client has more than 16 KiB of JSON or 256 values does not deserialize.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
// With `remote`, serde derives inherent functions. The traits call them's implementations.
#[serde(rename_all = "camelCase", remote = "Self")]
#[non_exhaustive]
pub struct SessionRecord {
    /// The name of the server that opened the session. Another server that shares the store does not continue it.
    pub server: String,
    /// The session's revision.
    pub version: ProtocolVersion,
    /// The capabilities that the client declared.
    pub capabilities: ClientCapabilities,
    /// The name and version that the client claims, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_info: Option<RawObject>,
    /// The least severe level of log messages that the client wants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_level: Option<LoggingLevel>,
    /// The URIs of the resources that the client subscribed to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subscriptions: Vec<String>,
    /// The caller that opened the session.
    // spec: SESS-11
    #[serde(rename = "caller")]
    pub owner: CallerKey,
    /// The key that binds the session to a part of the program, over HTTP: by default its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The notification topic for this session alone, if its client visits URLs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// True after the client has sent `notifications/initialized`.
    #[serde(default)]
    pub ready: bool,
}

impl<'de> Deserialize<'de> for SessionRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let record = Self::deserialize(deserializer)?;
        check_client_size(record.client_info.as_ref(), &record.capabilities)
            .map_err(D::Error::custom)?;
        Ok(record)
    }
}

impl Serialize for SessionRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl SessionRecord {
    pub(crate) fn facts(&self) -> ClientContext {
        let mut facts = ClientContext::new(self.version);
        facts.capabilities.clone_from(&self.capabilities);
        facts.log_level = self.log_level;
        facts.info.clone_from(&self.client_info);
        facts
    }
}
