//! The protocol's revisions, with a predicate for each feature that depends on the revision.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>,
//! `docs/spec/revisions.md`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::de::parse_str;

/// The protocol's published revision. Comparison is by date: an older revision is less than a newer one.
///
/// Only this module and the modules `versioning` and `wire` of `mcp-core` compare revisions. Other code
/// uses the predicates.
///
/// # Examples
///
/// ```
/// use mcp::ProtocolVersion;
///
/// let version: ProtocolVersion = "2026-07-28".parse()?;
/// assert!(version.is_modern());
/// assert_eq!(version.as_str(), "2026-07-28");
/// # Ok::<(), mcp::types::UnknownVersion>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 2024-11-05: HTTP+SSE, the first revision.
    V2024_11_05,
    /// 2025-03-26: Streamable HTTP, batches, audio, annotations.
    V2025_03_26,
    /// 2025-06-18: structured results, elicitation, resource links.
    V2025_06_18,
    /// 2025-11-25: icons, URL elicitation, sampling with tools.
    V2025_11_25,
    /// 2026-07-28: stateless requests, multi round-trip requests, subscriptions.
    V2026_07_28,
}

/// Error of parsing a [`ProtocolVersion`]: the string is not a known revision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol version {0:?}; known are {known}", known = ProtocolVersion::listed(&ProtocolVersion::ALL))]
pub struct UnknownVersion(String);

impl ProtocolVersion {
    /// All known revisions, newest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];
    /// Newest known revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// Newest revision with an `initialize` handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// Returns the revision's name, as used in messages: a date.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns `true` if requests are stateless and carry their context in `_meta` (2026-07-28 and later).
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// Returns `true` if clients send `MCP-Protocol-Version` with every HTTP request (2025-06-18 and
    /// later).
    pub const fn has_version_header(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// Returns `true` if a stream starts with an event that has only an id, and the server may close the
    /// connection before the stream ends, so that the client polls (only 2025-11-25).
    // spec: RSM-05, RSM-06
    pub const fn has_stream_polling(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Returns `true` if JSON-RPC batches are allowed (only 2025-03-26).
    // spec: BASE-14, BASE-16
    pub const fn allows_batch(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }

    /// Returns `true` if tools have annotations, content may be audio, progress has messages, and servers
    /// declare completions (2025-03-26 and later).
    // spec: TOOL-05, TOOL-13
    pub const fn has_annotations_and_audio(self) -> bool {
        self as u8 >= Self::V2025_03_26 as u8
    }

    /// Returns `true` if definitions have titles and `_meta`, results have structured content and resource
    /// links, completion has a context, and annotations have a date (2025-06-18 and later).
    // spec: TOOL-05, TOOL-13, RSRC-03, RSRC-11, PROMPT-03, COMP-02, LIFE-16
    pub const fn has_titles_and_structure(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// Returns `true` if definitions have icons and implementations have a description (2025-11-25 and
    /// later).
    // spec: ICON-01, LIFE-16
    pub const fn has_icons(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// Returns `true` if tools declare their support for tasks (only 2025-11-25).
    // spec: TOOL-05
    pub const fn has_tool_execution(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Returns `true` if the revision has elicitation with forms (2025-06-18 and later).
    pub const fn has_elicitation(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// Returns `true` if the revision has elicitation with URLs, and forms have default values, titled
    /// choices and multiple selection (2025-11-25 and later).
    // spec: ELIC-05, ELIC-06
    pub const fn has_url_elicitation(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// Returns `true` if an elicitation with a URL has an id. 2025-11-25 requires it, and clients of older revisions
    /// that declare `elicitation.url` read requests of that revision.
    pub const fn has_elicitation_id(self) -> bool {
        !self.is_modern()
    }

    /// Returns `true` if sampling has tools and messages with several blocks (2025-11-25 and later).
    // spec: SAMP-06, SAMP-07
    pub const fn has_sampling_tools(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// Returns `true` if requests can run as experimental tasks (only 2025-11-25).
    pub const fn has_experimental_tasks(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Returns `true` if the tasks extension works with the revision (2026-07-28 and later).
    // spec: TASK-01
    pub const fn has_task_extension(self) -> bool {
        self.is_modern()
    }

    /// Returns `true` if structured content can be any JSON value and an output schema any schema
    /// (2026-07-28 and later). Earlier revisions allow only objects.
    // spec: TOOL-14
    pub const fn has_free_structure(self) -> bool {
        self.is_modern()
    }

    /// Returns `true` if an error can request that the user opens a URL (only 2025-11-25).
    // spec: ERR-13
    pub const fn has_url_elicitation_error(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Returns `true` if the revision is between `since` and `until`, inclusive.
    pub(crate) const fn within(self, since: Self, until: Self) -> bool {
        since as u8 <= self as u8 && self as u8 <= until as u8
    }

    /// Joins the names of `versions` with commas, for error messages.
    pub fn listed(versions: &[Self]) -> String {
        let names: Vec<_> = versions.iter().map(|v| v.as_str()).collect();
        names.join(", ")
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProtocolVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL
            .into_iter()
            .find(|version| version.as_str() == text)
            .ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

impl Serialize for ProtocolVersion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ProtocolVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_str(deserializer, str::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::ProtocolVersion;

    #[test]
    fn revision_parses_from_its_name() {
        for version in ProtocolVersion::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
        }
        let error = "2030-01-01".parse::<ProtocolVersion>().unwrap_err();
        assert!(error.to_string().contains("2030-01-01"), "{error}");
        assert!(error.to_string().contains("2026-07-28"), "{error}");
    }

    #[test]
    fn revisions_are_ordered_by_date() {
        assert!(ProtocolVersion::ALL.is_sorted_by(|a, b| a > b && a.as_str() > b.as_str()));
    }

    #[test]
    fn predicates_differ_by_revision() {
        let modern: Vec<_> = ProtocolVersion::ALL.map(ProtocolVersion::is_modern).into();
        assert_eq!(modern, [true, false, false, false, false]);
        let batch: Vec<_> = ProtocolVersion::ALL
            .map(ProtocolVersion::allows_batch)
            .into();
        assert_eq!(batch, [false, false, false, true, false]);
        let header: Vec<_> = ProtocolVersion::ALL
            .map(ProtocolVersion::has_version_header)
            .into();
        assert_eq!(header, [true, true, true, false, false]);
    }
}
