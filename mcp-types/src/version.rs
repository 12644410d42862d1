//! Revisions of the protocol, and every fact that depends on one as a named predicate.

use std::fmt;
use std::str::FromStr;

use crate::text::{as_text, joined};

/// A published revision of the protocol, oldest first.
///
/// The ordering exists for the three places that decide by revision (this module, `versioning`
/// and `wire` in `mcp-core`); everywhere else ask a predicate.
///
/// # Examples
///
/// ```
/// use mcp_types::ProtocolVersion;
///
/// let version: ProtocolVersion = "2026-07-28".parse()?;
/// assert!(version.is_modern());
/// assert_eq!(version.as_str(), "2026-07-28");
/// # Ok::<(), mcp_types::UnknownVersion>(())
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

/// How requests of a revision get their context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Era {
    /// `initialize` handshake and sessions: up to 2025-11-25.
    Legacy,
    /// Stateless, everything in the request's `_meta`: from 2026-07-28 on.
    Modern,
}

/// The text names no revision that this library knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown protocol version {0:?}; known are {known}", known = ProtocolVersion::listed(&ProtocolVersion::ALL))]
pub struct UnknownVersion(String);

impl ProtocolVersion {
    /// Every known revision, newest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];
    /// The newest known revision.
    pub const LATEST: Self = Self::V2026_07_28;
    /// The newest revision with an `initialize` handshake.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The revision's name on the wire, a date.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era this revision belongs to.
    pub const fn era(self) -> Era {
        if self.is_modern() {
            Era::Modern
        } else {
            Era::Legacy
        }
    }

    /// Stateless requests that carry their context in `_meta` (2026-07-28 and later).
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// Clients send `MCP-Protocol-Version` on every HTTP request (2025-06-18 and later).
    pub const fn has_version_header(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// A stream begins with an event that carries nothing but an id, and its connection may end
    /// before it does (2025-11-25 alone).
    // spec: RSM-05, RSM-06
    pub const fn has_stream_polling(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// JSON-RPC batches exist (2025-03-26 alone).
    // spec: BASE-14, BASE-16
    pub const fn allows_batch(self) -> bool {
        matches!(self, Self::V2025_03_26)
    }

    /// Tools carry annotations, contents may be sound, progress has words, servers declare
    /// completions (2025-03-26 and later).
    // spec: TOOL-05, TOOL-13, PROG-02, COMP-01
    pub const fn has_annotations_and_audio(self) -> bool {
        self as u8 >= Self::V2025_03_26 as u8
    }

    /// Definitions have titles and `_meta`, results structured content and resource links,
    /// completion a context, annotations a date (2025-06-18 and later).
    // spec: TOOL-05, TOOL-13, RSRC-03, RSRC-11, PROMPT-03, COMP-02, LIFE-16
    pub const fn has_titles_and_structure(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// Definitions have icons, implementations a description (2025-11-25 and later).
    // spec: ICON-01, LIFE-16
    pub const fn has_icons(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// Tools say how they take part in tasks (2025-11-25 alone).
    // spec: TOOL-05
    pub const fn has_tool_execution(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Servers ask users by forms (2025-06-18 and later).
    // spec: ELIC-01
    pub const fn has_elicitation(self) -> bool {
        self as u8 >= Self::V2025_06_18 as u8
    }

    /// Servers send users to URLs; forms have defaults, choices with titles and multiple choices
    /// (2025-11-25 and later).
    // spec: ELIC-05, ELIC-06, ELIC-08
    pub const fn has_url_elicitation(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// An elicitation by URL has an id (2025-11-25 alone, and required there).
    // spec: ELIC-08, ELIC-10
    pub const fn has_elicitation_id(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Sampling has tools, and messages of several blocks (2025-11-25 and later).
    // spec: SAMP-06, SAMP-07
    pub const fn has_sampling_tools(self) -> bool {
        self as u8 >= Self::V2025_11_25 as u8
    }

    /// Requests can run as experimental tasks (2025-11-25 alone).
    // spec: TASKL-01
    pub const fn has_experimental_tasks(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// Structured content is any JSON value, an output schema any schema (2026-07-28 and later);
    /// before, both are objects.
    // spec: TOOL-14
    pub const fn has_free_structure(self) -> bool {
        self.is_modern()
    }

    /// A missing resource has an error code of its own (up to 2025-11-25).
    // spec: RSRC-05, ERR-06
    pub const fn has_resource_not_found_code(self) -> bool {
        !self.is_modern()
    }

    /// An error can send the user to a URL (2025-11-25 alone).
    // spec: ERR-13
    pub const fn has_url_elicitation_error(self) -> bool {
        matches!(self, Self::V2025_11_25)
    }

    /// The revision lies between `since` and `until`, both included.
    pub const fn within(self, since: Self, until: Self) -> bool {
        since as u8 <= self as u8 && self as u8 <= until as u8
    }

    /// The names of several revisions, for error messages.
    pub fn listed(versions: &[Self]) -> String {
        let names: Vec<_> = versions.iter().map(|v| v.as_str()).collect();
        joined(&names, ", ")
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

as_text!(
    ProtocolVersion,
    Self::LATEST,
    |version| version.as_str(),
    |text| {
        text.parse()
            .map_err(|error: UnknownVersion| error.to_string())
    }
);

#[cfg(test)]
mod tests {
    use super::{Era, ProtocolVersion};

    #[test]
    fn names_parse_back() {
        for version in ProtocolVersion::ALL {
            assert_eq!(version.as_str().parse(), Ok(version));
        }
        let error = "2030-01-01".parse::<ProtocolVersion>().unwrap_err();
        assert!(error.to_string().contains("2030-01-01"), "{error}");
        assert!(error.to_string().contains("2026-07-28"), "{error}");
    }

    #[test]
    fn names_sort_like_revisions() {
        assert!(ProtocolVersion::ALL.is_sorted_by(|a, b| a > b && a.as_str() > b.as_str()));
    }

    #[test]
    fn facts() {
        let modern: Vec<_> = ProtocolVersion::ALL.map(|v| v.era() == Era::Modern).into();
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
