//! How a client finds out which era a server speaks.
//!
//! A machine without IO: the client tells it what came back ([`Evidence`]), it says what to do next
//! ([`Step`]).
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility>

use http::StatusCode;
use mcp_types::json::{members, read_and_written, read_via, written_via};
use mcp_types::{DiscoverResult, InitializeResult, ProtocolVersion};

use super::newest_common;
use crate::Fault;

/// What is known of a server: enough to connect to it again without asking.
// spec: COMPAT-12
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It serves requests without a session.
    #[non_exhaustive]
    Modern {
        /// The revision that both sides speak.
        version: ProtocolVersion,
        /// What it said of itself, when it was asked.
        server: Option<Box<DiscoverResult>>,
    },
    /// It wants a session.
    #[non_exhaustive]
    Legacy {
        /// The revision that both sides speak.
        version: ProtocolVersion,
    },
}

impl Verdict {
    /// A server without sessions.
    #[inline]
    pub fn modern(version: ProtocolVersion, server: Option<DiscoverResult>) -> Self {
        let server = server.map(Box::new);
        Self::Modern { version, server }
    }

    /// A server with sessions.
    #[inline]
    pub fn legacy(version: ProtocolVersion) -> Self {
        Self::Legacy { version }
    }

    /// The revision that both sides speak.
    #[inline]
    pub fn version(&self) -> ProtocolVersion {
        match self {
            Self::Modern { version, .. } | Self::Legacy { version } => *version,
        }
    }
}

const MODERN: &str = "modern";
const LEGACY: &str = "legacy";

/// A verdict, as it is written down.
struct Written {
    era: String,
    version: ProtocolVersion,
    server: Option<Box<DiscoverResult>>,
}

members!(Written as "what is known of a server" {
    "era" => era,
    "version" => version,
    "server" => server or nothing,
});

impl From<&Verdict> for Written {
    #[inline]
    fn from(verdict: &Verdict) -> Self {
        let (era, server) = match verdict {
            Verdict::Modern { server, .. } => (MODERN, server.clone()),
            Verdict::Legacy { .. } => (LEGACY, None),
        };
        Self {
            era: era.to_owned(),
            version: verdict.version(),
            server,
        }
    }
}

impl Written {
    #[inline]
    fn verdict(self) -> Result<Verdict, String> {
        let Self {
            version, server, ..
        } = self;
        match &*self.era {
            MODERN => Ok(Verdict::Modern { version, server }),
            LEGACY => Ok(Verdict::Legacy { version }),
            era => Err(format!("no era is called {era:?}")),
        }
    }
}

read_via!(
    Verdict,
    Self::legacy(ProtocolVersion::LATEST),
    |found: Written| found.verdict()
);
written_via!(Verdict, Written);
read_and_written!(Verdict);

