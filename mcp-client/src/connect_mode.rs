//! [`ConnectMode`], and what follows from it.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning>

use mcp_types::ProtocolVersion;

use crate::probe::Verdict;

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
        match mode {
            ConnectMode::Auto => Self {
                versions: all.to_vec(),
                verdict: Verdict::modern(ProtocolVersion::LATEST, None),
                negotiates: true,
            },
            ConnectMode::Legacy => Self {
                versions: legacy,
                verdict: Verdict::legacy(ProtocolVersion::LATEST_LEGACY),
                negotiates: true,
            },
            ConnectMode::Pin(version) if version.is_modern() => Self {
                versions: vec![version],
                verdict: Verdict::modern(version, None),
                negotiates: false,
            },
            ConnectMode::Pin(version) => Self {
                versions: vec![version],
                verdict: Verdict::legacy(version),
                negotiates: true,
            },
            ConnectMode::Prior(verdict) => {
                let is_modern = verdict.version().is_modern();
                Self {
                    versions: if is_modern { modern } else { legacy },
                    negotiates: !is_modern,
                    verdict,
                }
            }
        }
    }
}
