//! Steps of the detection, by evidence.

use http::StatusCode;
use mcp_types::ProtocolVersion::{self, V2024_11_05, V2025_11_25, V2026_07_28};
use mcp_types::{DiscoverResult, Implementation, InitializeResult, ServerCapabilities};

use super::{Evidence, Probe, ProbeError, Step, Verdict};
use crate::Fault;

const ALL: &[ProtocolVersion] = &ProtocolVersion::ALL;
const MODERN: &[ProtocolVersion] = &[V2026_07_28];

fn found(names: &[&str]) -> DiscoverResult {
    let mut found = DiscoverResult::new(&[], ServerCapabilities::default());
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
        Step::Fail(ProbeError::NothingInCommon { .. }) => "nothing in common".into(),
        Step::Fail(ProbeError::Unauthorized(_)) => "unauthorized".into(),
        Step::Fail(ProbeError::Failed(_)) => "failed".into(),
        Step::Fail(ProbeError::Refused(_)) => "refused".into(),
        Step::Fail(ProbeError::UnexpectedResponse(_)) => "unexpected response".into(),
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
            "failed",
            "failed",
            &[fault_with_status(&other, 500), status(429), status(503)][..],
        ),
        (
            "refused",
            "refused",
            &[fault_on_pipe(&mismatch), fault_with_status(&mismatch, 400)][..],
        ),
        (
            "unauthorized",
            "unauthorized",
            &[status(401), status(403)][..],
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
        (status(401), "unauthorized"),
        (status(500), "failed"),
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
