//! Detection of the era and the revision of a server, by a client.
//!
//! The state machine does no IO: it receives the outcome of each step ([`Evidence`]) and returns the
//! next [`Step`].
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility>

use http::StatusCode;
use mcp_types::{DiscoverResult, InitializeResult, ProtocolVersion};
use serde::{Deserialize, Serialize};

use super::newest_common;
use crate::Fault;

/// The era and the revision of a server. A stored verdict saves the detection on the next connection.
// spec: COMPAT-12
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "Written", from = "Written")]
#[non_exhaustive]
pub enum Verdict {
    /// The server serves self-contained requests.
    #[non_exhaustive]
    Modern {
        /// The negotiated revision.
        version: ProtocolVersion,
        /// The result of `server/discover`, if the client has called it.
        server: Option<Box<DiscoverResult>>,
    },
    /// The server requires a session.
    #[non_exhaustive]
    Legacy {
        /// The negotiated revision.
        version: ProtocolVersion,
    },
}

impl Verdict {
    /// A server of the modern era.
    pub fn modern(version: ProtocolVersion, server: Option<DiscoverResult>) -> Self {
        let server = server.map(Box::new);
        Self::Modern { version, server }
    }

    /// A server of the legacy era.
    pub fn legacy(version: ProtocolVersion) -> Self {
        Self::Legacy { version }
    }

    /// Returns the negotiated revision.
    pub fn version(&self) -> ProtocolVersion {
        match self {
            Self::Modern { version, .. } | Self::Legacy { version } => *version,
        }
    }
}

