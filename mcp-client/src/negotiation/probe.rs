//! Detects the era and the revision of a server, for a client.
//!
//! The state machine does no IO: it receives the outcome of each step ([`Evidence`]) and returns the
//! next [`Step`].
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility>

use http::StatusCode;
use mcp_core::Fault;
use mcp_core::versioning::newest_common;
use mcp_types::{DiscoverResult, InitializeResult, ProtocolVersion};
use serde::{Deserialize, Serialize};

/// The era and the revision of a server. A stored verdict saves the detection on the next connection.
// spec: COMPAT-12
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "era", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Verdict {
    /// The server serves self-contained requests.
    #[non_exhaustive]
    Modern {
        /// The negotiated revision.
        version: ProtocolVersion,
        /// The result of `server/discover`, if the client has called it.
        #[serde(skip_serializing_if = "Option::is_none")]
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
    pub(crate) fn modern(version: ProtocolVersion, server: Option<DiscoverResult>) -> Self {
        let server = server.map(Box::new);
        Self::Modern { version, server }
    }

    /// A server of the legacy era.
    pub(crate) fn legacy(version: ProtocolVersion) -> Self {
        Self::Legacy { version }
    }

    /// Returns the negotiated revision.
    pub fn version(&self) -> ProtocolVersion {
        match self {
            Self::Modern { version, .. } | Self::Legacy { version } => *version,
        }
    }
}

/// The outcome of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Evidence<'a> {
    /// The result of `server/discover`.
    Discovered(&'a DiscoverResult),
    /// The result of `initialize`.
    Initialized(&'a InitializeResult),
    /// An error, with its response's HTTP status.
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
pub(crate) enum Step {
    /// Call `server/discover` in this revision.
    Discover(ProtocolVersion),
    /// Open a session in this revision. A server that has exited is restarted first.
    Initialize(ProtocolVersion),
    /// The detection is complete: both sides support this revision.
    Done(ProtocolVersion),
    /// The detection has failed.
    Fail(ProbeError),
}

/// The error of a failed detection.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ProbeError {
    /// The server supports only these revisions, and the client none of them.
    NothingInCommon(Vec<String>),
    /// The evidence is not about an era: the server requires authorization, has failed, or refuses the
    /// client in every revision.
    // spec: COMPAT-14
    Refused,
    /// The responses to `server/discover` and `initialize` fit no era.
    UnexpectedResponse,
}

/// The state machine of the detection.
#[derive(Debug)]
pub(crate) struct Probe {
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
    // spec: COMPAT-07, COMPAT-10
    pub(crate) fn start(supported: &[ProtocolVersion]) -> (Self, Step) {
        let mut probe = Self {
            supported: supported.to_vec(),
            stage: Stage::Discovering,
            corrected: false,
        };
        let newest = supported.iter().copied().max();
        let step = match newest {
            Some(version) if version.is_modern() => Step::Discover(version),
            _ => probe.initialize(),
        };
        (probe, step)
    }

    /// Returns the step that follows from the outcome of the last one.
    pub(crate) fn next(&mut self, evidence: Evidence<'_>) -> Step {
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
                    Some(version) => self.retry_discover(version),
                    None => self.initialize_named(supported),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(ProbeError::Refused)
            }
            // Only modern servers send these errors, with status 400.
            Evidence::Fault(
                Fault::HeaderMismatch(_) | Fault::MissingCapability { .. },
                None | Some(StatusCode::BAD_REQUEST),
            ) => Step::Fail(ProbeError::Refused),
            _ => self.initialize(),
        }
    }

    fn initializing(&mut self, evidence: Evidence<'_>) -> Step {
        match evidence {
            Evidence::Initialized(opened) => {
                match opened.protocol_version.parse::<ProtocolVersion>() {
                    Ok(version) if !version.is_modern() && self.supported.contains(&version) => {
                        Step::Done(version)
                    }
                    // spec: LIFE-08
                    _ => nothing_in_common(vec![opened.protocol_version.clone()]),
                }
            }
            // A slow modern server, whose response to `server/discover` came too late.
            // spec: COMPAT-16
            Evidence::Fault(Fault::UnsupportedVersion { supported, .. }, _) => {
                match newest_common(supported, &self.supported) {
                    Some(version) => self.retry_discover(version),
                    None => nothing_in_common(supported.clone()),
                }
            }
            Evidence::Status(status) | Evidence::Fault(_, Some(status))
                if is_no_evidence(status) =>
            {
                Step::Fail(ProbeError::Refused)
            }
            _ => Step::Fail(ProbeError::UnexpectedResponse),
        }
    }

    /// The server is modern and named a revision that both sides support. `server/discover` is
    /// repeated once.
    fn retry_discover(&mut self, version: ProtocolVersion) -> Step {
        if std::mem::replace(&mut self.corrected, true) {
            return Step::Fail(ProbeError::Refused);
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
            None => nothing_in_common(supported.to_vec()),
        }
    }

    fn initialize(&mut self) -> Step {
        let sessions = self.supported.iter().filter(|version| !version.is_modern());
        match sessions.max().copied() {
            Some(version) => self.open(version),
            None => nothing_in_common(Vec::new()),
        }
    }

    fn open(&mut self, version: ProtocolVersion) -> Step {
        self.stage = Stage::Initializing;
        Step::Initialize(version)
    }
}