/// What came back.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Evidence<'a> {
    /// The answer to `server/discover`.
    Discovered(&'a DiscoverResult),
    /// The answer to `initialize`.
    Initialized(&'a InitializeResult),
    /// An error, with the HTTP status where there was one.
    Fault(&'a Fault, Option<StatusCode>),
    /// A result of another shape.
    Unreadable,
    /// An HTTP status without a message.
    Status(StatusCode),
    /// Nothing, on a pipe.
    Silence,
    /// The end of the pipe.
    Gone,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Ask `server/discover` in this revision.
    Discover(ProtocolVersion),
    /// Open a session in this revision. A server that has ended is started anew for it.
    Initialize(ProtocolVersion),
    /// The server speaks this revision.
    Done(ProtocolVersion),
    /// There is no way.
    Fail(ProbeError),
}

/// Why a server cannot be spoken with.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The two sides have no revision in common.
    #[error("no protocol version in common: the server speaks {theirs:?}, this client {ours:?}")]
    NothingInCommon {
        /// What the server speaks.
        theirs: Vec<String>,
        /// What the client speaks.
        ours: Vec<ProtocolVersion>,
    },
    /// It wants to know who asks.
    // spec: COMPAT-14
    #[error("the server wants authorization (HTTP status {0})")]
    Unauthorized(StatusCode),
    /// It failed, which tells nothing about its era.
    #[error("the server failed (HTTP status {0})")]
    Failed(StatusCode),
    /// It refuses in a way that is the same in all revisions.
    #[error("the server refuses to be asked what it speaks: {0}")]
    Refused(Fault),
    /// It answers neither `server/discover` nor `initialize` with anything that makes sense.
    #[error("the server answers `initialize` with {0}")]
    UnexpectedResponse(String),
}

/// The machine.
#[derive(Debug)]
pub struct Probe {
    spoken: Vec<ProtocolVersion>,
    stage: Stage,
    /// `server/discover` was asked again in a revision that the server named.
    corrected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Discovering,
    Initializing,
}

impl Probe {
    /// A client that speaks these revisions, and its first step.
    #[inline]
    pub fn start(spoken: &[ProtocolVersion]) -> (Self, Step) {
        let mut probe = Self {
            spoken: spoken.to_vec(),
            stage: Stage::Discovering,
            corrected: false,
        };
        let newest = spoken.iter().copied().max();
        let step = match newest {
            Some(version) if version.is_modern() => Step::Discover(version),
            _ => probe.initialize(Vec::new()),
        };
        (probe, step)
    }

    /// What follows from what came back.
    #[inline]
    pub fn next(&mut self, evidence: Evidence<'_>) -> Step {
        match self.stage {
            Stage::Discovering => self.discovering(evidence),
            Stage::Initializing => self.initializing(evidence),
        }
    }

    // spec: COMPAT-08, COMPAT-09, COMPAT-11, COMPAT-14
    #[inline]
    fn discovering(&mut self, evidence: Evidence<'_>) -> Step {
        match evidence {
            Evidence::Discovered(found) => {
                match newest_common(&found.supported_versions, &self.spoken) {
                    Some(version) => Step::Done(version),
                    None => self.by_name(&found.supported_versions),
                }
            }
            Evidence::Fault(Fault::UnsupportedVersion { supported, .. }, _) => {
                match newest_common(supported, &self.spoken) {
                    Some(version) => self.correct(version, supported),
                    None => self.by_name(supported),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(no_evidence(status))
            }
            // Only modern servers know these, unless the status says otherwise.
            Evidence::Fault(
                fault @ (Fault::HeaderMismatch(_) | Fault::MissingCapability { .. }),
                None | Some(StatusCode::BAD_REQUEST),
            ) => Step::Fail(ProbeError::Refused(fault.clone())),
            _ => self.initialize(Vec::new()),
        }
    }

    #[inline]
    fn initializing(&mut self, evidence: Evidence<'_>) -> Step {
        match evidence {
            Evidence::Initialized(opened) => match opened.version() {
                Some(version) if !version.is_modern() && self.spoken.contains(&version) => {
                    Step::Done(version)
                }
                // spec: LIFE-08
                _ => self.nothing_in_common(vec![opened.protocol_version.clone()]),
            },
            // A slow modern server, whose answer to the probe came too late.
            // spec: COMPAT-16
            Evidence::Fault(Fault::UnsupportedVersion { supported, .. }, _) => {
                match newest_common(supported, &self.spoken) {
                    Some(version) => self.correct(version, supported),
                    None => self.nothing_in_common(supported.clone()),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(no_evidence(status))
            }
            Evidence::Fault(fault, _) => {
                Step::Fail(ProbeError::UnexpectedResponse(fault.to_string()))
            }
            Evidence::Status(status) => Step::Fail(ProbeError::UnexpectedResponse(format!(
                "HTTP status {status}"
            ))),
            Evidence::Silence => Step::Fail(ProbeError::UnexpectedResponse("silence".to_owned())),
            Evidence::Gone => Step::Fail(ProbeError::UnexpectedResponse("the end".to_owned())),
            Evidence::Unreadable | Evidence::Discovered(_) => {
                Step::Fail(ProbeError::UnexpectedResponse("another result".to_owned()))
            }
        }
    }

    /// The server is modern and named a revision that both sides speak. It is asked once more, not
    /// for ever.
    #[inline]
    fn correct(&mut self, version: ProtocolVersion, supported: &[String]) -> Step {
        if std::mem::replace(&mut self.corrected, true) {
            let fault = Fault::UnsupportedVersion {
                requested: version.as_str().into(),
                supported: supported.to_vec(),
            };
            return Step::Fail(ProbeError::Refused(fault));
        }
        self.stage = Stage::Discovering;
        Step::Discover(version)
    }

    /// The server named no modern revision that the client speaks, perhaps one with sessions.
    // spec: GAP-07
    #[inline]
    fn by_name(&mut self, supported: &[String]) -> Step {
        let known = |version: &&ProtocolVersion| {
            !version.is_modern() && supported.iter().any(|name| name == version.as_str())
        };
        match self.spoken.iter().filter(known).max() {
            Some(version) => self.open(*version),
            None => self.nothing_in_common(supported.to_vec()),
        }
    }

    #[inline]
    fn initialize(&mut self, theirs: Vec<String>) -> Step {
        let sessions = self.spoken.iter().filter(|version| !version.is_modern());
        match sessions.max().copied() {
            Some(version) => self.open(version),
            None => self.nothing_in_common(theirs),
        }
    }

    #[inline]
    fn open(&mut self, version: ProtocolVersion) -> Step {
        self.stage = Stage::Initializing;
        Step::Initialize(version)
    }

    #[inline]
    fn nothing_in_common(&self, theirs: Vec<String>) -> Step {
        let ours = self.spoken.clone();
        Step::Fail(ProbeError::NothingInCommon { theirs, ours })
    }
}

/// Statuses that tell nothing about the era.
// spec: COMPAT-14
#[inline]
fn is_no_evidence(status: StatusCode) -> bool {
    use StatusCode as S;
    status.is_server_error()
        || matches!(
            status,
            S::UNAUTHORIZED | S::FORBIDDEN | S::TOO_MANY_REQUESTS | S::REQUEST_TIMEOUT
        )
}

#[inline]
fn no_evidence(status: StatusCode) -> ProbeError {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ProbeError::Unauthorized(status),
        _ => ProbeError::Failed(status),
    }
}

#[cfg(test)]
mod tests;