/// The serialized form of a [`Verdict`].
#[derive(Serialize, Deserialize)]
struct Written {
    era: WrittenEra,
    version: ProtocolVersion,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<Box<DiscoverResult>>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum WrittenEra {
    Modern,
    Legacy,
}

impl From<Verdict> for Written {
    fn from(verdict: Verdict) -> Self {
        let version = verdict.version();
        let (era, server) = match verdict {
            Verdict::Modern { server, .. } => (WrittenEra::Modern, server),
            Verdict::Legacy { .. } => (WrittenEra::Legacy, None),
        };
        Self {
            era,
            version,
            server,
        }
    }
}

impl From<Written> for Verdict {
    fn from(written: Written) -> Self {
        let Written {
            era,
            version,
            server,
        } = written;
        match era {
            WrittenEra::Modern => Self::Modern { version, server },
            WrittenEra::Legacy => Self::Legacy { version },
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Evidence<'a> {
    /// The result of `server/discover`.
    Discovered(&'a DiscoverResult),
    /// The result of `initialize`.
    Initialized(&'a InitializeResult),
    /// An error, with the HTTP status of its response.
    Fault(&'a Fault, Option<StatusCode>),
    /// A result that does not fit the method.
    Unreadable,
    /// An HTTP status without a message.
    Status(StatusCode),
    /// No response in time, on a pipe.
    Silence,
    /// The end of the pipe without a response.
    Gone,
}

/// The next action of the client.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Call `server/discover` in this revision.
    Discover(ProtocolVersion),
    /// Open a session in this revision. A server that has exited is restarted first.
    Initialize(ProtocolVersion),
    /// The detection is complete: both sides support this revision.
    Done(ProtocolVersion),
    /// The detection has failed.
    Fail(ProbeError),
}

/// The failure of a detection.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The two sides have no revision in common.
    #[error("no protocol version in common: the server speaks {theirs:?}, this client {ours:?}")]
    NothingInCommon {
        /// The revisions that the server supports.
        theirs: Vec<String>,
        /// The revisions that the client supports.
        ours: Vec<ProtocolVersion>,
    },
    /// The server requires authorization.
    // spec: COMPAT-14
    #[error("the server wants authorization (HTTP status {0})")]
    Unauthorized(StatusCode),
    /// The server failed, which is no evidence for an era.
    #[error("the server failed (HTTP status {0})")]
    Failed(StatusCode),
    /// The server refuses the client in every revision.
    #[error("the server refuses the client in every protocol version: {0}")]
    Refused(Fault),
    /// The responses to `server/discover` and `initialize` fit no era.
    #[error("the server answers `initialize` with {0}")]
    UnexpectedResponse(String),
}

/// The state machine of the detection.
#[derive(Debug)]
pub struct Probe {
    supported: Vec<ProtocolVersion>,
    stage: Stage,
    /// True after `server/discover` was repeated in a revision that the server named.
    corrected: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Discovering,
    Initializing,
}

impl Probe {
    /// Starts the detection for a client that supports these revisions. Returns the first step.
    pub fn start(supported: &[ProtocolVersion]) -> (Self, Step) {
        let mut probe = Self {
            supported: supported.to_vec(),
            stage: Stage::Discovering,
            corrected: false,
        };
        let newest = supported.iter().copied().max();
        let step = match newest {
            Some(version) if version.is_modern() => Step::Discover(version),
            _ => probe.initialize(Vec::new()),
        };
        (probe, step)
    }

    /// Returns the step that follows from the outcome of the last one.
    pub fn next(&mut self, evidence: Evidence<'_>) -> Step {
        match self.stage {
            Stage::Discovering => self.discovering(evidence),
            Stage::Initializing => self.initializing(evidence),
        }
    }

    // spec: COMPAT-08, COMPAT-09, COMPAT-11, COMPAT-14
    fn discovering(&mut self, evidence: Evidence<'_>) -> Step {
        match evidence {
            Evidence::Discovered(found) => {
                match newest_common(&found.supported_versions, &self.supported) {
                    Some(version) => Step::Done(version),
                    None => self.initialize_named(&found.supported_versions),
                }
            }
            Evidence::Fault(Fault::UnsupportedVersion { supported, .. }, _) => {
                match newest_common(supported, &self.supported) {
                    Some(version) => self.retry_discover(version, supported),
                    None => self.initialize_named(supported),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(status_error(status))
            }
            // Only modern servers send these errors, with status 400.
            Evidence::Fault(
                fault @ (Fault::HeaderMismatch(_) | Fault::MissingCapability { .. }),
                None | Some(StatusCode::BAD_REQUEST),
            ) => Step::Fail(ProbeError::Refused(fault.clone())),
            _ => self.initialize(Vec::new()),
        }
    }

    fn initializing(&mut self, evidence: Evidence<'_>) -> Step {
        match evidence {
            Evidence::Initialized(opened) => match opened.version() {
                Some(version) if !version.is_modern() && self.supported.contains(&version) => {
                    Step::Done(version)
                }
                // spec: LIFE-08
                _ => self.nothing_in_common(vec![opened.protocol_version.clone()]),
            },
            // A slow modern server, whose response to `server/discover` came too late.
            // spec: COMPAT-16
            Evidence::Fault(Fault::UnsupportedVersion { supported, .. }, _) => {
                match newest_common(supported, &self.supported) {
                    Some(version) => self.retry_discover(version, supported),
                    None => self.nothing_in_common(supported.clone()),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(status_error(status))
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

    /// The server is modern and named a revision that both sides support. `server/discover` is
    /// repeated once.
    fn retry_discover(&mut self, version: ProtocolVersion, supported: &[String]) -> Step {
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

    /// The server named no modern revision that the client supports. It may have named one with
    /// sessions.
    // spec: GAP-07
    fn initialize_named(&mut self, supported: &[String]) -> Step {
        let known = |version: &&ProtocolVersion| {
            !version.is_modern() && supported.iter().any(|name| name == version.as_str())
        };
        match self.supported.iter().filter(known).max() {
            Some(version) => self.open(*version),
            None => self.nothing_in_common(supported.to_vec()),
        }
    }

    fn initialize(&mut self, theirs: Vec<String>) -> Step {
        let sessions = self.supported.iter().filter(|version| !version.is_modern());
        match sessions.max().copied() {
            Some(version) => self.open(version),
            None => self.nothing_in_common(theirs),
        }
    }

    fn open(&mut self, version: ProtocolVersion) -> Step {
        self.stage = Stage::Initializing;
        Step::Initialize(version)
    }

    fn nothing_in_common(&self, theirs: Vec<String>) -> Step {
        let ours = self.supported.clone();
        Step::Fail(ProbeError::NothingInCommon { theirs, ours })
    }
}

/// Returns true for statuses that are no evidence for an era.
// spec: COMPAT-14
fn is_no_evidence(status: StatusCode) -> bool {
    use StatusCode as S;
    status.is_server_error()
        || matches!(
            status,
            S::UNAUTHORIZED | S::FORBIDDEN | S::TOO_MANY_REQUESTS | S::REQUEST_TIMEOUT
        )
}

fn status_error(status: StatusCode) -> ProbeError {
    match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ProbeError::Unauthorized(status),
        _ => ProbeError::Failed(status),
    }
}

#[cfg(test)]
mod tests;