fn nothing_in_common(theirs: Vec<String>) -> Step {
    Step::Fail(ProbeError::NothingInCommon(theirs))
}

/// Returns true for statuses that are not evidence for an era.
// spec: COMPAT-14
fn is_no_evidence(status: StatusCode) -> bool {
    use StatusCode as S;
    status.is_server_error()
        || matches!(
            status,
            S::UNAUTHORIZED | S::FORBIDDEN | S::TOO_MANY_REQUESTS | S::REQUEST_TIMEOUT
        )
}

#[cfg(test)]
mod tests {
    //! Steps of the detection, by evidence.

    use http::StatusCode;
    use mcp_core::Fault;
    use mcp_types::ProtocolVersion::{self, V2024_11_05, V2025_11_25, V2026_07_28};
    use mcp_types::{DiscoverResult, Implementation, InitializeResult, ServerCapabilities};

    use super::{Evidence, Probe, ProbeError, Step, Verdict};

    const ALL: &[ProtocolVersion] = &ProtocolVersion::ALL;
    const MODERN: &[ProtocolVersion] = &[V2026_07_28];

    fn found(names: &[&str]) -> DiscoverResult {
        let mut found = DiscoverResult::default();
        found.supported_versions = names.iter().map(ToString::to_string).collect();
        found
    }

    fn opened(version: &str) -> InitializeResult {
        let info = Implementation::new("s", "1");
        let mut opened = InitializeResult::new(V2025_11_25, ServerCapabilities::default(), info);
        opened.protocol_version = version.to_owned();
        opened
    }

    fn unsupported(names: &[&str]) -> Fault {
        Fault::UnsupportedVersion {
            requested: "2026-07-28".into(),
            supported: names.iter().map(ToString::to_string).collect(),
        }
    }

