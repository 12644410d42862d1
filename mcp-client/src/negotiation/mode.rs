//! [`ConnectMode`], and what follows from it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use mcp_types::ProtocolVersion;

use super::probe::Verdict;

/// The choice of the protocol revision.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum ConnectMode {
    /// Sends `server/discover` and uses the newest revision that both sides support. Opens a session
    /// with a legacy server.
    #[default]
    Auto,
    /// Uses only this revision. With 2026-07-28 nothing is sent before the first call, so the
    /// server's capabilities are unknown until [`Client::discover`](crate::Client::discover) is called. With an older revision
    /// `initialize` requests it, and a server that answers with any other revision, also an older one,
    /// is refused ([`Error::supported_versions`](crate::Error::supported_versions) returns its revision). Use [`Legacy`](Self::Legacy)
    /// to accept what the server answers.
    Pin(ProtocolVersion),
    /// Opens a session without `server/discover`, for servers that are known to be older than
    /// 2026-07-28. `initialize` requests the newest revision with sessions, and every older revision
    /// that the server answers with is accepted.
    Legacy,
    /// Uses an earlier [`Negotiation`](crate::Negotiation)'s verdict. If the server has changed
    /// its revision since then, `initialize` or the first call fails.
    // spec: COMPAT-12
    Prior(Verdict),
}

/// The consequences of a [`ConnectMode`].
pub(crate) struct ConnectPlan {
    /// The allowed revisions.
    pub(crate) versions: Vec<ProtocolVersion>,
    /// The verdict until negotiation replaces it.
    pub(crate) verdict: Verdict,
    pub(crate) negotiates: bool,
}

impl ConnectPlan {
    pub(crate) fn new(mode: ConnectMode) -> Self {
        let all = ProtocolVersion::ALL;
        let (modern, legacy): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|version| version.is_modern());
        let (versions, verdict, negotiates) = match mode {
            ConnectMode::Auto => {
                let verdict = Verdict::modern(ProtocolVersion::LATEST, None);
                (all.to_vec(), verdict, true)
            }
            ConnectMode::Legacy => {
                let verdict = Verdict::legacy(ProtocolVersion::LATEST_LEGACY);
                (legacy, verdict, true)
            }
            ConnectMode::Pin(version) if version.is_modern() => {
                (vec![version], Verdict::modern(version, None), false)
            }
            ConnectMode::Pin(version) => (vec![version], Verdict::legacy(version), true),
            ConnectMode::Prior(verdict) if verdict.version().is_modern() => {
                (modern, verdict, false)
            }
            ConnectMode::Prior(verdict) => (legacy, verdict, true),
        };
        Self {
            versions,
            verdict,
            negotiates,
        }
    }
}