    /// An HTTP status without a message.
    fn status(code: u16) -> Evidence<'static> {
        Evidence::Status(StatusCode::from_u16(code).unwrap())
    }

    /// An error on a pipe.
    fn fault_on_pipe(fault: &Fault) -> Evidence<'_> {
        Evidence::Fault(fault, None)
    }

    /// An error with an HTTP status.
    fn fault_with_status(fault: &Fault, code: u16) -> Evidence<'_> {
        Evidence::Fault(fault, Some(StatusCode::from_u16(code).unwrap()))
    }

    fn short(step: &Step) -> String {
        match step {
            Step::Discover(version) => format!("discover {version}"),
            Step::Initialize(version) => format!("initialize {version}"),
            Step::Done(version) => format!("done {version}"),
            Step::Fail(ProbeError::NothingInCommon(_)) => "nothing in common".into(),
            Step::Fail(ProbeError::Refused) => "refused".into(),
            Step::Fail(ProbeError::UnexpectedResponse) => "unexpected response".into(),
        }
    }

    #[test]
    fn first_step_follows_from_the_supported_revisions() {
        for (supported, expected) in [
            (ALL, "discover 2026-07-28"),
            (MODERN, "discover 2026-07-28"),
            (&[V2025_11_25, V2024_11_05], "initialize 2025-11-25"),
            (&[], "nothing in common"),
        ] {
            assert_eq!(short(&Probe::start(supported).1), expected);
        }
    }

    #[test]
    fn step_after_discover_follows_from_the_evidence() {
        // spec: COMPAT-09
        use Evidence::{Discovered, Gone, Silence, Unreadable};

        let both = found(&["2030-01-01", "2026-07-28", "2025-11-25"]);
        let (old, odd) = (found(&["2025-11-25", "2024-11-05"]), found(&["2030-01-01"]));
        let no_method = Fault::no_such_method("server/discover");
        let (newer, older) = (unsupported(&["2026-07-28"]), unsupported(&["2025-06-18"]));
        let nothing = unsupported(&["2030-01-01"]);
        let mismatch = Fault::HeaderMismatch("no".into());
        let other = Fault::Internal("odd".into());
        for (all, modern_alone, evidence) in [
            (
                "done 2026-07-28",
                "done 2026-07-28",
                &[Discovered(&both)][..],
            ),
            (
                "initialize 2025-11-25",
                "nothing in common",
                &[
                    Discovered(&old),
                    Unreadable,
                    Silence,
                    Gone,
                    fault_on_pipe(&no_method),
                    fault_with_status(&no_method, 404),
                    fault_with_status(&no_method, 200),
                    fault_with_status(&other, 400),
                    fault_with_status(&mismatch, 200),
                    status(400),
                    status(404),
                    status(405),
                    status(415),
                ][..],
            ),
            (
                "nothing in common",
                "nothing in common",
                &[Discovered(&odd), fault_on_pipe(&nothing)][..],
            ),
            (
                "discover 2026-07-28",
                "discover 2026-07-28",
                &[fault_on_pipe(&newer)][..],
            ),
            (
                "initialize 2025-06-18",
                "nothing in common",
                &[fault_with_status(&older, 400)][..],
            ),
            (
                "refused",
                "refused",
                &[
                    fault_with_status(&other, 500),
                    status(401),
                    status(403),
                    status(429),
                    status(503),
                    fault_on_pipe(&mismatch),
                    fault_with_status(&mismatch, 400),
                ][..],
            ),
        ] {
            for (supported, expected) in [(ALL, all), (MODERN, modern_alone)] {
                for evidence in evidence {
                    let (mut probe, _) = Probe::start(supported);
                    let step = short(&probe.next(*evidence));
                    assert_eq!(step, expected, "{evidence:?} {supported:?}");
                }
            }
        }
    }

    #[test]
    fn step_after_initialize_follows_from_the_evidence() {
        let (same, older) = (opened("2025-11-25"), opened("2024-11-05"));
        let (modern, odd) = (opened("2026-07-28"), opened("1.0"));
        let late = unsupported(&["2026-07-28"]);
        let never = unsupported(&["2030-01-01"]);
        let other = Fault::Internal("odd".into());
        for (evidence, expected) in [
            (Evidence::Initialized(&same), "done 2025-11-25"),
            (Evidence::Initialized(&older), "done 2024-11-05"),
            (Evidence::Initialized(&modern), "nothing in common"),
            (Evidence::Initialized(&odd), "nothing in common"),
            (fault_on_pipe(&late), "discover 2026-07-28"),
            (fault_on_pipe(&never), "nothing in common"),
            (fault_on_pipe(&other), "unexpected response"),
            (status(404), "unexpected response"),
            (status(401), "refused"),
            (status(500), "refused"),
            (Evidence::Silence, "unexpected response"),
            (Evidence::Gone, "unexpected response"),
            (Evidence::Unreadable, "unexpected response"),
        ] {
            let (mut probe, _) = Probe::start(ALL);
            probe.next(Evidence::Silence);
            assert_eq!(short(&probe.next(evidence)), expected, "{evidence:?}");
        }
    }

    #[test]
    fn every_probe_ends() {
        let again = unsupported(&["2026-07-28"]);
        let (mut probe, _) = Probe::start(ALL);
        let evidence = fault_on_pipe(&again);
        assert_eq!(short(&probe.next(evidence)), "discover 2026-07-28");
        assert_eq!(short(&probe.next(evidence)), "refused");

        let (mut probe, _) = Probe::start(ALL);
        assert_eq!(
            short(&probe.next(Evidence::Silence)),
            "initialize 2025-11-25"
        );
        assert_eq!(short(&probe.next(evidence)), "discover 2026-07-28");
        assert_eq!(
            short(&probe.next(Evidence::Silence)),
            "initialize 2025-11-25"
        );
        assert_eq!(short(&probe.next(evidence)), "refused");
    }

    #[test]
    fn stored_verdict_reads_back() {
        for verdict in [
            Verdict::legacy(V2025_11_25),
            Verdict::modern(V2026_07_28, None),
            Verdict::modern(V2026_07_28, Some(found(&["2026-07-28"]))),
        ] {
            let text = serde_json::to_string(&verdict).unwrap();
            assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), verdict);
        }
    }
}
